package evaluate

import (
	"strings"

	"tocsin/internal/core/condition"
	"tocsin/internal/core/sentence"
)

// why returns the reasons of a transition beside its clauses. The instance is as it was before.
func (w *Watch) why(s *signal, to To) []sentence.Value {
	c := &w.checks[s.check]
	switch to {
	case Begin, Rise:
		if s.check == nodata {
			return append(c.seen(s), sentence.New("mon_missing_times", c.begin))
		}
		return append(c.seen(s), sentence.New("mon_reached", s.instance.reached(c.begin), c.begin))
	case Fall:
		return append(c.seen(s), sentence.New("mon_below", s.instance.severity, c.end))
	case Recovered:
		return []sentence.Value{c.recoveredBy(), sentence.New("mon_recovered_times", c.end)}
	case Gone:
		return []sentence.Value{sentence.New("mon_missing"), sentence.New("mon_missing_times", max(c.end, 2))}
	case Closed:
		return []sentence.Value{notSeen(int64(c.timeout.Seconds()))}
	}
	return []sentence.Value{sentence.New("mon_open")}
}

// seen returns what an answer of a check without expressions was.
func (c *check) seen(s *signal) []sentence.Value {
	switch {
	case s.check == anydata:
		return []sentence.Value{sentence.New("mon_row")}
	case s.check == nodata:
		return []sentence.Value{sentence.New("mon_missing")}
	}
	return nil
}

// recoveredBy returns what proved a recovery.
func (c *check) recoveredBy() sentence.Value {
	switch {
	case c.mode == "ql":
		return sentence.New("mon_recovery_row")
	case c.kind == nodata:
		return sentence.New("mon_back")
	case c.kind == anydata:
		return sentence.New("mon_no_row")
	case c.mode == "threshold":
		return sentence.New("mon_condition")
	}
	return sentence.New("mon_no_severity")
}

// holds returns a clause in words. Values that differ by less than is shown are shown whole.
func holds(c condition.Clause) sentence.Value {
	left := c.Left.String()
	right := c.Right.String()
	if left == right && c.Left != c.Right {
		exact, _ := c.Left.MarshalText() // never fails
		left = string(exact)
		exact, _ = c.Right.MarshalText()
		right = string(exact)
	}
	if c.Truth == condition.True {
		return sentence.New("mon_holds", c.Text, left, c.Op, right)
	}
	return sentence.New("mon_not_holds", c.Text, left, c.Op, right)
}

func notSeen(seconds int64) sentence.Value {
	switch {
	case seconds%86400 == 0:
		return sentence.New("mon_not_seen_days", seconds/86400)
	case seconds%60 == 0:
		return sentence.New("mon_not_seen_minutes", seconds/60)
	}
	return sentence.New("mon_not_seen_seconds", seconds)
}

// changed returns why an instance was closed by a change of the rule: its check is off, or its series is not asked for.
func (w *Watch) changed(off bool) sentence.Value {
	person := w.rule.ChangedBy
	switch {
	case off && person == "":
		return sentence.New("mon_check_off")
	case off:
		return sentence.New("mon_check_off_by", person)
	case person == "":
		return sentence.New("mon_changed")
	}
	return sentence.New("mon_changed_by", person)
}

// cut returns at most n bytes of a text.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
