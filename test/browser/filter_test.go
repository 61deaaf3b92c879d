package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"tocsin/test/browser/world"
)

// inlet is a channel of its own with an integration that leads to it.
type inlet struct {
	w       *world.World
	channel int64
	key     string
}

// try is the button that tries an alert: the first of the name is one that Enter presses.
const try = ".acts button:not(.pri)[value=try], #try .acts button"

func newInlet(t *testing.T, w *world.World) inlet {
	t.Helper()
	var channel struct {
		ID int64 `json:"channel_id"`
	}
	w.Do(t, "/channel/create", map[string]any{"channel_name": "Trials", "team_id": 0, "group": map[string]any{"method": "n"}}, &channel)
	var made struct {
		ID  int64  `json:"integration_id"`
		Key string `json:"integration_key"`
	}
	w.Do(t, "/integration/create", map[string]any{"integration_name": "Trials", "integration_type": "standard", "channel_id": channel.ID}, &made)
	w.Do(t, "/integration/info", map[string]any{"integration_id": made.ID}, &made)
	return inlet{w, channel.ID, made.Key}
}

// path returns the address of a page of the channel.
func (in inlet) path(rest string) string { return fmt.Sprintf("/channels/%d%s", in.channel, rest) }

// push sends an event, which is decided later, and returns its id.
func (in inlet) push(t *testing.T, event map[string]any) string {
	t.Helper()
	body, _ := json.Marshal(event)
	r, err := http.Post(in.w.URL+"/event/push/alert/standard?integration_key="+in.key, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var reply struct {
		Data struct {
			Events []struct {
				ID string `json:"event_id"`
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil || len(reply.Data.Events) != 1 {
		t.Fatalf("push: %d %v", r.StatusCode, err)
	}
	return reply.Data.Events[0].ID
}

// A filter of two groups is built with the buttons of its editor. What the tester answers for 200 alerts is what happens to
// them, and what a reader of the filter expects.
func TestFilterEditorAgreesWithRouting(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	p := signedIn(t, w)
	p.Open(in.path("/rules/silences/new"))
	p.Type("input[name=name]", "Payments and x")
	p.Type("[name='if.0.0.key']", "severity")
	p.Type("[name='if.0.0.vals']", "Critical")
	p.Follow("And…")
	p.Has("[name='if.0.1.key']")
	p.Type("[name='if.0.1.key']", "labels.service")
	p.Type("[name='if.0.1.vals']", "/^pay/")
	p.Follow("Or…")
	p.Has("[name='if.1.0.key']")
	p.Type("[name='if.1.0.key']", "labels.team")
	p.Type("[name='if.1.0.vals']", "x")
	p.Type("[name=pasted]", `{"title": "a", "event_status": "Warning", "labels": {"service": "payment-api"}}`)
	p.Follow(try)
	p.See("It does not match.")
	p.See("It is Warning.")
	p.Type("[name=pasted]", `{"title": "a", "event_status": "Critical", "labels": {"service": "payment-api"}}`)
	p.Follow(try)
	p.See("✓ It matches.")
	p.Follow("Save")
	p.See("Payments and x")
	p.See("service is /^pay/")

	r := rand.New(rand.NewPCG(7, 2026))
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	events := make([]string, 200)
	says := make([]string, 200)
	wants := make([]string, 200)
	for i := range events {
		labels := map[string]string{"service": one("pay", "payment-api", "repay", "basket", "Pay", ""), "team": one("x", "y", "X", ""), "n": fmt.Sprint(i)}
		for name, value := range labels {
			if value == "" {
				delete(labels, name)
			}
		}
		severity := one("Critical", "Warning", "Info")
		wants[i] = "opened"
		if severity == "Critical" && strings.HasPrefix(labels["service"], "pay") || labels["team"] == "x" {
			wants[i] = "silenced"
		}
		var trial struct{ Outcome string }
		w.Do(t, "/channel/rules/try", map[string]any{"channel_id": in.channel, "alert": map[string]any{"title": "a", "alert_severity": severity, "labels": labels}}, &trial)
		says[i] = trial.Outcome
		events[i] = in.push(t, map[string]any{"title_rule": "a", "event_status": severity, "alert_key": fmt.Sprint("seed", i), "labels": labels})
	}
	w.Pass(t, 0)
	silenced := 0
	for i, id := range events {
		var explained struct {
			Verdicts []struct{ Outcome string }
		}
		w.Do(t, "/alert/explain", map[string]any{"event_id": id}, &explained)
		if len(explained.Verdicts) != 1 || explained.Verdicts[0].Outcome != says[i] || says[i] != wants[i] {
			t.Errorf("alert %d: the tester says %s, routing %v, the reader expects %s", i, says[i], explained.Verdicts, wants[i])
		}
		if wants[i] == "silenced" {
			silenced++
		}
	}
	if silenced < 40 || silenced > 160 {
		t.Errorf("%d of 200 match: the seed tests nothing", silenced)
	}
	p.Open(in.path("/test"))
	p.Type("[name=pasted]", `{"title": "Pay is down", "event_status": "Critical", "labels": {"service": "pay"}}`)
	p.Follow(try)
	p.See("It would be silenced")
	p.See("✓ decides")
	p.Type("[name=pasted]", "{\n  \"title\": x\n}")
	p.Follow(try)
	p.See("in line 2, column 12")
	p.Quiet("400")
	o := once(t)
	for _, width := range []int{1360, 390} {
		p.Size(width, 900)
		p.Type("[name=pasted]", `{"title": "Basket is slow", "event_status": "Warning", "labels": {"service": "basket"}}`)
		p.Follow(try)
		p.See("An incident would begin.")
		o.note(p.Axe(), "the tester")
	}
	squeeze(o, p, in.path("/test"), true)
}
