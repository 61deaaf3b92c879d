package edges

import (
	"math/rand/v2"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"tocsin/test/nodes"
)

// ruleCount is how many rules are evaluated.
const ruleCount = 2000

// every is the interval of the rules.
const every = 5 * time.Second

// world is a server and three edges.
type world struct {
	*Fleet
	t      *testing.T
	random *rand.Rand
	source *Source
	edges  []*edge
}

// edge is an edge to which something can happen.
type edge struct {
	*Edge
	disk *disk
	mend func() // ends a cut
	stop func() // ends the process with a wrong clock
}

// begin starts all, and waits until each edge evaluates its part.
func begin(t *testing.T, seed uint64) *world {
	t.Helper()
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 0)), source: NewSource(ruleCount)}
	for rule := range ruleCount {
		if w.random.IntN(10) < 3 {
			w.source.Plan(rule, time.Now())
		}
	}
	datasource := httptest.NewServer(w.source)
	t.Cleanup(datasource.Close)
	var err error
	w.Fleet, err = NewFleet(binary, t.TempDir(), Rules{Count: ruleCount, Every: every, Datasource: datasource.URL, Config: Config})
	w.must(err)
	var disks []*disk
	for range 3 {
		disks = append(disks, newDisk(t))
	}
	t.Cleanup(func() { w.must(w.Close()) }) // before the disks are taken away
	for n, name := range []string{"fra-1", "fra-2", "fra-3"} {
		e, err := w.Join(name, disks[n].dir)
		w.must(err)
		w.edges = append(w.edges, &edge{Edge: e, disk: disks[n]})
	}
	w.until("each edge evaluates its part", w.Balanced)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// until waits until something is so. How long it takes depends on the machine's other work.
func (w *world) until(what string, is func() bool) time.Duration {
	w.t.Helper()
	began := time.Now()
	for !is() {
		if time.Since(began) > 2*time.Minute {
			w.logs()
			w.t.Fatalf("not within two minutes: %s: %s", what, w.difference())
		}
		time.Sleep(200 * time.Millisecond)
	}
	return time.Since(began)
}

// logs shows what the processes have logged.
func (w *world) logs() {
	w.t.Helper()
	for _, n := range append([]*nodes.Node{w.Server}, w.edges[0].Node, w.edges[1].Node, w.edges[2].Node) {
		lines := n.Logged()
		w.t.Log(strings.Join(lines[max(0, len(lines)-20):], "\n"))
	}
}
