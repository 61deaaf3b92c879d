package evaluator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

// center is a Center with watches of one account. It takes what it is sent as a server does.
type center struct {
	mu       sync.Mutex
	all      []Watch
	revision int64
	epoch    int64
	away     error
	open     map[string]evaluate.Instance
	saved    map[Key]evaluate.State
	sent     []string
	reports  []Report
	fenced   bool
	moved    map[int64]bool // slots of others
	more     bool           // others hand over slots
	unread   bool           // its rules cannot be read
	fails    bool           // it returns orders with an error
}

func (c *center) Sync(_ context.Context, r Report) (Orders, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reports = append(c.reports, r)
	o := Orders{Slots: map[int64]int64{}, More: c.more, Accounts: map[int64]int64{1: c.revision}}
	for slot := range int64(256) {
		if !c.moved[slot] {
			o.Slots[slot] = c.epoch
		}
	}
	if c.fails {
		return o, errCut
	}
	return o, nil
}

func (c *center) Watches(context.Context, int64) ([]Watch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.unread {
		return nil, errCut
	}
	return append([]Watch(nil), c.all...), nil
}

func (c *center) State(_ context.Context, _ int64, keys []Key) (map[Key]Saved, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[Key]Saved{}
	for _, key := range keys {
		one := Saved{Key: key, State: c.saved[key]}
		for name, i := range c.open {
			if name == fmt.Sprint(key, i.Key) {
				one.Open = append(one.Open, i)
			}
		}
		all[key] = one
	}
	return all, nil
}

func (c *center) Save(_ context.Context, _ int64, states []Saved) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range states {
		c.saved[s.Key] = s.State
	}
	return nil
}

func (c *center) Send(_ context.Context, b Batch) (Taken, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away != nil {
		return Taken{}, c.away
	}
	if c.fenced || b.Epoch != c.epoch {
		return Taken{Fenced: true}, nil
	}
	for _, t := range b.Transitions {
		name := fmt.Sprint(b.Watch.Key, t.Key)
		c.sent = append(c.sent, string(t.To)+" "+t.Labels["host"])
		c.open[name] = evaluate.Instance{Check: t.Check, Query: t.Query, Key: t.Key, Labels: t.Labels, Severity: t.Severity, Since: t.Since, Firing: true}
		if t.To.Ends() {
			delete(c.open, name)
		}
	}
	return Taken{}, nil
}

// server is a datasource that the test controls.
type server struct {
	mu      sync.Mutex
	values  map[string]float64
	failed  *evaluate.Failure
	asked   int
	running int
	most    int
	hold    chan struct{} // queries wait for it; nil: they do not
}

func (s *server) Query(ctx context.Context, _ querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	s.mu.Lock()
	s.asked++
	s.running++
	s.most = max(s.most, s.running)
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
	if s.failed != nil {
		return nil, s.failed
	}
	rows := []evaluate.Row{}
	for host, v := range s.values {
		rows = append(rows, evaluate.Row{Labels: map[string]string{"host": host}, Values: evaluate.Values{{Number: v}}})
	}
	return rows, nil
}

func (s *server) Test(context.Context) []querier.Phase { return nil }
func (s *server) Close() error                         { return nil }

// bench is an evaluator with its center and its datasource.
type bench struct {
	*testing.T
	*center
	*server
	e     *Evaluator
	clock *clock.Manual
}

func newBench(t *testing.T, watches ...Watch) *bench {
	b := &bench{T: t, server: &server{values: map[string]float64{}}, clock: clock.At(start)}
	b.center = &center{all: watches, revision: 1, epoch: 1, open: map[string]evaluate.Instance{}, saved: map[Key]evaluate.State{}}
	b.restart()
	return b
}

// restart replaces the evaluator by that of a new process.
func (b *bench) restart() {
	b.e = New(Config{
		Center: b.center, Clock: b.clock, Log: slog.New(slog.DiscardHandler), Wake: jobs.NewSignal(),
		Open: func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return b.server, nil },
	})
}

// pass lets time pass, and evaluates on the way.
func (b *bench) pass(d time.Duration) {
	b.Helper()
	for end := b.clock.Now().Add(d); b.clock.Now().Before(end); b.clock.Add(time.Second) {
		b.step()
	}
}

func (b *bench) step() {
	b.Helper()
	if _, err := b.e.run(b.Context(), b.clock.Now()); err != nil {
		b.Fatal(err)
	}
	b.e.running.Wait()
}

func (b *bench) wantSent(want ...string) {
	b.Helper()
	if fmt.Sprint(b.sent) != fmt.Sprint(want) {
		b.Errorf("sent %v, want %v", b.sent, want)
	}
	b.sent = nil
}

// hot is a watch that fires after two answers above 90.
func hot(t *testing.T, id uint64, expr string) Watch {
	t.Helper()
	schedule, err := evaluate.ParseSchedule("@every 10s")
	if err != nil {
		t.Fatal(err)
	}
	return Watch{
		Key: Key{1, id, 1}, Slot: int64(id % 256), Schedule: schedule, Severity: "Critical", Source: Source{ID: 1, Version: 1},
		Rule: evaluate.Rule{ID: id, Revision: 1, Interval: 10 * time.Second, Config: evaluate.Config{
			Queries:        []evaluate.Query{{Name: "A", Expr: expr}},
			CheckThreshold: &evaluate.Threshold{Counts: evaluate.Counts{Enabled: true, AlertingCheckTimes: 2, RecoveryCheckTimes: 1}, Critical: "$A > 90"},
		}},
	}
}

func TestEvaluationCountsOnceItIsStored(t *testing.T) {
	t.Parallel()
	b := newBench(t, hot(t, 1, "cpu"))
	b.values["web1"] = 97
	b.away = errors.New("away")
	b.pass(time.Minute)
	b.wantSent()
	asked := b.asked
	b.pass(30 * time.Second)
	if b.asked != asked {
		t.Errorf("%d queries while what was found is not stored", b.asked-asked)
	}
	b.away = nil
	b.pass(10 * time.Second)
	b.wantSent("begin web1")
	b.values["web1"] = 9
	b.pass(30 * time.Second)
	b.wantSent("recovered web1")
}

func TestProcessThatTakesOverGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t, hot(t, 1, "cpu"))
	b.values["web1"] = 97
	b.pass(30 * time.Second)
	b.wantSent("begin web1")
	b.restart()
	b.pass(time.Minute)
	b.wantSent()
	b.values["web1"] = 9
	b.pass(20 * time.Second)
	b.wantSent("recovered web1")
}

func TestFencedProcessLetsGo(t *testing.T) {
	t.Parallel()
	b := newBench(t, hot(t, 1, "cpu"))
	b.pass(20 * time.Second)
	b.values["web1"] = 97
	b.fenced = true
	b.pass(30 * time.Second)
	b.wantSent()
	b.fenced = false
	b.epoch++
	b.pass(40 * time.Second)
	b.wantSent("begin web1")
}

func TestUnansweredDatasourceIsAskedSeldom(t *testing.T) {
	t.Parallel()
	var watches []Watch
	for id := range uint64(20) {
		watches = append(watches, hot(t, id+1, fmt.Sprint("cpu", id)))
	}
	b := newBench(t, watches...)
	b.failed = &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseDial, Message: "refused"}
	b.pass(2 * time.Minute)
	if b.asked < 20 || b.asked > 40 {
		t.Errorf("%d queries in two minutes, want about one in five seconds", b.asked)
	}
	lost, unknown := 0, 0
	for _, r := range b.reports {
		for _, s := range r.Sources {
			if s.Lost {
				lost++
			}
			if s.Lost && s.Blind["Critical"] != 20 {
				t.Errorf("blind: %v", s.Blind)
			}
		}
		for _, w := range r.Watches {
			if w.Unknown && !w.Lost {
				unknown++
			}
		}
	}
	if lost != 1 || unknown != 0 {
		t.Errorf("lost %d times, and %d rules for themselves", lost, unknown)
	}
	b.failed = nil
	b.values["web1"] = 97
	b.pass(30 * time.Second)
	if len(b.sent) != 20 {
		t.Errorf("%d begin after the datasource is back", len(b.sent))
	}
}

func TestEqualQueriesAreAskedOnce(t *testing.T) {
	t.Parallel()
	var watches []Watch
	for id := range uint64(30) {
		watches = append(watches, hot(t, id+1, "cpu"))
	}
	b := newBench(t, watches...)
	b.pass(31 * time.Second)
	if b.asked < 3 || b.asked > 4 {
		t.Errorf("%d queries in three intervals of 30 rules with one query", b.asked)
	}
	if len(b.e.flights) != 0 {
		t.Errorf("%d answers are kept", len(b.e.flights))
	}
}

// One datasource that does not answer holds up neither others nor more than its part of the places.
func TestSlowDatasourceHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	var watches []Watch
	for id := range uint64(40) {
		watches = append(watches, hot(t, id+1, fmt.Sprint("cpu", id)))
	}
	quick := hot(t, 99, "cpu")
	quick.Key.Datasource, quick.Source = 2, Source{ID: 2, Version: 1}
	b := newBench(t, append(watches, quick)...)
	b.hold = make(chan struct{})
	other := &server{values: map[string]float64{"web9": 97}}
	b.e.Open = func(d querier.Datasource) (querier.Querier, *evaluate.Failure) {
		if d.Name == "quick" {
			return other, nil
		}
		return b.server, nil
	}
	b.all[40].Source.Name = "quick"
	b.waitFor(func() bool {
		if _, err := b.e.run(t.Context(), b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		b.clock.Add(time.Second)
		b.center.mu.Lock()
		defer b.center.mu.Unlock()
		return len(b.sent) == 1
	})
	close(b.hold)
	b.e.running.Wait()
	if b.most > mostOfSource {
		t.Errorf("%d queries of one datasource at a time", b.most)
	}
}

// Accounts take turns, then datasources. One account leaves places to others, however many of its datasources are slow.
func TestPlacesAreShared(t *testing.T) {
	t.Parallel()
	q := queue{running: map[int64]int{}}
	add := func(account int64, id uint64, n int) {
		s := &source{key: sourceKey{account, id}}
		for range n {
			q.add(&watch{Watch: Watch{Key: Key{Account: account, Datasource: id}}, source: s})
		}
	}
	for id := range uint64(5) {
		add(1, id, 20)
	}
	add(2, 0, 20)
	add(3, 0, 1)
	var first []int64
	count := map[int64]int{}
	var taken []*watch
	for w := q.take(); w != nil; w = q.take() {
		if len(first) < 5 {
			first = append(first, w.Account)
		}
		count[w.Account]++
		taken = append(taken, w)
	}
	if fmt.Sprint(first, count) != fmt.Sprint([]int64{1, 2, 3, 1, 2}, map[int64]int{1: 12, 2: mostOfSource, 3: 1}) {
		t.Errorf("the first %v, of %v", first, count)
	}
	q.leave(taken[1])
	if w := q.take(); w == nil || w.Account != 2 {
		t.Errorf("the free place goes to %v", w)
	}
}

// waitFor waits for what another goroutine does.
func (b *bench) waitFor(done func() bool) {
	b.Helper()
	timeout := time.After(10 * time.Second)
	for !done() {
		select {
		case <-timeout:
			b.Fatal("it did not happen")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestLateWatchGoesOnWithNewestMoment(t *testing.T) {
	t.Parallel()
	w := &watch{Watch: hot(t, 1, "cpu")}
	w.configure(w.Watch)
	w.moment, w.at = w.nextMoment(start)
	if late := w.at.Sub(start); late <= 0 || late > 10*time.Second {
		t.Errorf("the first moment is %v after the start", late)
	}
	for _, c := range []struct {
		late   time.Duration
		missed int
	}{{0, 0}, {10 * time.Second, 0}, {11 * time.Second, 1}, {95 * time.Second, 9}} {
		moment, missed := w.catchUp(w.at.Add(c.late))
		if missed != c.missed || moment != w.moment.Add(time.Duration(missed)*10*time.Second) {
			t.Errorf("%v late: %d missed, moment %v", c.late, missed, moment)
		}
	}
	cron, err := evaluate.ParseSchedule("* * * * *")
	if err != nil {
		t.Fatal(err)
	}
	w.Schedule, w.Rule.Interval = cron, time.Minute
	w.configure(w.Watch)
	w.moment, w.at = w.nextMoment(start)
	if !w.moment.Equal(start.Add(time.Minute)) || w.at.Sub(w.moment) > 12*time.Second {
		t.Errorf("cron: moment %v, begins %v", w.moment, w.at)
	}
	if moment, missed := w.catchUp(w.at.Add(10 * time.Minute)); missed != 10 || !moment.Equal(start.Add(11*time.Minute)) {
		t.Errorf("cron: %d missed, moment %v", missed, moment)
	}
}

// The next owner of a slot waits for the report that lacks it.
func TestSlotThatIsHandedOverIsReportedAtOnce(t *testing.T) {
	b := newBench(t, hot(t, 1, "load"))
	b.step()
	b.moved = map[int64]bool{b.all[0].Slot: true}
	b.clock.Add(syncEvery)
	b.step()
	if n := len(b.reports); n != 2 || !b.reports[n-1].Held[b.all[0].Slot] {
		t.Fatalf("%d reports, want 2, the last with the slot", n)
	}
	b.step()
	if n := len(b.reports); n != 3 || b.reports[n-1].Held[b.all[0].Slot] {
		t.Fatalf("%d reports, want 3, the last without the slot", n)
	}
	b.step()
	if n := len(b.reports); n != 3 {
		t.Errorf("%d reports, want 3: nothing is handed over any more", n)
	}
}

func TestEvaluatorReportsOftenWhileSlotsAreHandedOverToIt(t *testing.T) {
	b := newBench(t, hot(t, 1, "load"))
	b.more = true
	b.step()
	for range 3 {
		b.clock.Add(moreEvery)
		b.step()
	}
	if n := len(b.reports); n != 4 {
		t.Fatalf("%d reports, want 4, one a second", n)
	}
	b.more = false
	for range 4 { // the first of these reports learns that nothing more comes
		b.clock.Add(moreEvery)
		b.step()
	}
	if n := len(b.reports); n != 5 {
		t.Errorf("%d reports, want 5", n)
	}
}

// Orders that come with an error are followed by an edge alone, which has a journal.
func TestOrdersWithErrorChangeNothing(t *testing.T) {
	b := newBench(t, hot(t, 1, "load"))
	b.step()
	b.fails = true
	for range 3 {
		b.clock.Add(syncEvery)
		if err := b.e.sync(t.Context(), b.clock.Now()); !errors.Is(err, errCut) {
			t.Fatalf("%v, want the error of the center", err)
		}
	}
	b.fails = false
	b.clock.Add(syncEvery)
	if err := b.e.sync(t.Context(), b.clock.Now()); err != nil || b.e.unsure {
		t.Errorf("%v, and the clock is unsure: %t", err, b.e.unsure)
	}
}
