package delivery_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/delivery"
)

// Two processes on one database have the slots of a queue, and of a target that accounts share, together. A slot that one
// of them frees is there for the other.
func TestSlotsHoldOverAllProcesses(t *testing.T) {
	t.Parallel()
	all, c := openAll(t, 2), clock.At(start)
	begun, release := make(chan string, 100), make(chan struct{})
	hang := func(_ context.Context, p *parcel) error { begun <- p.queue; <-release; return nil }
	a, b := newRunner(all[0], c, &store{attempt: hang}, time.Minute), newRunner(all[1], c, &store{attempt: hang}, time.Minute)
	for n := range 10 {
		put(t, all[0], n, "one")
	}
	for n := range 6 {
		put(t, all[0], 10+n, "host/1")
		put(t, all[0], 20+n, "host/2")
	}
	sending := func() int64 { return count(t, all[0], `SELECT count(*) FROM parcel WHERE sending = 1`) }
	run(t, a, c.Now())
	if n := sending(); n != 2*perQueue {
		t.Errorf("%d are being sent to two targets, want %d", n, 2*perQueue)
	}
	run(t, b, c.Now())
	if n := sending(); n != 2*perQueue {
		t.Errorf("with a second process %d are being sent, want %d", n, 2*perQueue)
	}
	for range 2 * perQueue {
		<-begun
	}
	for range perQueue {
		release <- struct{}{}
	}
	for sending() > perQueue {
		time.Sleep(time.Millisecond)
	}
	run(t, b, c.Now())
	if n := sending(); n != 2*perQueue {
		t.Errorf("after %d have ended %d are being sent", perQueue, n)
	}
	close(release)
	a.Wait()
	b.Wait()
}

// While another process has all slots, a process only reads: an empty write transaction would make all writers wait.
func TestProcessThatFindsNoFreeSlotDoesNotWrite(t *testing.T) {
	t.Parallel()
	all, c := openAll(t, 2), clock.At(start)
	release := make(chan struct{})
	hang := func(context.Context, *parcel) error { <-release; return nil }
	a, b := newRunner(all[0], c, &store{attempt: hang}, time.Minute), newRunner(all[1], c, &store{attempt: hang}, time.Minute)
	for n := range 10 {
		put(t, all[0], n, "one")
	}
	run(t, a, c.Now())
	held, free := make(chan struct{}), make(chan struct{})
	go all[0].Write(context.Background(), func(*db.Tx) error { close(held); <-free; return nil })
	<-held
	run(t, b, c.Now()) // would wait for the writer for ever
	close(free)
	close(release)
	a.Wait()
}

// A process that was frozen for longer than its lease comes back: another one has the rows by now. What it had begun
// changes nothing, and what it had only claimed it does not begin.
func TestFrozenProcessChangesNothing(t *testing.T) {
	t.Parallel()
	all, c := openAll(t, 2), clock.At(start)
	put(t, all[0], 1, "a")
	made, thawed := make(chan struct{}), make(chan struct{})
	frozen := newRunner(all[0], c, &store{attempt: func(context.Context, *parcel) error {
		close(made)
		<-thawed
		return errors.New("the reply was lost while the process was frozen")
	}}, time.Minute)
	run(t, frozen, c.Now())
	<-made
	c.Add(leased)

	metrics := prometheus.NewRegistry()
	s := &store{attempt: func(context.Context, *parcel) error { return nil }, record: func(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error {
		return settled(tx, r.Row, "delivered")
	}}
	other := delivery.New(delivery.Config{Name: "parcels", DB: all[1], Now: c.Now, Slots: 16, First: 40, Lease: leased, Grace: time.Minute,
		Metrics: metrics}, s)
	run(t, other, c.Now())
	other.Wait()
	close(thawed)
	frozen.Wait()
	if n := count(t, all[0], `SELECT count(*) FROM parcel WHERE settled = 'delivered' AND attempts = 2`); n != 1 {
		t.Error("the result of the frozen process has overwritten the other's")
	}
	if got := counted(t, metrics, "tocsin_delivery_lost_total"); got != 1 {
		t.Errorf("%v attempts are counted as lost, want 1", got)
	}

	put(t, all[0], 2, "a")
	late := clock.At(c.Now().Add(leased)) // the clock once the frozen process goes on
	calls, registry := 0, prometheus.NewRegistry()
	frozen = delivery.New(delivery.Config{Name: "parcels", DB: all[0], Now: late.Now, Log: frozen.Log, Slots: 16, First: 40, Lease: leased,
		Grace: time.Minute, Metrics: registry}, &store{attempt: func(context.Context, *parcel) error { calls++; return nil }})
	run(t, frozen, c.Now())
	frozen.Wait()
	if calls != 0 || counted(t, registry, "tocsin_delivery_late_total") != 1 {
		t.Errorf("%d attempts were begun after their lease", calls)
	}
	run(t, other, late.Now())
	other.Wait()
	if n := count(t, all[0], `SELECT count(*) FROM parcel WHERE settled = 'delivered' AND attempts = 2`); n != 2 {
		t.Error("the other process did not make the attempt")
	}
}

// counted returns the value of a counter.
func counted(t *testing.T, metrics *prometheus.Registry, name string) (sum float64) {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += m.GetCounter().GetValue()
			}
		}
	}
	return sum
}

// besideAWriter returns two processes and the runner of the first, with a row of an account that the other will write. begun
// gets the queue of each attempt.
func besideAWriter(t *testing.T) (all []*db.DB, c *clock.Manual, r *runner, begun chan string) {
	t.Helper()
	if dbtest.Server == "" {
		t.Skip("the embedded engine has one writer")
	}
	all = openAll(t, 2)
	c = clock.At(start)
	begun = make(chan string, 10)
	r = newRunner(all[0], c, &store{attempt: func(_ context.Context, p *parcel) error { begun <- p.queue; return nil }}, time.Minute)
	put(t, all[0], 1, "mail/1")
	return all, c, r, begun
}

// While an account is being written, and its own claim waits for that, the rows of another one are sent.
func TestAccountsDoNotWaitForClaimsOfOthers(t *testing.T) {
	t.Parallel()
	all, c, r, begun := besideAWriter(t)
	put(t, all[0], 2, "mail/2")
	if err := all[1].WriteOf(t.Context(), 1, func(*db.Tx) error {
		run(t, r, c.Now())
		if first := <-begun; first != "mail/2" {
			t.Errorf("%s was sent", first)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	wantLast(t, r, c, begun)
}

// wantLast waits for the row of the account that was being written. Its claim may have waited too long, and is due again.
func wantLast(t *testing.T, r *runner, c *clock.Manual, begun <-chan string) {
	t.Helper()
	for last, now := "", c.Now(); last == ""; now = now.Add(time.Second) {
		select {
		case last = <-begun:
			if last != "mail/1" {
				t.Errorf("%s was sent", last)
			}
		case <-time.After(50 * time.Millisecond):
			run(t, r, now)
		}
	}
	r.Wait()
}

// A run ends when it is woken, although the claim of an account that is being written has not: rows that became due
// meanwhile do not wait for that.
func TestRowsThatBecomeDueDoNotWaitForClaim(t *testing.T) {
	defer delivery.Patience(time.Hour)()
	all, c, r, begun := besideAWriter(t)
	ended := make(chan struct{})
	if err := all[1].WriteOf(t.Context(), 1, func(*db.Tx) error {
		go func() {
			run(t, r, c.Now())
			close(ended)
		}()
		err := all[0].WriteOf(t.Context(), 2, func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO parcel VALUES (2, 'mail/2', $1, 0, '', 0)`, start.UnixMilli())
			return err
		})
		if err != nil {
			return err
		}
		r.Wake()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Error("a run waits for a claim")
		}
		run(t, r, c.Now())
		if first := <-begun; first != "mail/2" {
			t.Errorf("%s was sent", first)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	wantLast(t, r, c, begun)
}
