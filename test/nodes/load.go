package nodes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Load sends events as monitoring systems do: it tries an event again, at another node, until it is acknowledged, and
// only then sends the next one of the same alert.
type Load struct {
	Sent    atomic.Int64 // events that were sent, each counted once
	Retried atomic.Int64 // requests that were tried again

	targets func() []string
	client  *http.Client
	stop    context.CancelFunc
	senders sync.WaitGroup
	series  []*series

	mu       sync.Mutex
	problems []string
	acks     []time.Time
}

// series are the events of one alert key.
type series struct {
	channel int
	key     string
	events  []sentEvent
	open    string // its status; empty: it is over
	unsure  bool   // a request may have been stored although it was not acknowledged: the event may be there twice
}

// sentEvent is an event that was acknowledged.
type sentEvent struct{ id, status string }

// seriesPerSender is how many alerts a sender has.
const seriesPerSender = 12

// StartLoad starts so many senders; each waits for about as long as pause between two requests. targets returns the
// addresses that take events.
func StartLoad(targets func() []string, senders int, pause time.Duration) *Load {
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{targets: targets, stop: stop, client: &http.Client{Timeout: 5 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: senders, IdleConnTimeout: time.Second}}}
	for n := range senders {
		var own []*series
		for i := range seriesPerSender {
			own = append(own, &series{channel: n % Channels, key: fmt.Sprintf("alert-%d-%d", n, i)})
		}
		l.series = append(l.series, own...)
		l.senders.Go(func() {
			for ctx.Err() == nil {
				l.push(own[0].channel, some(own))
				time.Sleep(time.Duration(rand.Int64N(int64(2*pause) + 1)))
			}
		})
	}
	l.senders.Go(func() {
		for ctx.Err() == nil {
			l.acknowledge()
			time.Sleep(4 * pause)
		}
	})
	return l
}

// some returns up to four different series.
func some(all []*series) (list []*series) {
	for _, i := range rand.Perm(len(all))[:1+rand.IntN(4)] {
		list = append(list, all[i])
	}
	return list
}

// Stop ends the load after every event that was begun is acknowledged.
func (l *Load) Stop() {
	l.stop()
	l.senders.Wait()
}

// Finish ends the alerts whose end is not known, because a request of them may have been stored late. All nodes that
// got such requests must have answered, or ended.
func (l *Load) Finish() {
	for _, s := range l.series {
		if s.unsure && s.open != "" {
			l.pushAll(s.channel, []*series{s}, []string{"Ok"})
		}
	}
}

// push sends the next events of some series.
func (l *Load) push(channel int, list []*series) {
	statuses := make([]string, len(list))
	for i, s := range list {
		switch n := rand.IntN(100); {
		case s.open == "":
			statuses[i] = []string{"Critical", "Warning", "Info"}[n%3]
		case n < 40:
			statuses[i] = "Ok"
		case n < 50:
			statuses[i] = "Critical"
		default:
			statuses[i] = s.open
		}
	}
	l.pushAll(channel, list, statuses)
}

// pushAll sends an event of each series until all are acknowledged.
func (l *Load) pushAll(channel int, list []*series, statuses []string) {
	var body []map[string]any
	for i, s := range list {
		body = append(body, map[string]any{"title_rule": "Trouble with " + s.key, "event_status": statuses[i], "alert_key": s.key,
			"labels": map[string]string{"service": fmt.Sprint("service-", len(s.key)+channel)}})
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // maps of texts
	}
	l.Sent.Add(int64(len(list)))
	var reply struct {
		Events []struct {
			EventID  string `json:"event_id"`
			AlertKey string `json:"alert_key"`
		}
	}
	end := time.Now().Add(2 * time.Minute)
	for {
		stored, problem := l.call("/event/push/alert/standard?integration_key="+integrationKey(channel), text, &reply)
		if problem == nil {
			break
		}
		if stored {
			for _, s := range list {
				s.unsure = true
			}
		}
		if time.Now().After(end) {
			l.problem("an event was not acknowledged for two minutes: %v", problem)
			return
		}
		l.Retried.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
	if len(reply.Events) != len(list) {
		l.problem("%d events were sent and %d acknowledged", len(list), len(reply.Events))
		return
	}
	for i, s := range list {
		if reply.Events[i].AlertKey != s.key {
			l.problem("event %d is of alert %q, want %q", i, reply.Events[i].AlertKey, s.key)
		}
		s.events = append(s.events, sentEvent{reply.Events[i].EventID, statuses[i]})
		s.open = statuses[i]
		if s.open == "Ok" {
			s.open = ""
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acks = append(l.acks, time.Now())
}

// call posts a body to any of the targets. stored reports whether a request that failed may have done its work.
func (l *Load) call(path string, body []byte, data any) (stored bool, err error) {
	all := l.targets()
	reply, err := l.client.Post(all[rand.IntN(len(all))]+path, "application/json", bytes.NewReader(body))
	if err != nil {
		return !refused(err), err
	}
	defer reply.Body.Close()
	var envelope struct {
		Data  json.RawMessage
		Error *struct{ Code, Message string }
	}
	if err := json.NewDecoder(reply.Body).Decode(&envelope); err != nil {
		return true, err
	}
	if envelope.Error != nil {
		switch reply.StatusCode {
		case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway:
			if reply.Header.Get("Retry-After") == "" {
				l.problem("%s: %d without Retry-After: %s", path, reply.StatusCode, envelope.Error.Message)
			}
		default:
			l.problem("%s: %d %s %s", path, reply.StatusCode, envelope.Error.Code, envelope.Error.Message)
		}
		return reply.StatusCode != http.StatusTooManyRequests, fmt.Errorf("%d %s", reply.StatusCode, envelope.Error.Message)
	}
	return true, json.Unmarshal(envelope.Data, data)
}

// refused reports whether a connection was refused, so that no node has seen the request.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// acknowledge acknowledges the newest incident, as a person does.
func (l *Load) acknowledge() {
	var list struct {
		Items []struct {
			IncidentID string `json:"incident_id"`
		}
	}
	now := time.Now().Unix()
	query := fmt.Appendf(nil, `{"start_time": %d, "end_time": %d, "progress": "Triggered", "limit": 1}`, now-3600, now+60)
	if _, err := l.call("/incident/list?app_key="+AppKey, query, &list); err != nil || len(list.Items) == 0 {
		return // the next one will do
	}
	// It may be over by then, which is a refusal and no problem.
	all := l.targets()
	body := fmt.Appendf(nil, `{"incident_ids": [%q]}`, list.Items[0].IncidentID)
	reply, err := l.client.Post(all[rand.IntN(len(all))]+"/incident/ack?app_key="+AppKey, "application/json", bytes.NewReader(body))
	if err == nil {
		reply.Body.Close()
	}
}

func (l *Load) problem(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.problems) < 20 {
		l.problems = append(l.problems, fmt.Sprintf(format, args...))
	}
}

// Acknowledged returns how many events were acknowledged. It is called after Stop.
func (l *Load) Acknowledged() (n int64) {
	for _, s := range l.series {
		n += int64(len(s.events))
	}
	return n
}

// Gap returns the longest time between two acknowledgements within a span.
func (l *Load) Gap(from, to time.Time) (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := from
	for _, at := range l.acks {
		if at.After(from) && at.Before(to) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	return longest
}
