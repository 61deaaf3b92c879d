package edges

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/db"
)

// transition is a transition as it is stored.
type transition struct {
	rule     int
	at       time.Time
	to       string
	event    string
	edge     string
	received time.Time // its event was; zero: it has none
}

// openRules returns the rules that are open by a query.
func (w *world) openRules(query string) []int {
	w.t.Helper()
	rules, err := w.OpenRules(query)
	w.must(err)
	return rules
}

// same reports whether exactly those rules are open whose series are too high.
func (w *world) same() bool {
	w.t.Helper()
	want := w.source.Open(time.Now())
	return slices.Equal(w.openRules(OpenInstances), want) && slices.Equal(w.openRules(OpenAlerts), want)
}

// difference describes how the open rules differ from those of an undisturbed run.
func (w *world) difference() string {
	want := w.source.Open(time.Now())
	text := ""
	for name, query := range map[string]string{"instances": OpenInstances, "alerts": OpenAlerts} {
		have := w.openRules(query)
		extra := slices.DeleteFunc(slices.Clone(have), func(r int) bool { return slices.Contains(want, r) })
		missing := slices.DeleteFunc(slices.Clone(want), func(r int) bool { return slices.Contains(have, r) })
		text += fmt.Sprintf("%s: %d are open, want %d; too many: %v, missing: %v\n", name, len(have), len(want), extra, missing)
		for _, rule := range append(extra, missing...)[:min(3, len(extra)+len(missing))] {
			text += w.facts(rule) + "\n"
		}
	}
	return text
}

// rows returns the rows of a query as texts.
func (w *world) rows(query string, args ...any) (text string) {
	w.t.Helper()
	w.must(w.DB.Read(w.t.Context(), func(tx *db.Tx) error {
		all, err := db.All(tx, db.Column[string], query, args...)
		text = strings.Join(all, "; ")
		return err
	}))
	return text
}

// facts returns what is stored of a rule, and what was asked last.
func (w *world) facts(rule int) string {
	list := w.transitions()[rule]
	taken := w.rows(`SELECT run || ' ' || seq || ' ' || taken_at FROM edge_taken WHERE rule_id = $1`, rule+1)
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	text := fmt.Sprintf("rule %d: %s; taken %s; asked", rule, w.story(rule, list), taken)
	for _, e := range w.edges {
		file, err := os.ReadFile(filepath.Join(e.disk.dir, "journal"))
		w.must(err)
		for line := range strings.Lines(string(file)) {
			if strings.Contains(line, fmt.Sprintf(`"Rule":%d,`, rule+1)) {
				text += "\n   journal of " + e.Name + ": " + strings.TrimSpace(line)
			}
		}
	}
	all := w.source.asked[rule]
	for _, a := range all[max(0, len(all)-8):] {
		text += fmt.Sprintf(" %s (of %s: %t)", clockOf(a.at), clockOf(time.UnixMilli(a.of)), a.high)
	}
	return text
}

// transitions returns the transitions of each rule in the order of their moments.
func (w *world) transitions() (all [ruleCount][]transition) {
	w.t.Helper()
	err := w.DB.Read(w.t.Context(), func(tx *db.Tx) error {
		_, err := db.All(tx, func(scan db.Scan) (t transition, err error) {
			var at, received int64
			err = scan(&t.rule, &at, &t.to, &t.event, &t.edge, &received)
			t.rule--
			t.at = time.UnixMilli(at)
			if received > 0 {
				t.received = time.Unix(0, received)
			}
			if err == nil {
				all[t.rule] = append(all[t.rule], t)
			}
			return t, err
		}, `SELECT t.rule_id, t.at, t.change, t.event_id, coalesce(json_extract(t.body, '$.edge'), ''),
				coalesce(e.received_at, 0) FROM rule_transition t
			LEFT JOIN event e ON e.account_id = t.account_id AND e.event_id = t.event_id
			ORDER BY t.rule_id, t.at, t.transition_id`)
		return err
	})
	w.must(err)
	return all
}

// staleAfter is how long after the end of what a rule fires for the event of its begin may be stored: an interval, and what a
// busy machine needs.
const staleAfter = every + 10*time.Second

// check checks all transitions that are stored: they alternate, nothing began twice, nothing ended without proof, and no event
// is about what was over.
func (w *world) check() {
	w.t.Helper()
	all := w.transitions()
	w.source.mu.Lock()
	defer w.source.mu.Unlock()
	for rule, list := range all {
		var paged []transition
		begins := 0
		for n, t := range list {
			ends := evaluate.To(t.to).Ends()
			if ends != (n%2 == 1) {
				w.t.Errorf("rule %d: its transition %d is %s: %s", rule, n, t.to, w.story(rule, list))
				break
			}
			if !ends {
				begins++
			}
			if t.event != "" {
				paged = append(paged, t)
			}
			if w.source.high(rule, t.at) == ends && !w.source.ahead(rule, t.at, !ends) {
				w.t.Errorf("rule %d: the %s at %s has no proof: %s", rule, t.to, clockOf(t.at), w.story(rule, list))
			}
			if !w.answered(rule, t, !ends) {
				w.t.Errorf("rule %d: the %s at %s has no answer: %s", rule, t.to, clockOf(t.at), w.story(rule, list))
			}
		}
		if times := (len(w.source.flips[rule]) + 1) / 2; begins > times {
			w.t.Errorf("rule %d began %d times, want %d at most: %s", rule, begins, times, w.story(rule, list))
		}
		slices.SortStableFunc(paged, func(a, b transition) int { return a.received.Compare(b.received) })
		for n, t := range paged {
			if evaluate.To(t.to).Ends() != (n%2 == 1) {
				w.t.Errorf("rule %d: its event %d is %s: %s", rule, n, t.to, w.story(rule, list))
			}
			if n%2 == 0 && !w.recent(rule, t.received) {
				w.t.Errorf("rule %d: a person is notified at %s of what is over: %s", rule, clockOf(t.received), w.story(rule, list))
			}
		}
	}
}

// answered reports whether the datasource has returned an answer that proves a transition.
func (w *world) answered(rule int, t transition, high bool) bool {
	return slices.ContainsFunc(w.source.asked[rule], func(a asked) bool {
		return a.high == high && (t.received.IsZero() || a.at.Before(t.received))
	})
}

// recent reports whether a series was too high shortly before a moment.
func (w *world) recent(rule int, at time.Time) bool {
	if w.source.high(rule, at) {
		return true
	}
	return slices.ContainsFunc(w.source.flips[rule], func(flip time.Time) bool {
		return flip.Before(at) && at.Sub(flip) < staleAfter
	})
}

func clockOf(t time.Time) string { return t.Format("15:04:05.000") }

// story returns what is known of a rule.
func (w *world) story(rule int, list []transition) (text string) {
	text = "it changed at"
	for _, flip := range w.source.flips[rule] {
		text += " " + clockOf(flip)
	}
	for _, t := range list {
		text += fmt.Sprintf("; %s by %s at %s", t.to, t.edge, clockOf(t.at))
		if t.event != "" {
			text += " stored " + clockOf(t.received)
		}
	}
	return text
}
