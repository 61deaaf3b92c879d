package delivery_test

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/delivery"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const (
	perQueue = 4
	leased   = 30 * time.Second
)

// parcel is a row of the tests.
type parcel struct {
	id, attempts int64
	queue        string
	lease        time.Time // when it expires
}

// store keeps parcels in a real database; attempt stands for their targets.
type store struct {
	attempt func(ctx context.Context, p *parcel) error
	record  func(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error

	mu      sync.Mutex
	batches []int // how many results each call of Record had
}

// open opens a database with the tables of the tests, as each of some processes does.
func open(t *testing.T) *db.DB { return openAll(t, 1)[0] }

func openAll(t *testing.T, processes int) (all []*db.DB) {
	t.Helper()
	dsn := dbtest.Migrated(t)
	for range processes {
		d, err := db.Open(context.Background(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		all = append(all, d)
	}
	d := all[0]
	write(t, d, `CREATE TABLE parcel (id BIGINT PRIMARY KEY, queue TEXT NOT NULL, due_at BIGINT NOT NULL, attempts BIGINT NOT NULL,
		settled TEXT NOT NULL, sending BIGINT NOT NULL)`)
	write(t, d, `CREATE TABLE target (queue TEXT PRIMARY KEY)`)
	first := dbtest.Trigger{Name: "first", At: "BEFORE INSERT ON parcel", Do: "INSERT INTO target VALUES (NEW.queue) ON CONFLICT DO NOTHING"}
	if err := d.Write(t.Context(), first.Make); err != nil {
		t.Fatal(err)
	}
	write(t, d, `CREATE INDEX parcel_due ON parcel (queue, due_at) WHERE settled = ''`)
	return all
}

func write(t *testing.T, d *db.DB, query string, args ...any) {
	t.Helper()
	if err := d.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, d *db.DB, query string) (n int64) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) { n, _, err = db.One(tx, db.Column[int64], query); return err })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func put(t *testing.T, d *db.DB, id int, queue string) {
	t.Helper()
	write(t, d, `INSERT INTO parcel VALUES ($1, $2, $3, 0, '', 0)`, id, queue, start.UnixMilli())
}

func (s *store) Queues(tx *db.Tx, _ time.Time) ([]delivery.Queue[string], error) {
	return db.All(tx, func(scan db.Scan) (q delivery.Queue[string], err error) {
		var due int64
		err = scan(&q.Key, &due)
		q.Due, q.Slots = time.UnixMilli(due), perQueue
		if target, _, shared := strings.Cut(q.Key, "/"); shared { // of several accounts
			q.Target = target
		}
		return q, err
	}, `SELECT * FROM (SELECT queue, (SELECT min(due_at) FROM parcel p WHERE p.settled = '' AND p.queue = t.queue) AS due FROM target t) AS q WHERE due > 0 ORDER BY due`)
}

func (s *store) Claim(tx *db.Tx, queue string, n int, now time.Time) ([]*parcel, error) {
	until := now.Add(leased)
	return db.All(tx, func(scan db.Scan) (*parcel, error) {
		p := &parcel{queue: queue, lease: until}
		return p, scan(&p.id, &p.attempts)
	}, `UPDATE parcel SET attempts = attempts + 1, due_at = $4, sending = 1 WHERE id IN (SELECT id FROM parcel WHERE settled = '' AND queue = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3 + 0) RETURNING id, attempts`,
		queue, now.UnixMilli(), n, until.UnixMilli())
}

func (s *store) UnderWay(tx *db.Tx, now time.Time) ([]delivery.UnderWay[string], error) {
	return db.All(tx, func(scan db.Scan) (u delivery.UnderWay[string], err error) {
		err = scan(&u.Key, &u.Attempts)
		if target, _, shared := strings.Cut(u.Key, "/"); shared {
			u.Target = target
		}
		return u, err
	}, `SELECT queue, count(*) FROM parcel WHERE sending = 1 AND due_at > $1 GROUP BY queue`, now.UnixMilli())
}

func (s *store) UnderWayAt(tx *db.Tx, account int64, target string, now time.Time) ([]delivery.UnderWay[string], error) {
	all, err := s.UnderWay(tx, now)
	return slices.DeleteFunc(all, func(u delivery.UnderWay[string]) bool {
		return u.Target != target || target == "" && s.Account(u.Key) != account
	}), err
}

// Account returns the number after the slash: all queues without one are of the same account.
func (s *store) Account(queue string) int64 {
	_, account, _ := strings.Cut(queue, "/")
	n, _ := strconv.ParseInt(account, 10, 64)
	return n
}

func (s *store) Lost(p *parcel) bool { return p.attempts > 1 }

func (s *store) Attempt(ctx context.Context, p *parcel) (struct{}, error) {
	return struct{}{}, s.attempt(ctx, p)
}

func (s *store) Record(tx *db.Tx, results []delivery.Result[*parcel, struct{}]) error {
	s.mu.Lock()
	s.batches = append(s.batches, len(results))
	s.mu.Unlock()
	for _, r := range results {
		if err := s.record(tx, r); err != nil {
			return err
		}
	}
	return nil
}

// settled stores the final state of a parcel, unless the attempt has lost its lease.
func settled(tx *db.Tx, p *parcel, how string) error {
	_, err := tx.Exec(`UPDATE parcel SET settled = $2, sending = 0 WHERE id = $1 AND settled = '' AND attempts = $3`, p.id, how, p.attempts)
	return err
}

// again makes a parcel due again, unless the attempt has lost its lease.
func again(tx *db.Tx, p *parcel, due time.Time) error {
	_, err := tx.Exec(`UPDATE parcel SET due_at = $2, sending = 0 WHERE id = $1 AND settled = '' AND attempts = $3`,
		p.id, due.UnixMilli(), p.attempts)
	return err
}

type runner = delivery.Runner[string, *parcel, struct{}]

func newRunner(d *db.DB, c *clock.Manual, s *store, grace time.Duration) *runner {
	return newRunnerOf(d, c, s, s, grace)
}

// newRunnerOf returns a runner of a store s that is extended by another.
func newRunnerOf(d *db.DB, c *clock.Manual, s *store, extended delivery.Store[string, *parcel, struct{}], grace time.Duration) *runner {
	if s.record == nil {
		s.record = func(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error {
			if r.Err != nil {
				return again(tx, r.Row, r.Ended.Add(time.Second))
			}
			return settled(tx, r.Row, "delivered")
		}
	}
	return delivery.New(delivery.Config{Name: "parcels", DB: d, Now: c.Now, Log: slog.New(slog.DiscardHandler), Slots: 16, First: 40,
		Lease: leased, Grace: grace}, extended)
}
