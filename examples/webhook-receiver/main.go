// Command webhook-receiver is an example of a program that receives Tocsin's webhooks. It checks the signature, answers
// at once, and handles each message once.
//
//	WEBHOOK_SECRET=whsec_... go run ./examples/webhook-receiver -listen 127.0.0.1:9000
//
// Set http://127.0.0.1:9000/ as settings.endpoint of a webhook, and start Tocsin with --outbound-allow 127.0.0.0/8.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9000", "address to listen on")
	flag.Parse()
	r, err := newReceiver(os.Getenv("WEBHOOK_SECRET"), func(e event) {
		log.Printf("%s %s %s", e.EventID, e.EventType, e.title())
	})
	if err != nil {
		log.Fatalf("WEBHOOK_SECRET: %v", err)
	}
	server := &http.Server{Addr: *listen, Handler: r, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// event is the part of a message that this program uses. docs/api.md, "What a webhook gets", has all of it.
type event struct {
	EventID   string `json:"event_id"`
	EventType string `json:"event_type"`
	Test      bool   `json:"test"`
	Incident  *struct {
		Title string `json:"title"`
	} `json:"incident"`
	Alert *struct {
		Title string `json:"title"`
	} `json:"alert"`
}

func (e event) title() string {
	switch {
	case e.Incident != nil:
		return e.Incident.Title
	case e.Alert != nil:
		return e.Alert.Title
	}
	return ""
}

// receiver handles each message once.
type receiver struct {
	verify *standardwebhooks.Webhook
	queue  chan event

	mu    sync.Mutex
	known map[string]bool
	order []string // of known, the oldest first
}

// maxKnown is how many ids are remembered. A message is retried for a day, so keep at least those of a day. A program
// that must not handle a message twice after its own restart stores them in its database, in the transaction of what it
// does with the message.
const maxKnown = 100_000

// newReceiver returns a handler that passes messages to handle, one after the other.
func newReceiver(secret string, handle func(event)) (*receiver, error) {
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil || secret == "" {
		return nil, fmt.Errorf("must be the sign_secret of the webhook, which begins with whsec_")
	}
	r := &receiver{verify: verify, queue: make(chan event, 1000), known: map[string]bool{}}
	go func() {
		for e := range r.queue {
			handle(e)
		}
	}()
	return r, nil
}

// ServeHTTP answers 204 for a message that was accepted or is known already. Any other answer than 2xx and those named
// in docs/api.md ends the message.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, 2<<20))
	if err != nil {
		http.Error(w, "the body does not arrive", http.StatusRequestTimeout) // it is sent again
		return
	}
	if err := r.verify.Verify(body, q.Header); err != nil { // also refuses what is older than five minutes
		http.Error(w, "the signature is wrong", http.StatusUnauthorized)
		return
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, "the body is not JSON", http.StatusBadRequest)
		return
	}
	if !r.accept(q.Header.Get("Webhook-Id"), e) {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "too many messages wait", http.StatusServiceUnavailable) // it is sent again
		return
	}
	w.WriteHeader(http.StatusNoContent) // Tocsin waits for two seconds: answer first, work later
}

// accept puts a message into the queue unless it is known. It reports false when the queue is full.
func (r *receiver) accept(id string, e event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return true
	}
	select {
	case r.queue <- e:
	default:
		return false
	}
	r.known[id] = true
	r.order = append(r.order, id)
	if len(r.order) > maxKnown {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
	return true
}
