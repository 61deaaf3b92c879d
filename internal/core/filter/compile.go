package filter

import (
	"fmt"
	"strings"

	"tocsin/internal/platform/fault"
)

// labelPrefix is the start of a key that reads a label even if a built-in field
// has the same name.
const labelPrefix = "labels."

// Matcher is a compiled filter. It is safe for concurrent use.
type Matcher struct {
	groups [][]clause
}

// clause is a compiled condition.
type clause struct {
	Condition
	label bool
	field string // the name of the label or built-in field that it reads
	tests []test // one for each of Vals
	sizes []size // of tests
}

// Compile compiles f. The error is the first malformed part, or the value that
// takes the filter beyond MaxInstructions. The matcher works even then, because
// a stored filter must be evaluated: a value that is malformed or beyond the
// bound matches nothing, and an unknown operator is never met. Check holds the
// other bounds, and the exact number of instructions.
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

// compiler compiles the conditions of one filter.
type compiler struct {
	count func(expr string, most int) (int, error)
	first *Error // the first thing that is wrong
	used  int    // instructions so far
}

// wrong stores an error, unless there is one already: Compile returns the first.
func (c *compiler) wrong(path, value, want string) {
	if c.first == nil {
		c.first = &Error{Path: path, Value: value, Want: fault.NewClause("%s", want)}
	}
}

func (c *compiler) clause(path string, condition Condition) clause {
	n := len(condition.Vals)
	cl := clause{Condition: condition, tests: make([]test, n), sizes: make([]size, n)}
	cl.label, cl.field = Source(condition.Key)
	if cl.field == "" {
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
		cl.tests[i] = matches
		switch {
		case want != "":
			c.wrong(fmt.Sprintf("%svals[%d]", path, i), val, want)
		case cost <= MaxInstructions-c.used:
			c.used += cost
			cl.sizes[i] = sizeOf(val)
		case c.first == nil:
			c.first = tooMany(fmt.Sprintf("%svals[%d]", path, i),
				"instructions in the compiled regular expressions of the filter", c.used+cost, MaxInstructions)
		}
	}
	return cl
}

// Source returns what a key reads: the label, or the built-in field, of that name.
func Source(key string) (label bool, name string) {
	if name, ok := strings.CutPrefix(key, labelPrefix); ok {
		return true, name
	}
	if name, ok := builtin[key]; ok {
		return false, name
	}
	return true, key
}

// Read returns what a key reads: a field, an alias of a field, or a label. ok is false when it is absent.
func Read(fields Fields, key string) (value string, ok bool) {
	label, name := Source(key)
	if label {
		return fields.Label(name)
	}
	return fields.Field(name)
}
