package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// questions returns the recovery queries of the instances that may have recovered. The instances of the others stay as they
// are. When there are more than may be asked, the next evaluation goes on behind the last one.
func (w *Watch) questions() []Question {
	var waiting []int
	for n := range w.signals {
		if w.mayRecover(&w.signals[n]) {
			waiting = append(waiting, n)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	place := func(n int) (string, string) {
		s := &w.signals[n]
		return s.instance.key, w.checks[s.check].name
	}
	slices.SortFunc(waiting, func(a, b int) int {
		keyA, checkA := place(a)
		keyB, checkB := place(b)
		behindA := keyA+checkA <= w.lastAsked
		behindB := keyB+checkB <= w.lastAsked
		if behindA != behindB {
			if behindA {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(keyA, keyB), cmp.Compare(checkA, checkB))
	})
	var asks []Question
	for _, n := range waiting {
		s := &w.signals[n]
		c := &w.checks[s.check]
		if len(asks) == w.limits.questions {
			s.skip = true
			continue
		}
		query, failed := fill(*c.ask, s.instance.labels)
		if failed != nil {
			w.failed = failed
			s.skip = true
			continue
		}
		asks = append(asks, Question{c.name, s.instance.key, query})
		w.asked = append(w.asked, n)
		w.lastAsked = s.instance.key + c.name
	}
	return asks
}

// mayRecover reports whether a recovery query decides about an instance: of a threshold one with a value that is at no
// severity, of anydata one without a row.
func (w *Watch) mayRecover(s *signal) bool {
	if s.skip || s.instance == nil || s.instance.severity == none || w.checks[s.check].mode != "ql" {
		return false
	}
	if s.check == anydata {
		return s.row < 0 && w.config == w.current // after a change it is closed
	}
	return s.row >= 0 && s.severity == none && !s.absent
}

// related returns the queries for the descriptions of transitions.
func (w *Watch) related(all []Transition) []Question {
	var asks []Question
	for n := range all {
		t := &all[n]
		if t.To != Begin && t.To != Repeat || t.Check == CheckTooMany {
			continue
		}
		for _, q := range w.rule.Config.RelateQueries {
			query, failed := fill(q, t.Labels)
			if failed == nil && len(asks) < w.limits.questions {
				asks = append(asks, Question{t.Check, t.Key, query})
			}
		}
	}
	return asks
}

// fill returns a query with its ${label} replaced. The datasource writes the labels, so a value that might end a text in the
// query is refused: it could make an end that is not one.
func fill(q Query, labels map[string]string) (Query, *Failure) {
	var b strings.Builder
	rest := q.Expr
	for {
		before, after, found := strings.Cut(rest, "${")
		b.WriteString(before)
		if !found {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed {
			b.WriteString("${" + after)
			break
		}
		value := labels[name]
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || strings.ContainsRune("'\"`\\\u007f", r) }) {
			return q, invalid("label %.128q has a quote, a backslash or a control character, which query %s cannot hold", name, q.Name)
		}
		b.WriteString(value)
		rest = behind
	}
	q.Expr = b.String()
	return q, nil
}

// text returns a label set for a message.
func text(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, fmt.Sprintf("%.128s=%.128q", name, labels[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
