package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// orderly is an endpoint that records in which order the messages of each object arrive. fails decides the status.
type orderly struct {
	*httptest.Server
	mu     sync.Mutex
	inside map[string]int   // requests in progress by object
	got    map[string][]int // numbers of the messages that it accepted, by object
	beside int              // requests that came while another of the same object was in progress
	fails  func() bool
}

func newOrderly(t *testing.T) *orderly {
	o := &orderly{inside: map[string]int{}, got: map[string][]int{}, fails: func() bool { return false }}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p struct {
			Incident struct {
				IncidentID string `json:"incident_id"`
			}
		}
		text, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(text, &p); err != nil {
			t.Errorf("%v in %s", err, text)
		}
		n, _ := strconv.Atoi(r.Header.Get("Webhook-Number"))
		ref := p.Incident.IncidentID
		o.mu.Lock()
		if o.inside[ref]++; o.inside[ref] > 1 {
			o.beside++
		}
		failing := o.fails()
		o.mu.Unlock()
		time.Sleep(time.Duration(n%3) * 100 * time.Microsecond) // requests of different objects overtake each other
		o.mu.Lock()
		o.inside[ref]--
		if !failing {
			o.got[ref] = append(o.got[ref], n)
		}
		o.mu.Unlock()
		if failing {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(o.Close)
	return o
}

// happenTo publishes an event of one of several incidents.
func (h *hooked) happenTo(object int, at time.Time) {
	h.t.Helper()
	ref := fmt.Sprintf("5e5e5e5e5e5e5e5e5e5e5e%02x", object)
	h.Write(func(tx *db.Tx) error {
		return h.Handle(tx, []activity.Item{{Account: apitest.AccountA, Event: activity.Commented{}, ID: ref, At: at,
			Subject: incident.Incident{IncidentID: ref, Title: "T", Severity: "Info", Progress: "Triggered"}}})
	})
}

// runner runs the jobs of the service by a clock that the test moves.
func (h *hooked) runner(now *clock.Manual) *jobs.Runner {
	h.Service.Clock = now
	runner := jobs.New(now, slog.New(slog.DiscardHandler), nil)
	for _, j := range h.Service.Jobs() {
		runner.Add(j)
	}
	return runner
}

// While an endpoint is healthy, the messages of each object arrive one after the other, in the order of the events.
func TestMessagesOfObjectArriveInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_WEBHOOK_SEEDS", 2)) {
		random := rand.New(rand.NewPCG(seed, 3))
		o := newOrderly(t)
		h := hook(t, subscriber(1, integration.Settings{Endpoint: o.URL}))
		now := clock.At(apitest.Now)
		runner := h.runner(now)
		objects, count := 1+random.IntN(6), 0
		for range 10 {
			for range random.IntN(20) {
				h.happenTo(random.IntN(objects), now.Now())
				count++
				now.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
			}
			if err := runner.Settle(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		sum := 0
		for ref, numbers := range o.got {
			sum += len(numbers)
			if !slices.IsSorted(numbers) {
				t.Errorf("seed %d: the messages of %s arrived in the order %v", seed, ref, numbers)
			}
		}
		if sum != count || o.beside > 0 {
			t.Errorf("seed %d: %d of %d messages arrived, %d beside another of their object", seed, sum, count, o.beside)
		}
	}
}

// An endpoint that fails now and then gets each message in the end. A message waits for an earlier one of its object for
// a minute at most, so an object whose first message is refused for a day still gets the others.
func TestFailureHoldsUpItsObjectForMinuteOnly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_WEBHOOK_SEEDS", 2)) {
		random := rand.New(rand.NewPCG(seed, 4))
		o := newOrderly(t)
		o.fails = func() bool { return random.IntN(3) == 0 }
		h := hook(t, subscriber(1, integration.Settings{Endpoint: o.URL}))
		now := clock.At(apitest.Now)
		runner := h.runner(now)
		count := 0
		for range 40 {
			h.happenTo(random.IntN(3), now.Now())
			count++
			now.Add(time.Duration(random.IntN(20)) * time.Second)
			if random.IntN(3) == 0 {
				h.restart()
				runner = h.runner(now)
			}
			if err := runner.Settle(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		for range 24 * 60 {
			now.Add(time.Minute)
			if err := runner.Settle(context.Background()); err != nil {
				t.Fatal(err)
			}
			if rows(t, h.Server, "webhook_message WHERE settled_at = 0") == 0 {
				break
			}
		}
		if n := rows(t, h.Server, "webhook_message WHERE status = 'delivered'"); int(n) != count {
			t.Errorf("seed %d: %d of %d messages were delivered", seed, n, count)
		}
	}
}

// The first message of an object is refused for ever: the later ones arrive after a minute, and so does one that is made
// long after the refusal.
func TestMessageThatIsNeverTakenDoesNotKeepOthers(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Webhook-Number") == "1" {
			w.Header().Set("Retry-After", "99999999")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	defer s.Close()
	h := hook(t, subscriber(1, integration.Settings{Endpoint: s.URL}))
	now := clock.At(apitest.Now)
	runner := h.runner(now)
	settle := func(d time.Duration) {
		now.Add(d)
		if err := runner.Settle(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	delivered := func(want int64) {
		t.Helper()
		if n := rows(t, h.Server, "webhook_message WHERE status = 'delivered'"); n != want {
			t.Errorf("%d are delivered, want %d", n, want)
		}
	}
	for range 5 {
		h.happenTo(1, now.Now())
	}
	h.happenTo(2, now.Now())
	settle(0)
	delivered(1) // of the other object
	settle(30 * time.Second)
	delivered(1)
	settle(31 * time.Second)
	delivered(5)
	settle(time.Hour)
	h.happenTo(1, now.Now())
	settle(0)
	delivered(6)
}
