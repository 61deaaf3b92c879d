package filter

import (
	"fmt"
	"strings"
)

// labelPrefix begins a key that reads a label even if a built-in field has the
// same name.
const labelPrefix = "labels."

// Matcher is a filter made ready. It is safe for concurrent use.
type Matcher struct {
	groups [][]clause
}

// clause is a condition made ready.
type clause struct {
	Condition
	label bool
	field string // the name of the label or built-in field that it reads
	tests []test // as Vals
	sizes []size // of tests
}

// Compile makes f ready. The error is the first thing that is not well formed,
// or the value that takes the filter beyond MaxInstructions, and the matcher
// works even then, because a filter that was stored must be evaluated: a value
// that is not well formed, or beyond the bound, matches nothing, an operator
// that is not known is never met. The other bounds, and the exact number of
// instructions, are for Check to hold.
func Compile(f Filter) (*Matcher, error) { return compile(f, atLeast) }

// compile counts the instructions of expressions with count.
func compile(f Filter, count func(expr string, most int) (int, error)) (*Matcher, error) {
	c := compiler{count: count}
	m := &Matcher{groups: make([][]clause, len(f))}
	for g, group := range f {
		if len(group) == 0 {
			c.wrong(fmt.Sprintf("[%d]", g), "[]", "must have at least one condition")
		}
		m.groups[g] = make([]clause, len(group))
		for i, condition := range group {
			m.groups[g][i] = c.clause(fmt.Sprintf("[%d][%d].", g, i), condition)
		}
	}
	if c.first == nil {
		return m, nil // not c.first, which is no nil error
	}
	return m, c.first
}

// compiler makes the conditions of one filter ready.
type compiler struct {
	count func(expr string, most int) (int, error)
	first *Error // the first thing that is wrong
	used  int    // instructions so far
}

func (c *compiler) wrong(path, value, want string) {
	if c.first == nil {
		c.first = &Error{Path: path, Value: value, Want: want}
	}
}

func (c *compiler) clause(path string, condition Condition) clause {
	made := clause{Condition: condition, tests: make([]test, len(condition.Vals)), sizes: make([]size, len(condition.Vals))}
	made.label, made.field = source(condition.Key)
	if made.field == "" {
		c.wrong(path+"key", condition.Key, "must name a field or, after labels., a label")
	}
	if condition.Oper != In && condition.Oper != NotIn {
		c.wrong(path+"oper", condition.Oper, "must be IN or NOTIN")
	}
	if len(condition.Vals) == 0 {
		c.wrong(path+"vals", "[]", "must have at least one value")
	}
	for i, val := range condition.Vals {
		matches, cost, want := parse(val, MaxInstructions-c.used, c.count)
		made.tests[i] = matches
		switch {
		case want != "":
			c.wrong(fmt.Sprintf("%svals[%d]", path, i), val, want)
		case cost <= MaxInstructions-c.used:
			c.used += cost
			made.sizes[i] = sizeOf(val)
		case c.first == nil:
			c.first = tooMany(fmt.Sprintf("%svals[%d]", path, i), "instructions in the compiled regular expressions of the filter", c.used+cost, MaxInstructions)
		}
	}
	return made
}

func source(key string) (label bool, name string) {
	if name, ok := strings.CutPrefix(key, labelPrefix); ok {
		return true, name
	}
	if name, ok := builtin[key]; ok {
		return false, name
	}
	return true, key
}

// Read gives what a key reads: a field, an alias of one, or a label.
func Read(fields Fields, key string) (value string, ok bool) {
	label, name := source(key)
	if label {
		return fields.Label(name)
	}
	return fields.Field(name)
}
