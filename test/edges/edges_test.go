package edges

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "tocsin/internal/cli" // so that go test does not use cached results when the program has changed
	"tocsin/test/nodes"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "edges")
	if err == nil {
		binary, err = nodes.Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// number returns the number in an environment variable.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestEdgesFailInPairs(t *testing.T) {
	seed := number(t, "TOCSIN_EDGES_SEED", rand.Uint64())
	t.Logf("TOCSIN_EDGES_SEED=%d", seed)
	reportProcessorTime(t)
	w := begin(t, seed)
	for n := range int(number(t, "TOCSIN_EDGES_ROUNDS", 2)) {
		w.round(n, pairs[(n+int(number(t, "TOCSIN_EDGES_FIRST", 0)))%len(pairs)])
		if t.Failed() {
			w.logs()
			return
		}
	}
}

// reportProcessorTime logs at the end what the test and its processes have used.
func reportProcessorTime(t *testing.T) {
	used := func() (sum time.Duration) {
		for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
			var u syscall.Rusage
			if err := syscall.Getrusage(who, &u); err != nil {
				t.Error(err)
			}
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
		return sum
	}
	began, before := time.Now(), used()
	t.Cleanup(func() {
		t.Logf("%s, %s of processors", time.Since(began).Round(time.Second), (used() - before).Round(time.Second))
	})
}

// Bounds of a take-over: other edges wait for the lease of one that is gone.
const (
	lease        = 15 * time.Second
	mostTakeOver = lease + 25*time.Second
)

// lasting is how long faults go on at least: longer than the lease.
const lasting = 25 * time.Second

// round lets two faults happen at a time, ends them, and compares.
func (w *world) round(n int, pair [2]fault) {
	w.t.Helper()
	one, other := w.victims(pair)
	name := fmt.Sprintf("round %d, %s of %s and %s of %s", n, pair[0].name, one.Name, pair[1].name, other.Name)
	began := time.Now()
	w.change(began)
	w.must(pair[0].begin(w, one))
	w.must(pair[1].begin(w, other))
	if pair[0].name != server.name && (pair[0].process || pair[1].process) {
		var last time.Time
		w.until(name+": the others have taken over", func() (all bool) {
			last, all = w.source.FirstAsked(began.Add(time.Second))
			return all
		})
		took := last.Sub(began).Round(100 * time.Millisecond)
		w.t.Logf("%s: every rule was evaluated again after %s", name, took)
		if took > mostTakeOver && pair[0].name != cut.name && pair[1].name != cut.name {
			w.t.Errorf("%s: the take-over took %s, want %s at most", name, took, mostTakeOver)
		}
	}
	time.Sleep(time.Until(began.Add(lasting)))
	w.must(pair[1].end(w, other))
	w.must(pair[0].end(w, one))
	time.Sleep(time.Until(w.source.Last()))
	healed := time.Now()
	w.until("as an undisturbed run", w.same)
	w.t.Logf("%s: as an undisturbed run after %s", name, time.Since(healed).Round(100*time.Millisecond))
	w.check()
	w.until("each edge evaluates its part", w.Balanced)
	if !w.same() {
		w.t.Errorf("%s, after slots were handed over: %s", name, w.difference())
	}
}

// change plans what the series of a part of the rules do in a round: change once, or for a while, during the faults or about
// when they end.
func (w *world) change(began time.Time) {
	within := func(from, to time.Duration) time.Time {
		return began.Add(from + time.Duration(w.random.Int64N(int64(to-from))))
	}
	for rule := range ruleCount {
		switch w.random.IntN(20) {
		case 0:
			w.source.Plan(rule, within(0, lasting))
		case 1:
			w.source.Plan(rule, within(lasting, lasting+2*every))
		case 2: // it is over before the faults are
			first := within(time.Second, lasting-3*every)
			w.source.Plan(rule, first, first.Add(every+time.Duration(w.random.Int64N(int64(every)))))
		case 3:
			w.source.Plan(rule, within(0, lasting/2), within(lasting/2, lasting), within(lasting, lasting+2*every))
		}
	}
}
