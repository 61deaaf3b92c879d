package notify_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// message is an attempt that reached a receiver, in the model: a list that is counted by hand.
type message struct {
	to string
	at time.Time
}

// busiest returns the most messages to a receiver within a minute.
func busiest(log []message, to string) (most int) {
	for i, first := range log {
		n := 0
		for _, m := range log[i:] {
			if m.to == to && first.to == to && m.at.Sub(first.at) < time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Random notifications at random moments: no receiver gets more messages in a minute than the budget, whether they are
// taken or not; each notification is sent once; none that is Critical waits for longer than a minute, unless its
// receiver fails. TOCSIN_BUDGET_SEEDS sets how many runs it makes; receivers fail in every second one.
func TestBudget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_BUDGET_SEEDS", 2)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { budget(t, seed) })
	}
}

func budget(t *testing.T, seed uint64) {
	r, rng := newFixture(t), rand.New(rand.NewPCG(seed, 44))
	fails := seed%2 == 1
	var log []message
	r.deliver = func(to string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		log = append(log, message{to, r.clock.Now()})
		if fails && rng.IntN(4) == 0 {
			return errors.New("busy")
		}
		return nil
	}
	limits := map[string]int{"a@example.com": 10, "+15550100": 5, "https://chat.example.com/x": 10}
	methods := map[string]string{"a@example.com": "email", "+15550100": "sms", "https://chat.example.com/x": "ntfy"}
	limits["https://chat.example.com/x"] = 5
	incidents := map[string]string{} // by id: the severity
	r.write(func(tx *db.Tx) error {
		for n := range 60 {
			severity := []string{"Critical", "Warning", "Info"}[n%3]
			i := incident.Incident{IncidentID: id.Object(start), Title: fmt.Sprint("T", n), Severity: severity}
			incidents[i.IncidentID] = severity
			writer := incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: start, Person: apitest.Reader}
			if err := writer.Open(&i); err != nil {
				return err
			}
		}
		return nil
	})
	stored := int64(0)
	for step := range 200 {
		if step < 120 && rng.IntN(3) == 0 {
			burst := 1 + rng.IntN(40)
			r.write(func(tx *db.Tx) error {
				for one, severity := range incidents {
					for to, method := range methods {
						n := notify.Notification{Account: apitest.AccountA, Key: fmt.Sprint(one, "/", step, "/", to), Incident: one, Event: "i_new",
							Cause: notify.Page, Severity: severity, Method: method, Address: notify.Address{To: to}}
						if rng.IntN(10) == 0 {
							n.Incident = ""
							n.Cause = notify.Shift
							n.Detail = notify.Detail{Subject: "s", Text: "t"}
						}
						if err := r.Put(tx, n, r.clock.Now()); err != nil {
							return err
						}
						stored++
					}
					if burst--; burst == 0 {
						break
					}
				}
				return nil
			})
		}
		r.settle()
		r.clock.Add(time.Duration(rng.IntN(8000)) * time.Millisecond)
	}
	for left := 600; left > 0 && r.count(`SELECT count(*) FROM notice WHERE settled_at = 0`) > 0; left-- {
		r.settle()
		r.clock.Add(5 * time.Second)
	}
	for to, limit := range limits {
		if n := busiest(log, to); n > limit || n == 0 {
			t.Errorf("seed %d: %d messages to %s in a minute", seed, n, to)
		}
	}
	for query, want := range map[string]int64{
		`SELECT count(*) FROM notice WHERE status = 'sent'`:                                 stored,
		`SELECT count(*) FROM notice`:                                                       stored,
		`SELECT count(*) FROM notice WHERE urgency = 0 AND settled_at > created_at + 68000`: 0, // the clock moves by up to 8 seconds
	} {
		if got := r.count(query); got != want && !(fails && want == 0) {
			t.Errorf("seed %d: %d, want %d: %s", seed, got, want, query)
		}
	}
}

func (r *fixture) count(query string) (n int64) {
	r.t.Helper()
	if err := r.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query)
		return err
	}); err != nil {
		r.t.Fatal(err)
	}
	return n
}
