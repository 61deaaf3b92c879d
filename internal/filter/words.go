package filter

import (
	"fmt"
	"strings"
)

// Why says in words which conditions led to the result: of a filter that matched those of the first group that
// did, else the first of each group that was not met.
func (t Trace) Why() string {
	if len(t) == 0 {
		return "it has no conditions"
	}
	var missed []string
	for _, g := range t {
		if g.Matched {
			return join(g.Clauses)
		}
		for _, c := range g.Clauses {
			if !c.Matched {
				missed = append(missed, c.words())
				break
			}
		}
	}
	return strings.Join(missed, "; ")
}

func join(clauses []ClauseTrace) string {
	all := make([]string, len(clauses))
	for i, c := range clauses {
		all[i] = c.words()
	}
	return strings.Join(all, " and ")
}

// words says one comparison, such as: severity is "Info", not IN Critical, Warning.
func (c ClauseTrace) words() string {
	is, not := fmt.Sprintf("is %q", c.Value), ""
	if !c.Present {
		is = "is not there"
	}
	if !c.Matched {
		not = "not "
	}
	return fmt.Sprintf("%s %s, %s%s %s", c.Field, is, not, c.Oper, strings.Join(c.Vals, ", "))
}
