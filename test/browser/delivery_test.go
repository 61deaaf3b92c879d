package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"tocsin/test/browser/world"
)

// receiver is the endpoint of a webhook.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	broken bool
	ids    map[string]int // of messages, with how often each came
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{broken: true, ids: map[string]int{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ids[request.Header.Get("Webhook-Id")]++
		if r.broken {
			http.Error(w, "out of order", http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// seen returns the ids of the messages that came since the last call.
func (r *receiver) seen() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := r.ids
	r.ids = map[string]int{}
	return seen
}

func (r *receiver) mend() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = false
}

// An endpoint fails: the ledger has every attempt, the breaker opens and the first page shows it. Once it works again, what
// was not delivered is sent again under the same ids, after the number was confirmed.
func TestWebhookFailsAndIsReplayed(t *testing.T) {
	w := ended(t, world.BeginOpen(t, t.TempDir()))
	in, to := newInlet(t, w), newReceiver(t)
	var hook struct {
		ID int64 `json:"integration_id"`
	}
	w.Do(t, "/integration/create", map[string]any{"integration_name": "Desk", "integration_type": "webhook_incident",
		"settings": map[string]any{"endpoint": to.URL + "/in", "event_types": []string{"i_new"}, "channel_ids": []int64{in.channel}}}, &hook)
	for i := range 12 {
		in.push(t, map[string]any{"title_rule": fmt.Sprint("Fault ", i), "event_status": "Critical", "alert_key": fmt.Sprint("f", i)})
	}
	w.Pass(t, 5*time.Minute)
	tried := to.seen()
	if len(tried) == 0 {
		t.Fatal("nothing was sent")
	}
	endpoint := fmt.Sprintf("/endpoints/%d", hook.ID)
	p := signedIn(t, w)
	p.See("Desk") // the first page names endpoints that fail
	p.Open(endpoint)
	p.See("The endpoint failed, so nothing is sent to it for a while.")
	p.See("Failed attempts by day")
	p.Click("Show as table")
	p.See("Succeeded")
	o := once(t)
	o.note(p.Axe(), endpoint)
	p.Follow("All deliveries of this webhook")
	p.See("503")
	p.See("earlier attempts")
	p.See("Failed attempts in the last 7 days")
	p.See("Fault 11")
	o.note(p.Axe(), "the list of deliveries")
	p.Open(endpoint)
	p.Click("Disable")
	p.Follow("Disable this webhook")
	p.See("Saved.")
	w.Pass(t, 2*time.Minute) // what waits is cancelled when it is due
	to.mend()
	p.Open(endpoint) // what was cancelled has changed the page, which would read itself again below the mouse
	p.Click("Enable")
	p.Follow("Enable this webhook")
	fill(p, "select[name=status]", "cancelled")
	p.Follow("Count the messages")
	p.See("12 messages would be sent again.")
	p.Follow("Resend 12")
	p.See("The replay has begun.")
	w.Pass(t, time.Minute)
	again := to.seen()
	if len(again) != 12 {
		t.Errorf("%d messages came: %v", len(again), again)
	}
	for id := range tried {
		if again[id] != 1 {
			t.Errorf("the message %s came %d times in the replay", id, again[id])
		}
	}
	if again[""] > 0 {
		t.Errorf("messages without an id: %v", again)
	}
	p.Open(endpoint)
	p.See("12 of 12 sent")
	p.See("The endpoint accepts messages.")
	squeeze(o, p, endpoint, true)
}
