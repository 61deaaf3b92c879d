package filter

import (
	"fmt"
	"strconv"
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
			return join(g.Clauses, shownGroups)
		}
		if len(missed) == shownGroups {
			more++
			continue
		}
		for i := range g.Clauses {
			if c := &g.Clauses[i]; !c.Matched {
				missed = append(missed, c.words())
				break
			}
		}
	}
	return strings.Join(missed, "; ") + others(more, "; ", "groups")
}

// Conditions is Why, but of a filter of one group that did not match it names every condition: the unmet ones, then the
// met ones. It shows the first 5 of them and counts the rest.
func (t Trace) Conditions() string {
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
		why += "; met: " + join(lists[1], shownGroups-min(shownGroups, len(lists[0])))
	}
	return why
}

// join returns comparisons, the first most of them in words.
func join(clauses []ClauseTrace, most int) string {
	b := make([]byte, 0, 256)
	shown := clauses[:min(len(clauses), most)]
	for i := range shown {
		if i > 0 {
			b = append(b, " and "...)
		}
		b = shown[i].appendWords(b)
	}
	more := others(len(clauses)-len(shown), " and ", "conditions")
	if len(shown) == 0 {
		more = strings.TrimPrefix(more, " and ")
	}
	return string(append(b, more...))
}

// words returns one comparison, such as: severity is "Info", not IN Critical, Warning.
func (c *ClauseTrace) words() string { return string(c.appendWords(make([]byte, 0, 128))) }

// appendWords appends words to b. It is called for every rule that an event is compared with, so it does without fmt.
func (c *ClauseTrace) appendWords(b []byte) []byte {
	b = append(b, cut(c.Field)...)
	if c.Present {
		b = strconv.AppendQuote(append(b, " is "...), cut(c.Value))
	} else {
		b = append(b, " is not there"...)
	}
	b = append(b, ", "...)
	if !c.Matched {
		b = append(b, "not "...)
	}
	b = append(b, c.Oper...)
	shown := c.Vals[:min(len(c.Vals), shownGroups)]
	for i, val := range shown {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, ' '), cut(val)...)
	}
	return append(b, others(len(c.Vals)-len(shown), ", ", "values")...)
}

// others returns the number of elements that are not shown, in words; empty: none.
func others(n int, separator, what string) string {
	switch {
	case n <= 0:
		return ""
	case n == 1:
		what = strings.TrimSuffix(what, "s")
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
