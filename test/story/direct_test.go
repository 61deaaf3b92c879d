package story

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// slack is a workspace in which Ann is known by her e-mail address. It keeps what it is asked to post.
type slack struct {
	*httptest.Server
	mu     sync.Mutex
	posted []string
	looked int // how often an unknown person was looked up
}

func workspace(t *testing.T) *slack {
	s := &slack{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case r.Header.Get("Authorization") != "Bearer xoxb-of-the-stories":
			io.WriteString(w, `{"ok":false,"error":"invalid_auth"}`)
		case r.URL.RequestURI() == "/users.lookupByEmail?email=ann%40example.com":
			io.WriteString(w, `{"ok":true,"user":{"id":"U7"}}`)
		case r.URL.Path == "/users.lookupByEmail":
			s.looked++
			io.WriteString(w, `{"ok":false,"error":"users_not_found"}`)
		case r.URL.Path == "/chat.postMessage":
			s.posted = append(s.posted, string(body))
			io.WriteString(w, `{"ok":true,"ts":"1.2"}`)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// took is what was posted since the last time.
func (s *slack) took() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := strings.Join(s.posted, "\n")
	s.posted = nil
	return all
}

// apps is a section with a Slack app of the workspace.
func (s *slack) apps() string {
	return fmt.Sprintf(`{"integrations": [{"integration_id": 7000000000061, "integration_name": "Chat", "integration_type": "slack_app", "settings": {"app": {"token": "xoxb-of-the-stories", "base_url": %q}}}]}`, s.URL)
}

const chatID = "7000000000061"

func TestPersonIsNotifiedByDirectMessage(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"slack_app:" + chatID, "slack_app"} {
		chat := workspace(t)
		w := begin(t, notifyAnn, chat.apps())
		w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": [%q], "warning": [], "info": []}}`, method)
		w.push("cpu", "Critical", "title=<!channel> & co")
		took := chat.took()
		for _, want := range []string{`"channel":"U7"`, `&lt;!channel&gt; &amp; co`, "|acknowledge>"} {
			if !strings.Contains(took, want) {
				t.Errorf("%s is not in %s", want, took)
			}
		}
		if why := w.why("cpu"); !strings.Contains(why, "Ann Day (on call in Day, A) over slack_app:"+chatID+": sent") {
			t.Error(why)
		}
		if whole := w.whole("cpu"); strings.Contains(whole, "xoxb") {
			t.Error("the token is shown")
		}
		w.push("cpu", "Ok")
		if took := chat.took(); strings.Count(took, `"channel":"U7"`) != 1 || !strings.Contains(took, "Resolved") {
			t.Errorf("the end: %s", took)
		}
	}
}

// /alert/explain shows why a direct message is not sent.
func TestExplainShowsWhyDirectMessageIsNotSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, does, why string }{
		{"slack_app:" + chatID, `/integration/disable {"integration_id": ` + chatID + `}`, "slack_app:" + chatID + ": failed, the integration " + chatID + " (Chat) is disabled"},
		{"feishu_app:" + chatID, "", "feishu_app:" + chatID + ": failed, the integration " + chatID + " (Chat) is a slack_app, not a feishu_app"},
		{"slack_app:5", "", "slack_app:5: failed, the integration 5 does not exist"},
		{"teams_app:7000000000062", "", "teams_app:7000000000062: failed, Tocsin cannot send messages to persons in Microsoft Teams"},
	} {
		chat := workspace(t)
		w := begin(t, notifyAnn, chat.apps(), `{"integrations": [{"integration_id": 7000000000062, "integration_name": "Teams", "integration_type": "teams_app"}]}`)
		w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": [%q], "warning": [], "info": []}}`, c.method)
		if path, body, ok := strings.Cut(c.does, " "); ok {
			w.do(path, "%s", body)
		}
		w.push("cpu", "Critical")
		if why := w.why("cpu"); !strings.Contains(why, c.why) {
			t.Errorf("%s: %s", c.method, why)
		}
		if took := chat.took(); took != "" {
			t.Errorf("%s: it was sent: %s", c.method, took)
		}
	}
}

// A person whom the service does not know is looked up once.
func TestServiceDoesNotKnowPerson(t *testing.T) {
	t.Parallel()
	chat := workspace(t)
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, "by": {"critical": ["slack_app:%s"]}}}`, persons(bob), chatID)), chat.apps())
	w.push("cpu", "Critical")
	if why := w.why("cpu"); !strings.Contains(why, "Bob Night (named by the rule) over slack_app:"+chatID+": failed, Slack does not know Bob Night by e-mail address") {
		t.Error(why)
	}
	w.pass(10 * time.Minute)
	if chat.mu.Lock(); chat.looked != 1 {
		t.Errorf("Bob was looked up %d times", chat.looked)
	}
	chat.mu.Unlock()
}

// A method that cannot work is tried and fails, and an e-mail is sent beside it.
func TestEMailStandsInForDirectMessageThatCannotWork(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, workspace(t).apps())
	w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["slack_app:%s"], "warning": [], "info": []}}`, chatID)
	w.do("/integration/disable", `{"integration_id": %s}`, chatID)
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	for _, kind := range []string{"slack_app", "slack_app:9"} { // which name no app of the account
		w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": [%q], "warning": [], "info": []}}`, kind)
		w.push("cpu "+kind, "Critical")
		w.notified(newPage("ann"))
	}
}

// Each chat that an app posts to is notified by itself, at the end as well.
func TestAppPostsToChatsOfRule(t *testing.T) {
	t.Parallel()
	chat := workspace(t)
	w := begin(t, escalates(fmt.Sprintf(`{"target": {%s, "webhooks": [{"type": "slack_app", "settings": {"data_source_id": %s, "chat_ids": ["C1", "C2"]}}, {"type": "slack_app", "settings": {"chat_ids": ["C3"]}}, {"type": "slack_app", "settings": {"data_source_id": %s}}]}}`, onCall(day), chatID, chatID)), chat.apps())
	w.push("cpu", "Critical")
	began := chat.took()
	w.push("cpu", "Ok")
	ended := chat.took()
	for _, channel := range []string{`"channel":"C1"`, `"channel":"C2"`} {
		if strings.Count(began, channel) != 1 || strings.Count(ended, channel) != 1 || !strings.Contains(ended, "Resolved") {
			t.Errorf("%s: %s\n%s", channel, began, ended)
		}
	}
	why := w.why("cpu")
	for _, want := range []string{"over slack_app:" + chatID + ": sent", "failed, its settings name no data_source_id", "failed, its settings name no chat_ids"} {
		if !strings.Contains(why, want) {
			t.Errorf("%s is not in %s", want, why)
		}
	}
}

func TestAppPostsToChatsOfSchedule(t *testing.T) {
	t.Parallel()
	chat := workspace(t)
	w := begin(t, taking(`{"advance_in_time": 0, "webhooks": [{"type": "slack_app", "settings": {"data_source_id": `+chatID+`, "chat_ids": ["C1"]}}]}`), chat.apps()).slow()
	w.pass(2 * time.Hour)
	if took := chat.took(); strings.Count(took, `"channel":"C1"`) != 1 || !strings.Contains(took, "Shift change in Turns") {
		t.Error(took)
	}
}
