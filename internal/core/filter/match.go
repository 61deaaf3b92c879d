package filter

// Trace reports why a filter matched or not: group by group, clause by clause,
// all of them, also those that could not change the result any more.
type Trace []GroupTrace

// GroupTrace is the part of a Trace that one group has.
type GroupTrace struct {
	Matched bool          `json:"matched"`
	Clauses []ClauseTrace `json:"clauses"`
}

// ClauseTrace is one comparison.
type ClauseTrace struct {
	Condition
	Field   string `json:"field"`   // what was read: "severity" or "labels.host"
	Present bool   `json:"present"` // whether it was there
	Value   string `json:"value"`   // what it was
	Hit     int    `json:"hit"`     // which of Vals matched it first, -1 if none
	Matched bool   `json:"matched"` // whether the condition was met
}

// Match reports whether the filter matches. If trace is not nil it is filled
// with the reasons; without one, Match stops as soon as the result is known.
func (m *Matcher) Match(fields Fields, trace *Trace) bool { return m.Within(nil, fields, trace) }

// Within is Match within the steps that the meter has left. A filter that wants
// more does not match, and its trace ends there.
func (m *Matcher) Within(meter *Meter, fields Fields, trace *Trace) bool {
	if trace != nil {
		*trace = make(Trace, 0, len(m.groups))
	}
	matched := len(m.groups) == 0
	for _, group := range m.groups {
		if !meter.Spend(1) {
			return false
		}
		if trace != nil {
			g := explain(meter, group, fields)
			*trace = append(*trace, g)
			matched = matched || g.Matched
		} else if all(meter, group, fields) {
			matched = true
			break
		}
	}
	return matched && !meter.Over()
}

func all(meter *Meter, group []clause, fields Fields) bool {
	for i := range group {
		if _, _, _, met := group[i].compare(meter, fields); !met {
			return false
		}
	}
	return true
}

func explain(meter *Meter, group []clause, fields Fields) GroupTrace {
	t := GroupTrace{Matched: true, Clauses: make([]ClauseTrace, 0, len(group))}
	for i := range group {
		c := &group[i]
		value, present, hit, met := c.compare(meter, fields)
		if meter.Over() {
			t.Matched = false
			break
		}
		field := c.field
		if c.label {
			field = labelPrefix + field
		}
		t.Clauses = append(t.Clauses, ClauseTrace{c.Condition, field, present, value, hit, met})
		t.Matched = t.Matched && met
	}
	return t
}

// compare returns the value of the clause's field, whether it is there, which
// of the clause's values matches it first, or -1, and whether the condition is
// met; a condition for which the meter has not enough steps is not.
func (c *clause) compare(meter *Meter, fields Fields) (value string, present bool, hit int, met bool) {
	if c.label {
		value, present = fields.Label(c.field)
	} else {
		value, present = fields.Field(c.field)
	}
	hit = -1
	if present {
		hit = c.first(meter, value)
	}
	switch c.Oper {
	case In:
		met = hit >= 0
	case NotIn:
		met = hit < 0
	}
	return value, present, hit, met && !meter.Over()
}

func (c *clause) first(meter *Meter, value string) int {
	for i, matches := range c.tests {
		if !meter.Spend(c.sizes[i].of(value)) {
			return -1
		}
		if matches(value) {
			return i
		}
	}
	return -1
}
