package story

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/egress"
	out "tocsin/internal/sender"
)

// accepting answers in place of all webhooks.
type accepting struct{}

func (accepting) Do(context.Context, egress.Request) (egress.Attempt, error) {
	return egress.Attempt{Status: http.StatusOK, Body: []byte(`{}`)}, nil
}

// TestDemoPlaysItsScenes: what the demo prints of each scene is still in the reply to the call that it prints when all scenes
// are over. Its past incidents have reached persons.
func TestDemoPlaysItsScenes(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) {
		c.Senders.Webhooks = accepting{}
		c.Senders.Deliver = func(context.Context, string, notify.Address, out.Message) (out.Receipt, error) {
			return out.Receipt{Reply: "not really sent"}, nil
		}
	})
	ctx, end := context.WithCancel(t.Context())
	defer end()
	keys, err := demo.Fill(ctx, w.app.DB, w.app.Keyring, w.clock.Now())
	w.must(err)
	explains := func(path, body string) string {
		return w.words(w.post(path+"?app_key="+keys.ReadOnly, body))
	}
	for n := range 7 { // open incidents, which the first page shows
		body := fmt.Sprintf(`{"incident_id": "67a1c0de00000001%08x"}`, n+1)
		if words := explains("/incident/explain", body); !strings.Contains(words, "Notification to ") || !strings.Contains(words, ": sent.") {
			t.Errorf("open incident %d of the demo: %s", n+1, words)
		}
	}
	w.settle()
	scenes := map[string][]string{}
	demo.Live(ctx, demo.Place{
		URL: w.http.URL, Keys: keys, Receiver: &demo.Receiver{}, Began: w.clock.Now(),
		Wait: func(ctx context.Context, d time.Duration) bool {
			w.clock.Add(max(d, time.Second))
			w.settle()
			return ctx.Err() == nil
		},
		Show: func(format string, args ...any) {
			lines := strings.Split(strings.TrimSpace(fmt.Sprintf(format, args...)), "\n")
			scene, _, _ := strings.Cut(lines[0], " ")
			scenes[scene] = append(scenes[scene], lines[1:]...)
			if scene == "untold" {
				end()
			}
		},
	})
	for _, scene := range []string{"rise", "join", "storm", "untold"} {
		lines := scenes[scene]
		if len(lines) < 2 {
			t.Fatalf("%s: %q", scene, lines)
		}
		call := lines[len(lines)-1]
		_, body, _ := strings.Cut(call, " -d '")
		var event struct {
			ID string `json:"event_id"`
		}
		w.must(json.Unmarshal([]byte(strings.TrimSuffix(body, "'")), &event))
		words := explains("/alert/explain", fmt.Sprintf(`{"event_id": %q}`, event.ID))
		for _, sentence := range lines[:len(lines)-1] {
			sentence, _, _ = strings.Cut(strings.TrimSpace(sentence), ": waiting until") // what waited then may be sent by now,
			sentence = strings.TrimSuffix(sentence, ": sending.")                        // and so may what was being sent
			if !strings.Contains(words, sentence) {
				t.Errorf("%s: %q is not in\n%s", scene, sentence, words)
			}
		}
	}
}
