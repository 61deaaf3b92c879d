package delivery_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// An account that fills the queue of a target, whose attempts hang, delays no other account that uses the target: each
// may always begin one attempt.
func TestTargetThatHangsForOneAccountTakesOthers(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	hang := make(chan struct{})
	r := newRunner(d, c, &store{attempt: func(_ context.Context, p *parcel) error {
		if p.queue == "mail/flood" {
			<-hang
		}
		return nil
	}}, time.Minute)
	for n := range 100 {
		put(t, d, n, "mail/flood")
	}
	run(t, r, c.Now())
	for n := range 10 {
		put(t, d, 1000+n, fmt.Sprint("mail/", n))
	}
	run(t, r, c.Now())
	for deadline := time.Now().Add(30 * time.Second); count(t, d, `SELECT count(*) FROM parcel WHERE id >= 1000 AND settled = ''`) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("accounts wait for another one")
		}
		time.Sleep(time.Millisecond)
	}
	if n := count(t, d, `SELECT count(*) FROM parcel WHERE attempts > 0 AND queue = 'mail/flood'`); n != perQueue {
		t.Errorf("%d attempts of one account", n)
	}
	close(hang)
	r.Wait()
}

// One account has thousands of rows for a target, nine have twenty each. The rows of the nine are delivered while the
// first still has most of its own: slots are divided between accounts, not by age.
func TestAccountsShareTarget(t *testing.T) {
	t.Parallel()
	d, c := open(t), clock.At(start)
	r := newRunner(d, c, &store{attempt: func(context.Context, *parcel) error { return nil }}, time.Minute)
	const flood, accounts, each = 3000, 9, 20
	err := d.Write(t.Context(), func(tx *db.Tx) error {
		for n := range flood {
			if err := tx.Do(`INSERT INTO parcel VALUES ($1, 'mail/flood', $2, 0, '', 0)`, n, start.UnixMilli()-1000); err != nil {
				return err
			}
		}
		for n := range accounts * each {
			err := tx.Do(`INSERT INTO parcel VALUES ($1, $2, $3, 0, '', 0)`, flood+n, fmt.Sprint("mail/", n%accounts), start.UnixMilli())
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for count(t, d, `SELECT count(*) FROM parcel WHERE settled = '' AND queue <> 'mail/flood'`) > 0 {
		run(t, r, c.Now())
		r.Wait()
	}
	if n := count(t, d, `SELECT count(*) FROM parcel WHERE settled <> '' AND queue = 'mail/flood'`); n > 5*each {
		t.Errorf("%d rows of the flood were delivered before %d of each other account", n, each)
	}
}
