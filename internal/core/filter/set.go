package filter

import (
	"slices"
	"strings"

	"tocsin/internal/core/sentence"
)

// Set is many filters that are asked about the same fields, made ready so that asking costs what may match
// and not what there is: a filter whose every group wants a field to be one of some exact values is found by
// that value.
//
// It is safe for concurrent use.
type Set struct {
	matchers []*Matcher
	always   []int     // filters that must be asked in any case
	byField  []indexed // fields by which others are found, in the order of their first use
}

// indexed finds filters by the exact value of one field.
type indexed struct {
	key     clause           // reads the field
	filters map[string][]int // by value
	all     []int            // those that can be found here
}

// NewSet compiles filters and keeps their order. A filter that is not well formed behaves as Compile describes.
func NewSet(filters []Filter) *Set {
	s := &Set{}
	for i, f := range filters {
		m, _ := Compile(f)
		s.matchers = append(s.matchers, m)
		if keys := exact(m); keys != nil {
			for _, c := range keys {
				s.add(*c, i)
			}
		} else {
			s.always = append(s.always, i)
		}
	}
	return s
}

// exact returns for each group a clause by whose values the filter can be found; nil when a group has none.
func exact(m *Matcher) (keys []*clause) {
	for _, group := range m.groups {
		var best *clause
		for i := range group {
			c := &group[i]
			if c.Oper != In || !slices.ContainsFunc(c.Vals, isExact) || slices.ContainsFunc(c.Vals, func(v string) bool { return !isExact(v) }) {
				continue
			}
			if best == nil || c.label && !best.label { // labels separate more alerts than severities do
				best = c
			}
		}
		if best == nil {
			return nil
		}
		keys = append(keys, best)
	}
	return keys
}

// isExact reports whether a value matches itself and nothing else.
func isExact(val string) bool {
	return !strings.ContainsAny(val, "*?") && !strings.HasPrefix(val, "cidr:") && !strings.HasPrefix(val, "num:") &&
		!(len(val) > 1 && strings.HasPrefix(val, "/") && strings.HasSuffix(val, "/"))
}

func (s *Set) add(c clause, filter int) {
	at := slices.IndexFunc(s.byField, func(x indexed) bool { return x.key.label == c.label && x.key.field == c.field })
	if at < 0 {
		at = len(s.byField)
		s.byField = append(s.byField, indexed{key: c, filters: map[string][]int{}})
	}
	x := &s.byField[at]
	for _, val := range c.Vals {
		if list := x.filters[val]; len(list) == 0 || list[len(list)-1] != filter {
			x.filters[val] = append(list, filter)
		}
	}
	if len(x.all) == 0 || x.all[len(x.all)-1] != filter {
		x.all = append(x.all, filter)
	}
}

// Candidates lists the filters that may match, in order: all others do not.
func (s *Set) Candidates(fields Fields) []int {
	list := slices.Clone(s.always)
	for i := range s.byField {
		if value, ok := s.byField[i].read(fields); ok {
			list = append(list, s.byField[i].filters[value]...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Match asks one filter of the set; see Matcher.Match.
func (s *Set) Match(i int, fields Fields, trace *Trace) bool {
	return s.matchers[i].Match(fields, trace)
}

// Ask asks one filter of the set within the budget of a rule; see Meter.Ask.
func (s *Set) Ask(meter *Meter, i int, fields Fields) (matched bool, why sentence.Value) {
	return meter.Ask(s.matchers[i], fields)
}

// Len is how many filters there are.
func (s *Set) Len() int { return len(s.matchers) }

// Passed returns in words why the filters that are no candidates cannot match: one sentence for each field that
// excluded some.
func (s *Set) Passed(fields Fields, candidates []int) (why []sentence.Value) {
	for i := range s.byField {
		n := len(s.byField[i].all)
		for _, f := range candidates {
			if _, found := slices.BinarySearch(s.byField[i].all, f); found {
				n--
			}
		}
		if n == 0 {
			continue
		}
		value, ok := s.byField[i].read(fields)
		if ok {
			why = append(why, sentence.New("fewer_rules", s.byField[i].name(), value, n))
		} else {
			why = append(why, sentence.New("fewer_rules_absent", s.byField[i].name(), n))
		}
	}
	return why
}

func (x *indexed) read(fields Fields) (string, bool) {
	if x.key.label {
		return fields.Label(x.key.field)
	}
	return fields.Field(x.key.field)
}

func (x *indexed) name() string {
	if x.key.label {
		return labelPrefix + x.key.field
	}
	return x.key.field
}
