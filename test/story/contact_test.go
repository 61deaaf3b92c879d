package story

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestPersonIsNotifiedInTelegram(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ChatID string `json:"chat_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		told <- r.URL.Path + " " + m.ChatID
		w.Write([]byte(`{"ok": true, "result": {"message_id": 7}}`))
	}))
	t.Cleanup(bot.Close)
	w := begin(t, notifyAnn)
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["telegram"], "warning": [], "info": []}, "contacts": {"telegram": "%s/bot1:secret/-100"}}`, bot.URL)
	w.push("cpu", "Critical")
	w.notified()
	select {
	case got := <-told:
		if got != "/bot1:secret/sendMessage -100" {
			t.Error(got)
		}
	default:
		t.Error("no one was notified: " + w.why("cpu"))
	}
	w.as(annKey, "/preference/update", `{"contacts": {"telegram": "1:secret"}}`)
	w.push("net", "Critical")
	w.notified(newPage("ann")) // a token without a chat cannot work
}

func TestShiftNotificationByWebhook(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 600}`)).slow()
	w.do("/preference/update", `{"person_id": 7000000000013, "schedule_shift_notify": {"personal_channels": ["webhook"]}, "contacts": {"webhook": "`+chats+`/webhook/bob"}}`)
	w.do("/preference/update", `{"person_id": 7000000000012, "schedule_shift_notify": {"personal_channels": ["webhook"]}, "contacts": {"webhook": "`+chats+`/webhook/ann"}}`)
	w.pass(3 * time.Hour)
	texts := []string{}
	for _, p := range w.reached() {
		texts = append(texts, p.to+" "+p.event+" "+p.text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"ann shift_begin", "bob shift_end", "On call in Turns"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is missing in\n%s", want, all)
		}
	}
}

func TestPersonWhoHasLeftIsNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(teams(ops))))
	w.do("/preference/update", `{"person_id": 7000000000014, "quiet_hours": [{"start": "09:00", "end": "12:00"}]}`)
	w.push("cpu", "Critical")
	w.push("disk", "Warning")
	w.notified(newPage("bob"), newPage("cid"), newPage("bob"))
	w.do("/member/delete", `{"member_id": 7000000000014}`)
	w.drift = 5 * time.Minute
	w.push("cpu", "Ok")
	w.notified(over("bob"))
	w.pass(3 * time.Hour)
	for _, p := range w.reached() {
		if strings.HasPrefix(p.to, "cid") {
			t.Error("a person who has left was notified: " + p.String())
		}
	}
	if why := w.why("disk"); !strings.Contains(why, "has left") {
		t.Error(why)
	}
}

func TestNamesAreEscapedInTemplates(t *testing.T) {
	t.Parallel()
	w := begin(t, fmt.Sprintf(`{"templates": [{"template_id": "7e7e7e7e7e7e7e7e7e7e7e01", "template_name": "names", "slack": "{{.Account}}{{range .Responders}} {{.Name}}{{end}}"}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": %d, "rule_name": "r", "template_id": "7e7e7e7e7e7e7e7e7e7e7e01", "layers": [{"target": {%s, %s, "webhooks": [{"type": "slack", "settings": {"token": "%s/slack/ops"}}]}}]}]}`, shop, onCall(day), by, chats))
	w.sql(`UPDATE person SET person_name = '<!here> Ann' WHERE person_id = 7000000000012`)
	w.sql(`UPDATE account SET account_name = '<!channel>'`)
	w.push("cpu", "Critical")
	for _, p := range w.reached() {
		if p.method == "slack" && p.text != "&lt;!channel&gt; &lt;!here&gt; Ann" {
			t.Error(p.text)
		}
	}
}
