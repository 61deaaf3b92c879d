package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tocsin/internal/platform/db"
)

// sink receives webhooks. It replies at once, and records when a message with a marked text arrives.
type sink struct {
	urls  []string // each endpoint is its own host, as in production
	count atomic.Int64

	mu    sync.Mutex
	marks map[string]chan time.Time
}

func newSink() (*sink, error) {
	s := &sink{marks: map[string]chan time.Time{}}
	for range endpoints + 1 {
		listener, url, err := listen()
		if err != nil {
			return nil, err
		}
		s.urls = append(s.urls, url)
		go http.Serve(listener, http.HandlerFunc(s.take))
	}
	return s, nil
}

func (s *sink) take(w http.ResponseWriter, r *http.Request) {
	came := time.Now()
	body, _ := io.ReadAll(r.Body)
	w.WriteHeader(http.StatusNoContent)
	s.count.Add(1)
	if _, rest, found := strings.Cut(string(body), "mark-"); found {
		s.mu.Lock()
		if c := s.marks["mark-"+rest[:6]]; c != nil {
			c <- came
			delete(s.marks, "mark-"+rest[:6])
		}
		s.mu.Unlock()
	}
}

// expect returns a channel that receives the time at which a marked message arrives.
func (s *sink) expect(mark string) chan time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.marks[mark] = make(chan time.Time, 1)
	return s.marks[mark]
}

const firstHook = 7100000000001

// webhookDatabase creates a database with a webhook for each URL, and one more for the deliveries that are timed.
func webhookDatabase(dir, name string, urls []string) (string, error) {
	type object = map[string]any
	hooks := []object{{"integration_id": firstHook, "integration_name": "Idle", "integration_type": "webhook_incident", "settings": object{"endpoint": urls[0]}}}
	for n := range endpoints {
		hooks = append(hooks, object{"integration_id": firstHook + 1 + n, "integration_name": fmt.Sprint("Hook ", n), "integration_type": "webhook_alert",
			"settings": object{"endpoint": urls[n+1], "sign_secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "headers": object{"X-Token": "secret"}}})
	}
	return database(dir, name, object{
		"format":       "tocsin.account/1",
		"account":      object{"account_id": eventAccount, "account_name": "Bench", "time_zone": "UTC", "owner_id": eventPerson},
		"persons":      []object{{"person_id": eventPerson, "person_name": "Olga Owner", "email": "olga@example.com"}},
		"channels":     []object{{"channel_id": eventChannel, "channel_name": "Shop"}},
		"app_keys":     []object{{"name": "bench", "person_id": eventPerson, "app_key": webhookKey}},
		"integrations": hooks,
	})
}

const webhookKey = "key-of-the-webhook-benchmark-0123456789"

// waiting adds deliveries that are due.
func waiting(dsn string, n int) error {
	d, err := db.Connect(context.Background(), dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	payload := `{"event_time":1776052800000,"event_type":"a_update","event_id":"","alert":{"title":"` + strings.Repeat("CPU is high on web-1 ", 40) + `"}}`
	now := time.Now().UnixMilli()
	return d.Write(context.Background(), func(tx *db.Tx) error {
		for i := range endpoints {
			if _, err := tx.Exec(`INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until) VALUES ($1, $2, $3, 0, 0) ON CONFLICT DO NOTHING`, eventAccount, firstHook+1+i, n); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < $1)
			INSERT INTO webhook_message (account_id, message_id, integration_id, number, webhook_type, event_type, channel_id, ref_id, payload, attempt_id, attempts, status, started_at, due_at, settled_at, outcome)
			SELECT $2, lower(hex(randomblob(16))), $3 + n % $4, n, 'alert', 'a_update', $5, substr('000000000000000000000000' || (n / 5), -24), $6, '', 0, 'waiting', $7 + n / 1000, $7 + n / 1000, 0, '' FROM series`,
			n, eventAccount, firstHook+1, endpoints, eventChannel, payload, now-int64(n/1000)-1000)
		return err
	})
}

// recorded waits until n attempts are recorded, and returns the time.
func recorded(dsn string, s *sink, n int64) (time.Time, error) {
	d, err := db.Connect(context.Background(), dsn)
	if err != nil {
		return time.Time{}, err
	}
	defer d.Close()
	for {
		var have int64
		if s.count.Load() >= n { // counting is not free
			if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
				have, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(sum(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11), 0) FROM webhook_count WHERE shape = 0`)
				return err
			}); err != nil || have >= n {
				return time.Now(), err
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func serveHooks(binary, dsn string) (*process, error) {
	return start(binary, "serve", "--listen", "127.0.0.1:0", "--db", dsn, "--limit-per-second", "0", "--limit-per-minute", "0", "--log-level", "error", "--outbound-allow", "127.0.0.0/8")
}

// webhooks measures deliveries to a receiver on this machine: attempts made and recorded per second, from a small and
// from a large backlog; memory; and the time until a delivery, on an idle server and beside a backlog of endpoints that
// do not answer.
func webhooks(binary, dir string) error {
	fmt.Printf("| webhook deliveries, %d endpoints | attempts/s | processor for one | resident |\n|---|---|---|---|\n", endpoints)
	const few = 20_000
	sizes := []int{few}
	if *backlog > few {
		sizes = append(sizes, *backlog)
	}
	for _, n := range sizes {
		f, err := drained(binary, dir, n, few)
		if err != nil {
			return err
		}
		fmt.Printf("| %d delivered and recorded out of %d that wait | %.0f | %s | %.1f MB |\n", few, n, f.rate, f.used, f.resident)
	}
	fmt.Printf("\n| from a call to its webhook | p50 | p99 | from its reply, p50 | p99 |\n|---|---|---|---|---|\n")
	for _, n := range []int{0, *backlog} {
		if err := pickup(binary, dir, n); err != nil {
			return err
		}
	}
	fmt.Println()
	return nil
}

type drain struct {
	rate     float64
	used     time.Duration // the server's processor time for one attempt
	resident float64
}

// drained measures the first few of n deliveries that wait.
func drained(binary, dir string, n, few int) (f drain, err error) {
	s, err := newSink()
	if err != nil {
		return f, err
	}
	dsn, err := webhookDatabase(dir, fmt.Sprint("drain", n), s.urls)
	if err != nil {
		return f, err
	}
	if err := waiting(dsn, n); err != nil {
		return f, err
	}
	p, err := serveHooks(binary, dsn)
	if err != nil {
		return f, err
	}
	defer p.stop()
	began, used := time.Now(), p.processor()
	end, err := recorded(dsn, s, int64(few))
	used = p.processor() - used
	return drain{float64(few) / end.Sub(began).Seconds(), used / time.Duration(few), p.resident()}, err
}

// pickup measures how long a delivery takes on a server that is idle except for n deliveries that wait for endpoints
// that do not answer.
func pickup(binary, dir string, n int) error {
	s, err := newSink()
	if err != nil {
		return err
	}
	dsn, err := webhookDatabase(dir, fmt.Sprint("pickup", n), s.urls)
	if err != nil {
		return err
	}
	title := "idle"
	if n > 0 {
		title = fmt.Sprintf("%d others wait for endpoints that are held", n)
		if err := waiting(dsn, n); err != nil {
			return err
		}
		if err := held(dsn); err != nil {
			return err
		}
	}
	p, err := serveHooks(binary, dsn)
	if err != nil {
		return err
	}
	defer p.stop()
	var sent, replied []time.Duration
	for i := range 300 {
		mark := fmt.Sprintf("mark-%06d", i)
		came := s.expect(mark)
		began := time.Now()
		reply, err := ask(p.address, webhookKey, "/incident/create", fmt.Sprintf(`{"title": "%s", "incident_severity": "Info", "channel_id": %d}`, mark, eventChannel))
		if err != nil || !strings.Contains(reply, "incident_id") {
			return fmt.Errorf("%s %w", reply, err)
		}
		answered := time.Now()
		select {
		case at := <-came:
			sent, replied = append(sent, at.Sub(began)), append(replied, max(0, at.Sub(answered)))
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%s never came", mark)
		}
		time.Sleep(10 * time.Millisecond) // idle again
	}
	at := func(d []time.Duration, percent int) time.Duration {
		slices.Sort(d)
		return d[len(d)*percent/100].Round(10 * time.Microsecond)
	}
	fmt.Printf("| %s | %s | %s | %s | %s |\n", title, at(sent, 50), at(sent, 99), at(replied, 50), at(replied, 99))
	return nil
}

// held marks all endpoints as not answering.
func held(dsn string) error {
	d, err := db.Connect(context.Background(), dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE webhook_endpoint SET failures = 10, held_until = $1`, time.Now().Add(time.Hour).UnixMilli())
		return err
	})
}
