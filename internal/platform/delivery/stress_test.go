package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
	"tocsin/internal/platform/jobs"
)

const maxAttempts = 5 // a parcel is given up after so many failed attempts

// world holds the targets of the stress test, which outlive the processes that call them.
type world struct {
	t       *testing.T
	seed    uint64
	parcels int
	clock   *clock.Manual

	mu       sync.Mutex
	moved    *sync.Cond        // signals that the clock has moved
	underWay map[int64]*parcel // by parcel: its latest attempt in progress
	took     map[int64]int     // by parcel: how often a target accepted it
	refused  map[int64]int     // by corrupt parcel: how often its result could not be recorded
}

// process is one run of the program. A dead process records nothing, and its attempts reach no target.
type process struct {
	*world
	*runner
	dead  bool
	queue map[string]int // by queue: attempts in progress
	all   int
}

func (w *world) start(d *db.DB) *process {
	p := &process{world: w, queue: map[string]int{}}
	s := &store{attempt: p.attempt, record: p.record}
	p.runner = newRunner(d, w.clock, s, 5*time.Millisecond)
	return p
}

// valid returns how many attempts of all processes in a queue have a lease that has not expired.
func (w *world) valid(queue string) (n int) {
	for _, p := range w.underWay {
		if p.queue == queue && p.lease.After(w.clock.Now()) {
			n++
		}
	}
	return n
}

// dice returns the same random numbers for the same attempt of the same parcel, whatever the order of events.
func (w *world) dice(p *parcel) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, uint64(p.id<<8|p.attempts)))
}

// attempt fails, hangs or panics at random; three queues always hang for a while. It checks the leases and the limits.
func (p *process) attempt(ctx context.Context, row *parcel) error {
	dice := p.dice(row)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errors.New("dead")
	}
	if other := p.underWay[row.id]; other != nil && other.lease.After(p.clock.Now()) {
		p.t.Errorf("seed %d: parcel %d is attempted twice at once", p.seed, row.id)
	}
	p.underWay[row.id] = row
	p.queue[row.queue]++
	p.all++
	defer func() {
		if p.underWay[row.id] == row {
			delete(p.underWay, row.id)
		}
		p.queue[row.queue]--
		p.all--
	}()
	if n := p.valid(row.queue); n > perQueue || p.all > 40 {
		p.t.Errorf("seed %d: %d attempts in queue %s, %d altogether", p.seed, n, row.queue, p.all)
	}
	if slow := row.queue < "q03"; slow || dice.IntN(50) == 0 {
		until := p.clock.Now().Add(time.Duration(1+dice.IntN(20)) * time.Second)
		stop := context.AfterFunc(ctx, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.moved.Broadcast()
		})
		defer stop()
		for p.clock.Now().Before(until) && ctx.Err() == nil && !p.dead {
			p.moved.Wait()
		}
	}
	switch {
	case p.dead:
		return errors.New("dead")
	case ctx.Err() != nil:
		return ctx.Err()
	case dice.IntN(40) == 0:
		panic("at the disco")
	case dice.IntN(4) == 0 || row.id%100 == 0: // some never succeed
		return errors.New("no answer")
	}
	p.took[row.id]++
	return nil
}

var backoff = jobs.Backoff{Min: time.Second, Max: 20 * time.Second}

func (p *process) record(tx *db.Tx, r delivery.Result[*parcel, struct{}]) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return errors.New("dead")
	}
	if r.Row.id%501 == 0 && p.refused[r.Row.id] < 20 {
		p.refused[r.Row.id]++
		return errors.New("corrupt")
	}
	if r.Err == nil {
		return settled(tx, r.Row, "delivered")
	}
	if r.Row.attempts >= maxAttempts {
		return settled(tx, r.Row, "given up")
	}
	return again(tx, r.Row, r.Ended.Add(backoff.Wait(time.Second<<r.Row.attempts, 0.5)))
}

// kill ends a process as a crash does: its attempts stay claimed until the leases expire.
func (p *process) kill() {
	p.mu.Lock()
	p.dead = true
	p.moved.Broadcast()
	p.mu.Unlock()
	p.Wait()
}

// Thousands of parcels go to targets that fail, hang and panic. One or two programs stop, crash and start again at random.
// Every parcel is attempted until a target accepts it or it is given up. No parcel has two attempts under a valid lease. The
// limit of a target holds over all programs. TOCSIN_STRESS_SEEDS sets how many seeds the test tries, each with more parcels
// than the usual seed.
func TestStress(t *testing.T) {
	t.Parallel()
	seeds, parcels := 1, 600
	if n, err := strconv.Atoi(os.Getenv("TOCSIN_STRESS_SEEDS")); err == nil {
		seeds, parcels = n, 2000
	}
	for seed := range uint64(seeds) {
		for programs := 1; programs <= 2; programs++ {
			t.Run(fmt.Sprintf("seed %d, programs %d", seed, programs), func(t *testing.T) {
				t.Parallel()
				stress(t, seed, parcels, programs)
			})
		}
	}
}

func stress(t *testing.T, seed uint64, parcels, programs int) {
	all, random := openAll(t, programs), rand.New(rand.NewPCG(seed, 1))
	d := all[0]
	w := &world{
		t: t, seed: seed, parcels: parcels, clock: clock.At(start), underWay: map[int64]*parcel{}, took: map[int64]int{}, refused: map[int64]int{},
	}
	w.moved = sync.NewCond(&w.mu)
	err := d.Write(context.Background(), func(tx *db.Tx) error {
		for n := range parcels {
			if err := tx.Do(`INSERT INTO parcel VALUES ($1, $2, $3, 0, '', 0)`, n+1, fmt.Sprintf("q%02d", random.IntN(30)),
				start.Add(time.Duration(random.IntN(60))*time.Second).UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	processes := make([]*process, programs)
	for i := range processes {
		processes[i] = w.start(all[i])
	}
	stops, kills := 0, 0
	for step := 0; ; step++ {
		runAll(t, processes, w.clock.Now())
		runtime.Gosched()
		i := random.IntN(programs)
		switch n := random.IntN(60); {
		case n == 0:
			processes[i].Wait()
			processes[i], stops = w.start(all[i]), stops+1
		case n == 1:
			processes[i].kill()
			processes[i], kills = w.start(all[i]), kills+1
		case n < 20:
			w.mu.Lock()
			w.clock.Add(time.Duration(random.IntN(1500)) * time.Millisecond)
			w.moved.Broadcast()
			w.mu.Unlock()
		}
		if step%50 == 0 && count(t, d, `SELECT count(*) FROM parcel WHERE settled = ''`) == 0 {
			break
		}
	}
	for _, p := range processes {
		p.Wait()
	}
	t.Logf("seed %d: %d stops and %d kills in %v", seed, stops, kills, w.clock.Now().Sub(start))
	w.check(d)
}

// runAll runs the jobs of all processes at the same time.
func runAll(t *testing.T, processes []*process, now time.Time) {
	t.Helper()
	var all sync.WaitGroup
	for _, p := range processes {
		all.Go(func() {
			if _, err := p.Job().Run(context.Background(), now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func (w *world) check(d *db.DB) {
	type row struct {
		id, attempts int64
		settled      string
	}
	var rows []row
	if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		rows, err = db.All(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.id, &r.attempts, &r.settled) }, `SELECT id, attempts, settled FROM parcel`)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	givenUp, twice := 0, 0
	for _, r := range rows {
		switch {
		case r.settled == "delivered" && w.took[r.id] == 0:
			w.t.Errorf("seed %d: parcel %d is recorded as delivered, but no target accepted it", w.seed, r.id)
		case r.settled == "given up" && r.attempts < maxAttempts:
			w.t.Errorf("seed %d: parcel %d was given up after %d attempts", w.seed, r.id, r.attempts)
		case r.settled == "delivered" && r.id%100 == 0:
			w.t.Errorf("seed %d: parcel %d cannot have been delivered", w.seed, r.id)
		}
		if r.settled == "given up" {
			givenUp++
		}
		if w.took[r.id] > 1 {
			twice++
		}
	}
	if len(rows) != w.parcels || givenUp < w.parcels/100 {
		w.t.Errorf("seed %d: %d rows, %d given up", w.seed, len(rows), givenUp)
	}
	w.t.Logf("seed %d: %d given up, %d delivered more than once because their process died or could not record it", w.seed, givenUp, twice)
}
