// Package edges runs a real server and three real edges of one cluster with 2,000 rules on a datasource whose answers are a
// function of time. Its rounds kill, freeze and cut off edges, fill their disks, set their clocks wrong and kill the server, two
// at a time. Afterwards exactly that must be open which would be without them, and what was stored must be true.
package edges

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
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
	w := begin(t, seed)
	for n := range int(number(t, "TOCSIN_EDGES_ROUNDS", 2)) {
		w.round(n, faults[n%len(faults)])
		if t.Failed() {
			w.logs()
			return
		}
	}
}

// round lets faults happen at a time, heals them, and compares.
func (w *world) round(n int, f fault) {
	w.t.Helper()
	began := time.Now()
	w.change(began)
	e := w.edges[w.random.IntN(len(w.edges))]
	w.must(f.begin(w, e))
	time.Sleep(time.Until(began.Add(lasting)))
	w.must(f.end(w, e))
	time.Sleep(time.Until(w.source.last()))
	took := time.Duration(0)
	for healed := time.Now(); !w.same(); took = time.Since(healed) {
		if time.Since(healed) > 2*time.Minute {
			w.t.Errorf("round %d, %s of %s: %s", n, f.name, e.Name, w.difference())
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	w.t.Logf("round %d: %s of %s; as without it after %s", n, f.name, e.Name, took.Round(100*time.Millisecond))
	w.check(true)
	w.until("each edge evaluates its part", w.balanced)
	if !w.same() {
		w.t.Errorf("round %d, after slots were handed over: %s", n, w.difference())
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
			w.source.plan(rule, within(0, lasting))
		case 1:
			w.source.plan(rule, within(lasting, lasting+2*every))
		case 2: // it is over before the faults are
			first := within(time.Second, lasting-3*every)
			w.source.plan(rule, first, first.Add(every+time.Duration(w.random.Int64N(int64(every)))))
		case 3:
			w.source.plan(rule, within(0, lasting/2), within(lasting/2, lasting), within(lasting, lasting+2*every))
		}
	}
}
