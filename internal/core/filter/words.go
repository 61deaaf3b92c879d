package filter

import (
	"fmt"
	"strings"
)

// The bounds of what Why shows of a filter and of a field: it is stored with every event.
const (
	shownGroups = 5   // groups, conditions and values, each
	shownText   = 100 // bytes of a value
)

// Why returns in words the conditions that led to the result. For a filter that matched these are the conditions of
// the first group that matched, else the first unmet condition of each group. It shows the first 5 of each list.
func (t Trace) Why() string {
	if len(t) == 0 {
		return "it has no conditions"
	}
	var missed []string
	more := 0
	for _, g := range t {
		if g.Matched {
			return join(g.Clauses)
		}
		if len(missed) == shownGroups {
			more++
			continue
		}
		for _, c := range g.Clauses {
			if !c.Matched {
				missed = append(missed, c.words())
				break
			}
		}
	}
	return strings.Join(missed, "; ") + others(more, "; ", "groups")
}

func join(clauses []ClauseTrace) string {
	shown := make([]string, min(len(clauses), shownGroups))
	for i := range shown {
		shown[i] = clauses[i].words()
	}
	return strings.Join(shown, " and ") + others(len(clauses)-len(shown), " and ", "conditions")
}

// words returns one comparison, such as: severity is "Info", not IN Critical, Warning.
func (c ClauseTrace) words() string {
	is, not := fmt.Sprintf("is %q", cut(c.Value)), ""
	if !c.Present {
		is = "is not there"
	}
	if !c.Matched {
		not = "not "
	}
	shown := make([]string, min(len(c.Vals), shownGroups))
	for i := range shown {
		shown[i] = cut(c.Vals[i])
	}
	more := others(len(c.Vals)-len(shown), ", ", "values")
	return fmt.Sprintf("%s %s, %s%s %s%s", cut(c.Field), is, not, c.Oper, strings.Join(shown, ", "), more)
}

// others returns the number of elements that are not shown, in words; empty: none.
func others(n int, separator, what string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%s%d more %s", separator, n, what)
}

// cut shortens a text to at most 100 bytes and an ellipsis.
func cut(s string) string {
	if len(s) <= shownText {
		return s
	}
	return strings.ToValidUTF8(s[:shownText], "") + "..."
}
