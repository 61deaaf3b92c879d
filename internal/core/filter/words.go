package filter

import (
	"fmt"
	"strings"
)

// How much of a filter and of a field Why shows: it is kept with every event.
const (
	shownGroups = 5   // groups, conditions and values, each
	shownText   = 100 // bytes of a value
)

// Why says in words which conditions led to the result: of a filter that matched those of the first group that
// did, else the first of each group that was not met. It shows the first few of many.
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

// words says one comparison, such as: severity is "Info", not IN Critical, Warning.
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
	return fmt.Sprintf("%s %s, %s%s %s%s", cut(c.Field), is, not, c.Oper, strings.Join(shown, ", "), others(len(c.Vals)-len(shown), ", ", "values"))
}

// others counts what is not shown.
func others(n int, separator, what string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("%s%d more %s", separator, n, what)
}

// cut shortens a text that is shown.
func cut(s string) string {
	if len(s) <= shownText {
		return s
	}
	return strings.ToValidUTF8(s[:shownText], "") + "..."
}
