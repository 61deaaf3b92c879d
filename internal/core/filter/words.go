package filter

import (
	"strings"

	"tocsin/internal/core/sentence"
)

// The bounds of what Why shows of a filter and of a field: it is stored with every event.
const (
	shownGroups = 5   // groups, conditions and values, each
	shownText   = 100 // bytes of a value
)

// Why returns the conditions that led to the result. For a filter that matched these are the conditions of the first group
// that matched, else the first unmet condition of each group. It shows the first 5 of each list.
func (t Trace) Why() sentence.Value {
	if len(t) == 0 {
		return sentence.New("no_conditions")
	}
	var missed []sentence.Value
	more := 0
	for _, g := range t {
		if g.Matched {
			return join(g.Clauses, shownGroups)
		}
		if len(missed) == shownGroups {
			more++
			continue
		}
		for i := range g.Clauses {
			if c := &g.Clauses[i]; !c.Matched {
				missed = append(missed, c.why())
				break
			}
		}
	}
	switch more {
	case 0:
	case 1:
		missed = append(missed, sentence.New("more_group"))
	default:
		missed = append(missed, sentence.New("more_groups", more))
	}
	return sentence.Join(missed...)
}

// Conditions is Why, but of a filter of one group that did not match it names every condition: the unmet ones, then the
// met ones. It shows the first 5 of them and counts the rest.
func (t Trace) Conditions() sentence.Value {
	if len(t) != 1 || t[0].Matched {
		return t.Why()
	}
	var lists [2][]ClauseTrace // unmet and met
	for _, c := range t[0].Clauses {
		list := &lists[0]
		if c.Matched {
			list = &lists[1]
		}
		*list = append(*list, c)
	}
	why := join(lists[0], shownGroups)
	if len(lists[1]) > 0 {
		why = sentence.Join(why, sentence.New("and_met", join(lists[1], shownGroups-min(shownGroups, len(lists[0])))))
	}
	return why
}

// join returns clauses with "and" between them; most of them are shown, and the others counted.
func join(clauses []ClauseTrace, most int) (joined sentence.Value) {
	shown := clauses[:min(len(clauses), most)]
	switch more := len(clauses) - len(shown); more {
	case 0:
	case 1:
		joined = sentence.New("more_condition")
	default:
		joined = sentence.New("more_conditions", more)
	}
	for i := len(shown) - 1; i >= 0; i-- {
		why := shown[i].why()
		if joined != "" {
			why = sentence.New("both", why, joined)
		}
		joined = why
	}
	return joined
}

// why returns the clause with the value it saw.
func (c *ClauseTrace) why() (why sentence.Value) {
	shown := c.Vals[:min(len(c.Vals), shownGroups)]
	vals := make([]string, len(shown))
	for i, val := range shown {
		vals[i] = cut(val)
	}
	field, values := cut(c.Field), strings.Join(vals, ", ")
	switch {
	case c.Present && c.Matched:
		why = sentence.New("met", field, c.Value, c.Oper, values)
	case c.Present:
		why = sentence.New("unmet", field, c.Value, c.Oper, values)
	case c.Matched:
		why = sentence.New("met_absent", field, c.Oper, values)
	default:
		why = sentence.New("unmet_absent", field, c.Oper, values)
	}
	switch more := len(c.Vals) - len(shown); more {
	case 0:
		return why
	case 1:
		return sentence.New("more_value", why)
	default:
		return sentence.New("more_values", why, more)
	}
}

func cut(s string) string {
	if len(s) <= shownText {
		return s
	}
	return strings.ToValidUTF8(s[:shownText], "") + "..."
}
