package story

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestReplayedWebhookIsSentAtOnce(t *testing.T) {
	t.Parallel()
	r := receive(t, always(http.StatusServiceUnavailable))
	w := begin(t, hooks("alert", at(r)))
	w.drift = time.Minute
	for n := range 60 {
		w.push(fmt.Sprint("key", n), "Critical")
	}
	w.pass(30 * time.Minute)
	first := w.history(`, "asc": true`)
	r.calls()
	w.do("/webhook/history/replay", `{"event_id": %q}`, first.get("items.0.event_id"))
	calls := r.calls()
	if len(calls) != 1 || !strings.Contains(calls[0].body, first.get("items.0.ref_id")) {
		t.Errorf("%d calls, not the one that was asked for: %v", len(calls), calls)
	}
}

func TestEndpointsThatHangBlockNoneOnTheirHost(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	done := make(chan struct{}) // the good one was called four times
	host := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" && calls.Add(1) == 4 {
			close(done)
		}
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		}
		if r.URL.Path != "/good" {
			select {
			case <-done:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(host.Close)
	settings := []string{}
	for _, path := range []string{"1", "2", "3", "4", "5", "6", "good"} {
		settings = append(settings, fmt.Sprintf(`"endpoint": "%s/%s"`, host.URL, path))
	}
	w := begin(t, hooks("alert", settings...))
	for n := range 4 {
		if a := w.post("/event/push/alert/standard?integration_key="+shopKey, fmt.Sprintf(`{"title_rule": "a", "event_status": "Critical", "alert_key": "a%d"}`, n)); a.Error != nil {
			t.Fatal(a)
		}
	}
	w.settle()
	w.want(w.history(`, "status": "failed"`), "total", "0")
}
