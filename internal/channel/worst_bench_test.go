package channel_test

import (
	"fmt"
	"iter"
	"strings"
	"syscall"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/platform/db"
)

// worst is the state of an account with one channel and one integration.
type worst struct {
	inlet   decide.Inlet
	channel *decide.Channel
}

func (w worst) Inlet(int64) (*decide.Inlet, error)       { return &w.inlet, nil }
func (w worst) Channel(int64) (*decide.Channel, error)   { return w.channel, nil }
func (worst) Alert(int64, string) (*decide.Alert, error) { return nil, nil }
func (worst) Sources(int64) (iter.Seq[*decide.Alert], error) {
	return func(func(*decide.Alert) bool) {}, nil
}
func (worst) Source(int64, string) (*decide.Alert, error) { return nil, nil }
func (worst) Group(int64, string) (*decide.Group, error)  { return nil, nil }
func expression(n int) filter.Condition                   { return costly(fmt.Sprintf(`/(?:\pL?){%d}z/`, n)) }
func costly(vals ...string) filter.Condition {
	return filter.Condition{Key: "description", Oper: filter.In, Vals: vals}
}
func bounds(n int) (f filter.Filter) { // num: values are the slowest of those without instructions
	for range n / 10 {
		f = append(f, filter.Group{{Key: "number", Oper: filter.In, Vals: strings.Split(strings.Repeat("num:lt:0 ", 9)+"num:lt:0", " ")}})
	}
	return f
}

// full returns the filters of n rules that match nothing. Together they are at the bounds of a list, or nearly.
func full(n, expressions int) (filters []filter.Filter) {
	for i := range n {
		switch {
		case i < expressions:
			filters = append(filters, filter.Filter{{expression(332)}})
		default:
			filters = append(filters, bounds(50))
		}
	}
	return filters
}

// BenchmarkWorstChannel decides one event of the greatest length against the most rules that a channel and an
// integration may have: the bounds of filters are chosen for this cost. The rules pass the same checks as those of
// callers.
func BenchmarkWorstChannel(b *testing.B) {
	rest := strings.Repeat("xy", event.MaxDescription/2)
	e := event.Event{Integration: 1, AlertKey: "a", Title: rest[:event.MaxTitle], Description: rest, Status: "Critical", Severity: "Critical",
		Labels: map[string]string{"number": "1." + strings.Repeat("7", 60)}}
	for _, kinds := range []struct {
		name                             string
		drops, silences, targets, inlets bool
	}{{"drop rules", true, false, false, false}, {"channel", true, true, true, false}, {"channel and integration", true, true, true, true}} {
		b.Run(kinds.name, func(b *testing.B) {
			w := worst{inlet: decide.Inlet{Channel: open}, channel: worstChannel(b, kinds.drops, kinds.silences, kinds.targets)}
			if kinds.inlets {
				rules, enrichments := worstRules(b)
				w.inlet.Rules, w.inlet.Enrichments = pipeline.Ready(rules), pipeline.ReadyEnrichments(enrichments)
			}
			before := processor(b)
			for b.Loop() {
				if _, err := decide.Event(w, e, apitest.Now.Unix()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((processor(b)-before).Microseconds())/1000/float64(b.N), "cpu-ms/event")
		})
	}
}

// processor returns the processor time of this process. On a busy machine it is more exact than elapsed time.
func processor(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func worstChannel(b *testing.B, drops, silences, targets bool) (ready *decide.Channel) {
	d := apitest.Start(b).DB
	var dropRules []channel.DropRule
	var silenceRules []channel.SilenceRule
	var inhibitRules []channel.InhibitRule
	for i, f := range full(500, 2) {
		r := rule(open, fmt.Sprintf("69b3c426b4a6f5abf1%06x", i), 0, 1)
		if drops {
			dropRules = append(dropRules, channel.DropRule{Rule: r, Filters: f})
		}
		if silences {
			silenceRules = append(silenceRules, channel.SilenceRule{Rule: r, Filters: f, TimeFilters: []channel.TimeFilter{{Start: "00:00", End: "23:59"}}})
		}
		if targets {
			inhibitRules = append(inhibitRules, channel.InhibitRule{Rule: r, TargetFilters: filter.Groups(f), Equals: []string{"title"}})
		}
	}
	err := within(d, func(tx *db.Tx) (err error) {
		err = channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: open, ChannelName: "Worst"}})
		if err != nil {
			return err
		}
		err = channel.Drops.Load(tx, nil, apitest.AccountA, dropRules)
		if err != nil {
			return err
		}
		err = channel.Silences.Load(tx, nil, apitest.AccountA, silenceRules)
		if err != nil {
			return err
		}
		err = channel.Inhibits.Load(tx, nil, apitest.AccountA, inhibitRules)
		if err != nil {
			return err
		}
		ready, err = channel.Ready(tx, apitest.AccountA, open, time.UTC)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return ready
}

func worstRules(b *testing.B) (rules []pipeline.Rule, enrichments []pipeline.Enrichment) {
	for _, f := range full(50, 2) {
		rules = append(rules, pipeline.Rule{Kind: pipeline.AlertDrop, If: filter.Groups(f)})
	}
	enrichments = append(enrichments, pipeline.Enrichment{Kind: "extraction", Settings: pipeline.EnrichmentSettings{
		SourceField: "description", ResultLabel: "a", Pattern: strings.Repeat("(x?){7}", 9) + "(?:y?){12}"}})
	if why := pipeline.CheckAll(rules) + pipeline.CheckAllEnrichments(enrichments); why != "" {
		b.Fatal(why)
	}
	for _, r := range rules {
		if path, why := r.Check(); path != "" {
			b.Fatal(path, why)
		}
	}
	for _, r := range enrichments {
		if path, why := r.Check(); path != "" {
			b.Fatal(path, why)
		}
	}
	return rules, enrichments
}
