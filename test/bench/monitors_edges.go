package main

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tocsin/test/edges"
)

// fleet starts a server with rules for edges.
func (b ruleBed) fleet(name string, rules edges.Rules) (*edges.Fleet, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return edges.NewFleet(b.binary, dir, rules)
}

// join starts another edge of a fleet.
func (b ruleBed) join(f *edges.Fleet, name string) (*edges.Edge, error) {
	dir, err := os.MkdirTemp(b.dir, name)
	if err != nil {
		return nil, err
	}
	return f.Join(name, dir)
}

// soon waits until something is so, for two minutes at most.
func soon(what string, every time.Duration, is func() (bool, error)) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(every) {
		so, err := is()
		if so || err != nil {
			return err
		}
	}
	return errors.New(what + ": not within two minutes")
}

// newMember measures an edge that joins when there are many rules, and what it uses afterwards.
func (b ruleBed) newMember() error {
	f, err := b.fleet("member", edges.Rules{Count: ruleCount, Every: 30 * time.Second, Datasource: b.address, Config: func(n int) map[string]any {
		return map[string]any{"queries": []map[string]any{{"name": "A", "expr": ruleQuery(n)}},
			"check_anydata": map[string]any{"enabled": true, "severity": "Critical"}}
	}})
	if err != nil {
		return err
	}
	defer f.Close()
	began := time.Now()
	e, err := b.join(f, "member")
	if err != nil {
		return err
	}
	metrics := &peer{address: strings.TrimPrefix(e.URL, "http://")}
	err = soon("an edge evaluates all rules", 10*time.Millisecond, func() (bool, error) {
		known, failed := metrics.metric("tocsin_evaluations_total", `outcome="known"`)
		return failed == nil && known > 0 && e.Watches() == ruleCount, nil // the metric is there after the first evaluation
	})
	if err != nil {
		return err
	}
	fmt.Printf("| %d rules to a new edge: from its start until it evaluates them all; received | 3 s, 2 MB | %s, %.2f MB |\n", ruleCount,
		time.Since(began).Round(10*time.Millisecond), float64(e.Link.Came.Load())/1e6)
	const begin, d = 35 * time.Second, time.Minute // each is evaluated once at first
	time.Sleep(begin)
	pid := e.Process().Pid
	before := processorOf(pid)
	time.Sleep(d)
	fmt.Printf("| the same edge, %d rules at 30 s: processor, memory | 0.15, 100 MB | %.2f, %.0f MB |\n", ruleCount,
		(processorOf(pid)-before).Seconds()/d.Seconds(), residentOf(pid))
	return nil
}

// changedRules measures when rules are evaluated as they were changed.
func (b ruleBed) changedRules() error {
	const every, changes, within = 30 * time.Second, 200, 20 * time.Second
	source := edges.NewSource(ruleCount)
	server := httptest.NewServer(source)
	defer server.Close()
	f, err := b.fleet("change", edges.Rules{Count: ruleCount, Every: every, Datasource: server.URL, Config: edges.Config})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := b.join(f, "change"); err != nil {
		return err
	}
	if err := soon("an edge evaluates all rules", 100*time.Millisecond, func() (bool, error) { return f.Balanced(), nil }); err != nil {
		return err
	}
	began := time.Now()
	var changed [changes]time.Time
	ruleOf := func(n int) int { return n * ruleCount / changes }
	queryOf := func(n int) string { return edges.Query(ruleOf(n)) + " + 0" }
	for n := range changes {
		time.Sleep(time.Until(began.Add(time.Duration(n) * within / changes)))
		rule := f.Rule(ruleOf(n))
		rule["rule_configs"].(map[string]any)["queries"] = []map[string]any{{"name": "A", "expr": queryOf(n)}}
		if err := f.Call("/monit/rule/update", rule, nil); err != nil {
			return err
		}
		changed[n] = time.Now()
	}
	var took []time.Duration
	for n, at := range changed {
		err := soon("a changed rule is evaluated", 100*time.Millisecond, func() (bool, error) {
			asked := source.FirstAskedFor(ruleOf(n), queryOf(n), at) // before it is stored, it is tried
			if !asked.IsZero() {
				took = append(took, asked.Sub(at))
			}
			return !asked.IsZero(), nil
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(took)
	fmt.Printf("| %d of %d rules at 30 s are changed within %s: evaluated as changed, p50, p99 | 36 s | %s, %s |\n", changes, ruleCount, within,
		took[changes/2].Round(100*time.Millisecond), took[changes*99/100].Round(100*time.Millisecond))
	return nil
}

// The rules of a cluster whose edges fail.
const (
	failRules = 2000
	failEvery = 5 * time.Second
)

// edgesFail cuts an edge off, lets others join, and kills one after the other.
func (b ruleBed) edgesFail() error {
	source := edges.NewSource(failRules)
	server := httptest.NewServer(source)
	defer server.Close()
	f, err := b.fleet("fail", edges.Rules{Count: failRules, Every: failEvery, Datasource: server.URL, Config: edges.Config})
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := b.joined(f, source, "edge1"); err != nil {
		return err
	}
	if err := cutOff(f, source); err != nil {
		return err
	}
	var missed []int
	for _, name := range []string{"edge2", "edge3"} {
		n, err := b.joined(f, source, name)
		if err != nil {
			return err
		}
		missed = append(missed, n)
	}
	var took []time.Duration
	for round := range *killRounds {
		f.Edges[0].Kill()
		at := time.Now()
		f.Edges = f.Edges[1:]
		err := soon("the others have taken over", 100*time.Millisecond, func() (bool, error) {
			last, all := source.FirstAsked(at)
			if all {
				took = append(took, last.Sub(at).Round(100*time.Millisecond))
			}
			return all, nil
		})
		if err != nil {
			return err
		}
		n, err := b.joined(f, source, fmt.Sprint("edge", round+4))
		if err != nil {
			return err
		}
		missed = append(missed, n)
	}
	fmt.Printf("| kill -9 of one of three edges with %d rules at %s: until every rule is evaluated again, each time | 25 s | %v |\n", failRules,
		failEvery, took)
	fmt.Printf("| an edge joins: evaluations in a row that a watch misses at most, each time | 1 | %v |\n", missed)
	return nil
}

// joined lets an edge join, and returns how many evaluations in a row were missed until it had its part.
func (b ruleBed) joined(f *edges.Fleet, source *edges.Source, name string) (missed int, err error) {
	at := time.Now()
	if _, err := b.join(f, name); err != nil {
		return 0, err
	}
	if err := soon("each edge evaluates its part", 100*time.Millisecond, func() (bool, error) { return f.Balanced(), nil }); err != nil {
		return 0, err
	}
	time.Sleep(2 * failEvery)
	return source.MostMissed(at, failEvery), nil
}

// cutOff cuts off the one edge of a cluster, while 1,000 instances begin or end.
func cutOff(f *edges.Fleet, source *edges.Source) error {
	const lasting, passing = 500, 250 // each of these begins and ends
	link, began := f.Edges[0].Link, time.Now()
	link.Silence()
	last := *cutFor - 4*failEvery // both are found before the cut ends
	for rule := range lasting + passing {
		if rule < lasting {
			source.Plan(rule, began.Add(time.Second+rand.N(last)))
			continue
		}
		first := began.Add(time.Second + rand.N(last-2*failEvery))
		source.Plan(rule, first, first.Add(2*failEvery))
	}
	time.Sleep(time.Until(began.Add(*cutFor)))
	before, err := f.OpenRules(edges.OpenInstances)
	if err != nil || slices.Equal(before, source.Open(time.Now())) {
		return cmp.Or(err, errors.New("an edge that is cut off has sent what it found"))
	}
	link.Repair()
	repaired := time.Now()
	var took [2]time.Duration
	for n, query := range []string{edges.OpenInstances, edges.OpenAlerts} {
		err := soon("what is open is right", 20*time.Millisecond, func() (bool, error) {
			open, err := f.OpenRules(query)
			took[n] = time.Since(repaired).Round(10 * time.Millisecond)
			return slices.Equal(open, source.Open(time.Now())), err
		})
		if err != nil {
			return err
		}
	}
	fmt.Printf("| an edge is cut off for %s with %d transitions: until the open instances are right; the alerts | 5 s | %s; %s |\n", *cutFor,
		lasting+2*passing, took[0], took[1])
	return nil
}

// withoutRules measures the start of a server without rules, of another binary too.
func (b ruleBed) withoutRules() error {
	const starts = 5
	binaries := []string{b.binary}
	if *against != "" {
		binaries = append(binaries, *against)
	}
	took, memory := make([][]time.Duration, len(binaries)), make([][]float64, len(binaries))
	for round := range starts + 1 {
		for n, binary := range binaries {
			p, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", fmt.Sprintf("sqlite:%s", filepath.Join(b.dir, fmt.Sprint("empty-", n, ".db"))))
			if err != nil {
				return err
			}
			time.Sleep(2 * time.Second) // idle
			if round > 0 {              // the first one creates the tables
				took[n], memory[n] = append(took[n], p.took), append(memory[n], p.resident())
			}
			if err := p.stop(); err != nil {
				return err
			}
		}
	}
	for n, binary := range binaries {
		info, err := os.Stat(binary)
		if err != nil {
			return err
		}
		title, goal := "binary, stripped; a server without rules: start, memory", "50 MB; + 5 ms, + 2 MB"
		if n > 0 {
			title, goal = "the same of "+binary, ""
		}
		fmt.Printf("| %s | %s | %.1f MB; %s, %.1f MB |\n", title, goal, float64(info.Size())/1e6, median(took[n]).Round(100*time.Microsecond), median(memory[n]))
	}
	return nil
}
