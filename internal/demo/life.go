package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// happening is an event of a round, which is sent after a pause.
type happening struct {
	after  time.Duration
	key    string // alert key; %d is replaced by the number of the round, so that each round has its own alerts
	title  string
	status string
	labels map[string]string
}

// round returns the events that are sent again and again: one that escalates, others that are silenced, dropped,
// grouped or flapping, and the end of each.
func round() []happening {
	pay := func(more ...string) map[string]string { return labels(append(more, "service", "payment-api")...) }
	cart := func(pod string) map[string]string { return labels("service", "basket", "pod", pod) }
	return []happening{
		{2 * time.Second, "pay-latency-%d", "Payments are slow", "Critical", pay("check", "latency_p99", "region", "eu-1")},
		{3 * time.Second, "cardstream-%d", "Card provider answers late", "Warning", pay("provider", "cardstream")},
		{2 * time.Second, "sandbox-%d", "Sandbox declines everything", "Critical", pay("environment", "sandbox")},
		{2 * time.Second, "basket-1-%d", "Basket pod restarts", "Critical", cart("basket-1")},
		{1 * time.Second, "basket-2-%d", "Basket pod restarts", "Critical", cart("basket-2")},
		{1 * time.Second, "basket-3-%d", "Basket pod is out of memory", "Critical", cart("basket-3")},
		{3 * time.Second, "scanner", "Orders replica falls behind", "Warning", labels("service", "orders-db", "check", "lag_seconds")},
		{5 * time.Second, "scanner", "Orders replica falls behind", "Ok", labels("service", "orders-db", "check", "lag_seconds")},
		{6 * time.Second, "basket-1-%d", "Basket pod restarts", "Ok", cart("basket-1")},
		{2 * time.Second, "basket-2-%d", "Basket pod restarts", "Ok", cart("basket-2")},
		{4 * time.Second, "basket-3-%d", "Basket pod is out of memory", "Ok", cart("basket-3")},
		{30 * time.Second, "pay-latency-%d", "Payments are slow", "Ok", pay("check", "latency_p99", "region", "eu-1")},
		{5 * time.Second, "cardstream-%d", "Card provider answers late", "Ok", pay("provider", "cardstream")},
	}
}

func labels(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// Place is where the demo's events happen.
type Place struct {
	URL      string // of the server
	Keys     Keys
	Receiver *Receiver // answers the webhooks
	Began    time.Time // the demo
	// Wait waits, and reports whether the demo goes on. nil: it waits by the clock of the machine.
	Wait func(ctx context.Context, d time.Duration) bool
	Show func(format string, args ...any) // prints
}

// Live sends events to the server's own API until ctx ends: first some scenes, then round after round. For each it prints
// the outcome, the reason and the call that explains it.
func Live(ctx context.Context, p Place) {
	s := &stage{ctx: ctx, url: p.URL, keys: p.Keys, show: p.Show, receiver: p.Receiver, began: p.Began, pause: p.Wait}
	if s.pause == nil {
		s.pause = wait
	}
	s.clear() // of a demo that ended before
	s.books(1)
	s.play()
	for n := 1; ctx.Err() == nil; n++ {
		if n > 1 {
			s.books(n)
		}
		s.round(n)
		if n == 1 {
			s.clear() // now that the message about joined alerts was sent
		}
	}
}

// round plays one round.
func (s *stage) round(n int) {
	for _, h := range round() {
		if !s.wait(h.after) {
			return
		}
		if strings.Contains(h.key, "%d") {
			h.key = fmt.Sprintf(h.key, n)
		}
		events := s.push(h)
		if len(events) == 0 {
			continue
		}
		outcome, why := s.explained(events[0])
		if outcome != "" {
			call := Call{Path: "/alert/explain", Body: fmt.Sprintf(`{"event_id": "%s"}`, events[0])}
			s.show("%-9s  %s (%s)\n           because %s\n           %s\n", outcome, h.title, h.status, why, call.Curl(s.url, s.keys.ReadOnly))
		}
	}
}

// explained returns the event's verdict and its reason. It polls for two seconds at most.
func (s *stage) explained(event string) (outcome, why string) {
	for range 20 {
		var reply struct {
			Verdicts []struct {
				Outcome string
				Trace   []struct {
					Stage, Why string
					Name       string `json:"rule_name"`
					Matched    bool
				}
			}
		}
		post(s.ctx, s.url+"/alert/explain?app_key="+s.keys.ReadOnly, map[string]any{"event_id": event}, &reply)
		if len(reply.Verdicts) > 0 {
			v := reply.Verdicts[0]
			for _, step := range v.Trace {
				if step.Matched {
					why = strings.TrimSpace(step.Name + " " + step.Why)
				}
			}
			return v.Outcome, why
		}
		if !s.wait(100 * time.Millisecond) {
			return "", ""
		}
	}
	return "", ""
}

// post makes a call. A failure leaves the reply empty: the demo then prints nothing for the event.
func post(ctx context.Context, url string, body, reply any) { _ = call(ctx, url, body, reply) }

// call makes a call and reads the data of its reply into reply, unless that is nil.
func call(ctx context.Context, url string, body, reply any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var envelope struct {
		Data  json.RawMessage
		Error struct{ Code, Message string }
	}
	text, err = io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, &envelope)
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s: %s", answer.StatusCode, envelope.Error.Code, envelope.Error.Message)
	}
	if err != nil || reply == nil {
		return err
	}
	return json.Unmarshal(envelope.Data, reply)
}
