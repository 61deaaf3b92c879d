package nodes

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Receivers stand for the telephone service and the endpoints of webhooks. They take their time, and fail now and then.
type Receivers struct {
	URL string

	server   *httptest.Server
	mu       sync.Mutex
	messages map[string]int // how often a notification was taken, by its key; its bundle's, when it is in one
	webhooks map[string]int // how often a message of a webhook was taken, by its id
	refused  int
	last     time.Time // the last request
}

// failures is of how many requests one is refused.
const failures = 25

func newReceivers() (*Receivers, error) {
	r := &Receivers{messages: map[string]int{}, webhooks: map[string]int{}}
	r.server = httptest.NewServer(r)
	r.URL = r.server.URL
	return r, nil
}

// Close ends the server.
func (r *Receivers) Close() { r.server.Close() }

func (r *Receivers) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the node was killed
	}
	time.Sleep(time.Duration(5+rand.IntN(40)) * time.Millisecond) // so that nodes fail in the midst of attempts
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = time.Now()
	if rand.IntN(failures) == 0 {
		r.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if strings.HasPrefix(q.URL.Path, "/hook/") {
		r.webhooks[q.Header.Get("Webhook-Id")]++
		return
	}
	var message struct{ Key string }
	if json.Unmarshal(body, &message) != nil || message.Key == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	key := message.Key
	if name, ok := strings.CutPrefix(key, "bundle/"); ok {
		_, key, _ = strings.Cut(name, "/")
	}
	r.messages[key]++
}

// took returns how often a notification was taken, and a message of a webhook.
func (r *Receivers) took() (messages, webhooks func(key string) int) {
	of := func(taken map[string]int) func(string) int {
		return func(key string) int {
			r.mu.Lock()
			defer r.mu.Unlock()
			return taken[key]
		}
	}
	return of(r.messages), of(r.webhooks)
}

// twice returns how many times more than once a message was taken: in sum, and of the one that came most often.
func twice(taken map[string]int) (sum, most int) {
	for _, n := range taken {
		sum, most = sum+n-1, max(most, n)
	}
	return sum, most
}
