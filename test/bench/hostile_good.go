package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tocsin/internal/platform/db"
)

// The good accounts. Their calls, with all that follows, use a part of the machine's processors while no other account is at
// work: so many that there is something to lose, and so few that they do not wait for each other for long.
const (
	goodAccounts = 100
	goodPart     = 1.0 / 3
	firstRate    = 100 // calls of all of them in a second, until it is known how many that are
	firstGood    = 7200000000000
)

// goodID returns the number of an account. Like those of accounts that the program makes, they differ in their lowest digits too.
func goodID(n int) int        { return firstGood + 1009*n + 1 }
func goodKey(n int) string    { return fmt.Sprintf("key-of-a-good-account-%03d-0123456789abcdef", n) }
func goodSource(n int) string { return fmt.Sprintf("source-of-a-good-account-%03d-0123456789", n) }

// What a good account does, equally often, and what is measured of its events beside the answer.
const (
	allCalls    = "all calls"
	sendsEvent  = "an event"
	readsOnCall = "who is on call in the next week"
	lists       = "a page of incidents"
	readsRules  = "the rules of a channel"
	acks        = "an acknowledgement"
	untilDecide = "from the answer to an event until it is decided"
	untilText   = "until the text message"
	untilHook   = "until the webhook"
)

var (
	goodKinds  = []string{sendsEvent, readsOnCall, lists, readsRules, acks}
	goodDelays = []string{untilDecide, untilText, untilHook}
)

// samples are the durations of calls by kind, and what went wrong.
type samples struct {
	mu     sync.Mutex
	took   map[string][]time.Duration
	errors map[string]int
	sent   []*sentEvent
	silent int // events without a message in the end
}

func newSamples() *samples {
	return &samples{took: map[string][]time.Duration{}, errors: map[string]int{}}
}

func (s *samples) add(d time.Duration, kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		s.took[kind] = append(s.took[kind], d)
	}
}

func (s *samples) of(kind string) figures {
	if len(s.took[kind]) == 0 {
		return figures{}
	}
	return summed(s.took[kind], time.Second)
}

// problems returns lines about calls that failed and events that no one was notified of.
func (s *samples) problems(where string) (text string) {
	for why, n := range s.errors {
		text += fmt.Sprintf("%s: %d times %s\n", where, n, why)
	}
	if s.silent > 0 {
		text += fmt.Sprintf("%s: %d events without a text message within %s\n", where, s.silent, goodPatience)
	}
	return text
}

// sentEvent is an event of a good account and what became of it.
type sentEvent struct {
	id       string
	answered time.Time
	decided  bool
	text     atomic.Int64 // when it came, Unix nanoseconds
	hook     atomic.Int64
}

// gateway takes the text messages and webhooks of the good accounts. At silent, connections are taken and not answered.
type gateway struct {
	url, silent string
	mu          sync.Mutex
	events      map[string]*sentEvent // by what stands in their title
}

var goodMark = regexp.MustCompile(`mark[0-9]+x`)

func newGateway() (*gateway, error) {
	g := &gateway{events: map[string]*sentEvent{}}
	listener, url, err := listen()
	if err != nil {
		return nil, err
	}
	g.url = url
	go http.Serve(listener, g)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	g.silent = "http://" + silent.Addr().String()
	go func() {
		for held := []net.Conn{}; ; {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	}()
	return g, nil
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	now := time.Now().UnixNano()
	w.WriteHeader(http.StatusNoContent)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, mark := range goodMark.FindAll(body, -1) {
		e := g.events[string(mark)]
		switch {
		case e == nil:
		case q.URL.Path == "/hook":
			e.hook.CompareAndSwap(0, now)
		default:
			e.text.CompareAndSwap(0, now)
		}
	}
}

// crowd is the good accounts at work.
type crowd struct {
	address string
	client  *http.Client
	gateway *gateway
	db      *db.DB
	phase   atomic.Pointer[samples] // nil: nothing is measured
	rate    atomic.Int64            // calls of all accounts in a second
	marks   atomic.Int64
	ended   chan struct{}
	all     sync.WaitGroup
}

func newCrowd(address string, d *db.DB, g *gateway) (*crowd, error) {
	c := &crowd{address: address, db: d, gateway: g, ended: make(chan struct{}),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * goodAccounts}, Timeout: 30 * time.Second}}
	c.rate.Store(firstRate)
	for n := range goodAccounts {
		id := goodID(n)
		reply, err := ask(address, goodKey(n), "/schedule/create", fmt.Sprintf(`{"schedule_name": "On call", "layers": [{"layer_name": "Turns", "layer_start": %d,
			"rotation_unit": "week", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]},
			{"group_name": "B", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}`, time.Now().Add(-365*24*time.Hour).Unix(), id+1, id+2))
		if err != nil {
			return nil, err
		}
		made := scheduleID.FindStringSubmatch(reply)
		if made == nil {
			return nil, fmt.Errorf("a schedule: %s", reply)
		}
		c.all.Go(func() { c.live(n, made[1]) })
	}
	c.all.Go(c.watch)
	time.Sleep(2 * time.Second) // until caches are warm
	return c, nil
}

func (c *crowd) stop() {
	close(c.ended)
	c.all.Wait()
}

// goodPatience is how long a measurement waits for the last messages.
const goodPatience = 20 * time.Second

// during measures for a while, and then waits for the messages of the events that were sent meanwhile.
func (c *crowd) during(span time.Duration, into *samples) error {
	into.sent = nil
	c.phase.Store(into)
	time.Sleep(span)
	c.phase.Store(nil)
	into.mu.Lock()
	sent := slices.Clone(into.sent)
	into.mu.Unlock()
	for end := time.Now().Add(goodPatience); time.Now().Before(end) && slices.ContainsFunc(sent, func(e *sentEvent) bool { return e.text.Load() == 0 || e.hook.Load() == 0 }); {
		time.Sleep(20 * time.Millisecond)
	}
	for _, e := range sent {
		for kind, at := range map[string]int64{untilText: e.text.Load(), untilHook: e.hook.Load()} {
			if at == 0 {
				into.silent++
				at = time.Now().UnixNano()
			}
			into.add(max(0, time.Unix(0, at).Sub(e.answered)), kind)
		}
	}
	if into.silent > len(sent)/2+10 {
		return errors.New("most events of the good accounts reach no one")
	}
	return nil
}

// live makes the calls of an account until the end.
func (c *crowd) live(n int, schedule string) {
	open := []string{} // incidents to acknowledge, the newest first
	for {
		pause := float64(time.Second) * goodAccounts / float64(c.rate.Load())
		select {
		case <-c.ended:
			return
		case <-time.After(time.Duration(pause * rand.ExpFloat64())):
		}
		now := time.Now().Unix()
		window := fmt.Sprintf(`"start_time": %d, "end_time": %d`, now-7*86400, now+60)
		switch rand.IntN(len(goodKinds)) {
		case 0:
			c.push(n)
		case 1:
			c.call(n, readsOnCall, "/schedule/info", fmt.Sprintf(`{"schedule_id": %s, "start": %d, "end": %d}`, schedule, now, now+7*86400))
		case 2:
			reply := c.call(n, lists, "/incident/list", `{"limit": 20, "progress": "Triggered", `+window+`}`)
			open = open[:0]
			for _, found := range incidentID.FindAllSubmatch(reply, -1) {
				open = append(open, string(found[1]))
			}
		case 3:
			c.call(n, readsRules, "/channel/silence/rule/list", fmt.Sprintf(`{"channel_id": %d}`, goodID(n)+3))
		case 4:
			if len(open) > 0 { // the oldest: its messages are sent
				c.call(n, acks, "/incident/ack", fmt.Sprintf(`{"incident_ids": [%q]}`, open[len(open)-1]))
				open = open[:len(open)-1]
			}
		}
	}
}

var incidentID = regexp.MustCompile(`"incident_id":"([0-9a-f]{24})"`)

// call makes a call and measures it.
func (c *crowd) call(n int, kind, path, body string) []byte {
	reply, _ := c.do(kind, path+"?app_key="+goodKey(n), body)
	return reply
}

func (c *crowd) do(kind, path, body string) (reply []byte, answered time.Time) {
	into, began := c.phase.Load(), time.Now()
	r, err := c.client.Post("http://"+c.address+path, "application/json", strings.NewReader(body))
	if err == nil {
		reply, err = io.ReadAll(r.Body)
		r.Body.Close()
		if err == nil && r.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %d %.200s", path[:strings.IndexByte(path, '?')], r.StatusCode, regexp.MustCompile(`"message":"[^"]*"`).Find(reply))
		}
	}
	answered = time.Now()
	if into == nil {
		return reply, answered
	}
	into.add(answered.Sub(began), kind, allCalls)
	if err != nil {
		into.mu.Lock()
		into.errors[err.Error()]++
		into.mu.Unlock()
		return nil, answered
	}
	return reply, answered
}

// push sends an event that opens an incident.
func (c *crowd) push(n int) {
	mark, e := fmt.Sprintf("mark%dx", c.marks.Add(1)), &sentEvent{}
	c.gateway.mu.Lock()
	c.gateway.events[mark] = e
	c.gateway.mu.Unlock()
	into := c.phase.Load()
	reply, answered := c.do(sendsEvent, "/event/push/alert/standard?integration_key="+goodSource(n), fmt.Sprintf(
		`{"title_rule": "%s", "event_status": "Warning", "alert_key": "%s", "labels": {"service": "shop", "host": "web1"}}`, mark, mark))
	var taken struct {
		Data struct {
			Events []struct {
				EventID string `json:"event_id"`
			}
		}
	}
	if into == nil || json.Unmarshal(reply, &taken) != nil || len(taken.Data.Events) != 1 {
		return
	}
	e.id, e.answered = taken.Data.Events[0].EventID, answered
	into.mu.Lock()
	into.sent = append(into.sent, e)
	into.mu.Unlock()
}

// watch looks every 5 ms which events of good accounts wait for their verdicts.
func (c *crowd) watch() {
	for {
		select {
		case <-c.ended:
			return
		case <-time.After(5 * time.Millisecond):
		}
		into := c.phase.Load()
		if into == nil {
			continue
		}
		into.mu.Lock()
		sent := slices.DeleteFunc(slices.Clone(into.sent), func(e *sentEvent) bool { return e.decided })
		into.mu.Unlock()
		if len(sent) == 0 {
			continue
		}
		asked, waiting := time.Now(), []string{}
		if err := c.db.Read(context.Background(), func(tx *db.Tx) (err error) {
			waiting, err = db.All(tx, db.Column[string], `SELECT event_id FROM event_waiting WHERE account_id >= $1 AND account_id < $2`, firstGood, goodID(goodAccounts))
			return err
		}); err != nil {
			continue
		}
		for _, e := range sent {
			if !slices.Contains(waiting, e.id) {
				e.decided = true
				into.add(max(0, asked.Sub(e.answered)), untilDecide)
			}
		}
	}
}
