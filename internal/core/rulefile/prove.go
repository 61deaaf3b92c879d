package rulefile

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tocsin/internal/core/evaluate"
)

// Proof is what Prometheus' meaning of a rule and that of the rule here came to on the same answers.
type Proof struct {
	Alerts      int64    // that began by Prometheus' meaning
	Differences []string // the first of them
	Total       int64    // how many differences there are
}

const mostDifferences = 20

// fires is a series by Prometheus' meaning. Moments are zero where there is none.
type fires struct {
	since, gone time.Time
	firing      bool
}

// Prove compares both meanings at each moment. Only a rule of Prometheus can be proved.
func Prove(r *Rule, moments []time.Time, answers func(time.Time) []evaluate.Answer) (p Proof, err error) {
	w, err := evaluate.New(evaluate.Rule{Config: r.Config, Interval: r.Interval}, "")
	if err != nil {
		return p, err
	}
	theirs := map[string]*fires{}
	ours := map[string]bool{}
	for _, at := range moments {
		all := answers(at)
		for _, t := range w.Step(at, all).Transitions {
			ours[t.Key] = !t.To.Ends()
		}
		labels := map[string]map[string]string{}
		for _, row := range all[0].Rows {
			labels[evaluate.Key(row.Labels)] = row.Labels
		}
		p.Alerts += r.step(theirs, labels, at)
		keys := maps.Clone(ours)
		for key := range theirs {
			keys[key] = true
		}
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			there := theirs[key] != nil && theirs[key].firing
			if there == ours[key] {
				continue
			}
			if p.Total++; p.Total <= mostDifferences {
				p.Differences = append(p.Differences, fmt.Sprintf("%s, series %s %v: Prometheus fires: %t, here: %t",
					at.UTC().Format(time.RFC3339), key, labels[key], there, ours[key]))
			}
		}
	}
	return p, nil
}

// step moves all series by one evaluation, as Prometheus does, and returns how many began to fire.
func (r *Rule) step(all map[string]*fires, rows map[string]map[string]string, at time.Time) (begun int64) {
	for key := range rows {
		if all[key] == nil {
			all[key] = &fires{since: at}
		}
	}
	for key, s := range all {
		if rows[key] == nil {
			if s.gone.IsZero() {
				s.gone = at
			}
			if !s.firing || at.Sub(s.gone) >= r.Keep {
				delete(all, key)
			}
			continue
		}
		s.gone = time.Time{}
		if !s.firing && at.Sub(s.since) >= r.For {
			s.firing = true
			begun++
		}
	}
	return begun
}
