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

// Compile makes f ready. The error is that of Check, and the matcher works
// even then, because a filter that was stored must be evaluated: a value that
// is not well formed matches nothing, an operator that is not known is never
// met.
func Compile(f Filter) (*Matcher, error) {
	var first error
	wrong := func(path, value, want string) {
		if first == nil {
			first = &Error{Path: path, Value: value, Want: want}
		}
	}
	m := &Matcher{groups: make([][]clause, len(f))}
	for g, group := range f {
		if len(group) == 0 {
			wrong(fmt.Sprintf("[%d]", g), "[]", "must have at least one condition")
		}
		m.groups[g] = make([]clause, len(group))
		for i, condition := range group {
			m.groups[g][i] = compile(condition, func(member, value, want string) {
				wrong(fmt.Sprintf("[%d][%d].%s", g, i, member), value, want)
			})
		}
	}
	return m, first
}

func compile(condition Condition, wrong func(member, value, want string)) clause {
	c := clause{Condition: condition, tests: make([]test, len(condition.Vals)), sizes: make([]size, len(condition.Vals))}
	c.label, c.field = source(condition.Key)
	if c.field == "" {
		wrong("key", condition.Key, "must name a field or, after labels., a label")
	}
	if condition.Oper != In && condition.Oper != NotIn {
		wrong("oper", condition.Oper, "must be IN or NOTIN")
	}
	if len(condition.Vals) == 0 {
		wrong("vals", "[]", "must have at least one value")
	}
	for i, val := range condition.Vals {
		var want string
		if c.tests[i], want = parse(val); want != "" {
			wrong(fmt.Sprintf("vals[%d]", i), val, want)
		}
		c.sizes[i] = sizeOf(val)
	}
	return c
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
