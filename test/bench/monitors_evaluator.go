package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
)

// ruleCenter is a server whose rules find nothing.
type ruleCenter struct{ watches []evaluator.Watch }

func (c ruleCenter) Sync(context.Context, evaluator.Report) (evaluator.Orders, error) {
	return evaluator.Orders{Slots: map[int64]int64{1: 1}, Accounts: map[int64]int64{1: 1}}, nil
}

func (c ruleCenter) Watches(context.Context, int64) ([]evaluator.Watch, error) { return c.watches, nil }

func (ruleCenter) State(context.Context, int64, []evaluator.Key) (map[evaluator.Key]evaluator.Saved, error) {
	return nil, nil
}

func (ruleCenter) Save(context.Context, int64, []evaluator.Saved) error { return nil }

func (ruleCenter) Send(context.Context, evaluator.Batch) (evaluator.Taken, error) {
	return evaluator.Taken{}, nil
}

// timed is a querier that notes when queries begin and end, compared with the moment that they are about.
type timed struct {
	querier.Querier
	mu            sync.Mutex
	begins, ended []time.Duration
	now, most     int // queries at a time
}

func (q *timed) Query(ctx context.Context, a querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	begin := time.Since(a.AsOf)
	q.mu.Lock()
	q.now++
	q.most = max(q.most, q.now)
	q.mu.Unlock()
	rows, failed := q.Querier.Query(ctx, a)
	end := time.Since(a.AsOf)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.now--
	q.begins, q.ended = append(q.begins, begin), append(q.ended, end)
	return rows, failed
}

// evaluateFor evaluates rules in this process for a while, and notes the queries after its start.
func evaluateFor(address, pattern string, start, d time.Duration) (*timed, *prom.Registry, error) {
	schedule, err := evaluate.ParseSchedule(pattern)
	if err != nil {
		return nil, nil, err
	}
	source := evaluator.Source{ID: 1, Version: 1, Datasource: querier.Datasource{Type: "prometheus", Name: "local", Address: address, Payload: []byte(`{}`)}}
	c := ruleCenter{}
	for n := range ruleCount {
		c.watches = append(c.watches, evaluator.Watch{
			Key: evaluator.Key{Account: 1, Rule: uint64(n + 1), Datasource: 1}, Slot: 1, Schedule: schedule, Severity: "Critical", Source: source,
			Rule: evaluate.Rule{ID: uint64(n + 1), Interval: schedule.Interval(), Config: evaluate.Config{
				Queries:      []evaluate.Query{{Name: "A", Expr: ruleQuery(n)}},
				CheckAnydata: &evaluate.Anydata{Counts: evaluate.Counts{Enabled: true}, Severity: "Critical"},
			}},
		})
	}
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	inner, failed := prometheus.Open(source.Datasource, out)
	if failed != nil {
		return nil, nil, errors.New(failed.Message)
	}
	q, registry := &timed{Querier: inner}, prom.NewRegistry()
	e := evaluator.New(evaluator.Config{
		Center: c, Clock: clock.System, Log: slog.New(slog.DiscardHandler), Wake: jobs.NewSignal(), Metrics: registry,
		Open: func(querier.Datasource) (querier.Querier, *evaluate.Failure) { return q, nil },
	})
	runner := jobs.New(clock.System, slog.New(slog.DiscardHandler), nil)
	runner.Add(e.Evaluating())
	runner.Start()
	time.Sleep(start)
	q.mu.Lock()
	q.begins, q.ended = nil, nil
	q.mu.Unlock()
	time.Sleep(d)
	runner.Stop()
	return q, registry, inner.Close()
}

// askedAtOnce is how many queries the bare loop makes at a time, as the evaluator does of one datasource.
const askedAtOnce = 8

// bareQueries returns how many of the rules' queries a loop without a rule makes in a second.
func bareQueries(address string) float64 {
	var count atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: askedAtOnce, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var done sync.WaitGroup
	end := time.Now().Add(*span)
	for worker := range askedAtOnce {
		done.Go(func() {
			for n := worker; time.Now().Before(end); n += askedAtOnce {
				reply, err := client.PostForm(address+"/api/v1/query", url.Values{"query": {ruleQuery(n % ruleCount)}})
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, reply.Body)
				_ = reply.Body.Close()
				count.Add(1)
			}
		})
	}
	done.Wait()
	return float64(count.Load()) / span.Seconds()
}

func (b ruleBed) evaluatedFlatOut() error {
	before := bareQueries(b.address)
	q, _, err := evaluateFor(b.address, "@every 1s", 3*time.Second, *span)
	bare := (before + bareQueries(b.address)) / 2
	ours := float64(len(q.ended)) / span.Seconds()
	fmt.Printf("| evaluations/s flat out, beside a bare loop of the same queries | 0.8 of it | %.0f beside %.0f: %.2f |\n", ours, bare, ours/bare)
	if err != nil {
		return err
	}
	p, err := startVMAlert(b.dir, b.address, "1s")
	if errors.Is(err, errNoPeer) {
		fmt.Printf("| the same of vmalert | | it %s |\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	defer p.kill()
	time.Sleep(3 * time.Second)
	first, err := p.metric("vmalert_execution_total")
	if err != nil {
		return err
	}
	time.Sleep(*span)
	last, err := p.metric("vmalert_execution_total")
	theirs := (last - first) / span.Seconds()
	fmt.Printf("| the same of vmalert, eight at a time | a quarter of ours | %.0f: %.2f |\n", theirs, theirs/ours)
	return err
}

func (b ruleBed) evaluatedOnSchedule() error {
	const begin, d = 5 * time.Second, time.Minute // the rules are read at first
	q, registry, err := evaluateFor(b.address, "@every 30s", begin, d)
	if err != nil {
		return err
	}
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	missed := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "tocsin_evaluations_total" && l.GetValue() == string(evaluate.Missed) {
					missed += m.GetCounter().GetValue()
				}
			}
		}
	}
	p99 := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)*99/100].Round(100 * time.Microsecond)
	}
	fmt.Printf("| %d rules at 30 s: start late p99, result late p99, missed | 20 ms, 50 ms, 0 | %s, %s, %.0f (of %d) |\n", ruleCount, p99(q.begins), p99(q.ended), missed, len(q.ended))
	return nil
}

// evaluatedTogether evaluates rules that have the same moment, by a pattern of cron: the datasource is asked little by little.
func (b ruleBed) evaluatedTogether() error {
	q, _, err := evaluateFor(b.address, "* * * * *", 2*time.Second, 80*time.Second)
	fmt.Printf("| %d rules with the cron pattern * * * * *: queries at a time, all begun within | %d, 12 s | %d, %s (of %d) |\n",
		ruleCount, askedAtOnce, q.most, slices.Max(q.begins).Round(10*time.Millisecond), len(q.begins))
	return err
}
