package lint

import (
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// maxTried is the most subjects that one search makes up.
const maxTried = 512

// otherValue stands for all values that no condition names.
const otherValue = "¿ another value ?"

// search looks for a subject that no filter matches, or that one matches. It makes up subjects from the values that the
// filters name, one more that stands for all others, and none. All other subjects are the same to filters of exact
// values, so the search is then a proof if it is complete. A subject that it finds is real in any case.
type search struct {
	matchers []*filter.Matcher
	meter    *filter.Meter
	fields   []field
	fixed    subject
	complete bool // not finding a subject proves that there is none
}

// field is a field that the filters read, with the values to try; nil stands for its absence.
type field struct {
	key, shown string
	values     []*string
}

// newSearch returns a search over incidents or alerts of a severity, empty: of any. The meter bounds what matching may
// cost; nil: no bound.
func newSearch(filters []filter.Filter, s Subject, severity string, meter *filter.Meter) *search {
	q := &search{meter: meter, fixed: subject{}, complete: true}
	at := map[string]int{}
	if severity != "" {
		q.fixed[fieldKey(false, "severity")] = severity
	}
	for _, f := range filters {
		m, err := filter.Compile(f)
		q.complete = q.complete && err == nil
		q.matchers = append(q.matchers, m)
		for _, group := range f {
			for _, c := range group {
				q.read(c, s, at)
			}
		}
	}
	return q
}

// read adds what one condition reads to the fields.
func (q *search) read(c filter.Condition, s Subject, at map[string]int) {
	label, name := filter.Source(c.Key)
	key := fieldKey(label, name)
	if _, fixed := q.fixed[key]; fixed {
		return
	}
	enumerated := s.enumerated(label, name)
	i, known := at[key]
	if !known {
		i = len(q.fields)
		at[key] = i
		f := field{key: key, shown: c.Key}
		if s.mayLack(label, name) {
			f.values = append(f.values, nil)
		}
		if enumerated == nil {
			f.values = append(f.values, new(otherValue))
		}
		for _, v := range enumerated {
			f.values = append(f.values, &v)
		}
		q.fields = append(q.fields, f)
	}
	if enumerated != nil {
		return
	}
	for _, v := range c.Vals {
		switch {
		case exact(v):
			q.fields[i].add(v)
		case !universal(v):
			q.complete = false
			q.fields[i].add(witness(v))
		}
	}
}

// add adds a value to those that are tried, once.
func (f *field) add(v string) {
	for _, have := range f.values {
		if have != nil && *have == v {
			return
		}
	}
	f.values = append(f.values, &v)
}

// unmatched returns a subject that no filter matches.
func (q *search) unmatched() (subject, bool) {
	return q.find(func(s subject) bool {
		for _, m := range q.matchers {
			q.meter.Begin()
			if m.Within(q.meter, s, nil) {
				return false
			}
		}
		return true
	})
}

// matched reports whether a subject that some filter matches is found.
func (q *search) matched() bool {
	_, found := q.find(func(s subject) bool {
		for _, m := range q.matchers {
			q.meter.Begin()
			if m.Within(q.meter, s, nil) {
				return true
			}
		}
		return false
	})
	return found
}

// find tries subjects, the emptiest first, and returns the first that is wanted. It ends at maxTried, or when the meter
// has no steps left.
func (q *search) find(wanted func(subject) bool) (subject, bool) {
	chosen := make([]int, len(q.fields))
	for tried := 0; ; tried++ {
		if tried == maxTried {
			q.complete = false
			return nil, false
		}
		s := subject{}
		for key, v := range q.fixed {
			s[key] = v
		}
		for i, f := range q.fields {
			if v := f.values[chosen[i]]; v != nil {
				s[f.key] = *v
			}
		}
		ok := wanted(s)
		if q.meter.Over() {
			q.complete = false
			return nil, false
		}
		if ok {
			return s, true
		}
		i := 0
		for ; i < len(chosen); i++ {
			if chosen[i]++; chosen[i] < len(q.fields[i].values) {
				break
			}
			chosen[i] = 0
		}
		if i == len(chosen) {
			return nil, false
		}
	}
}

// words describes a subject by the fields that the filters read.
func (q *search) words(s subject) (parts []sentence.Value) {
	for _, f := range q.fields {
		v, present := s[f.key]
		switch {
		case !present:
			parts = append(parts, sentence.New("l_without", f.shown))
		case v == otherValue:
			parts = append(parts, sentence.New("l_with_other", f.shown))
		default:
			parts = append(parts, sentence.New("l_with", f.shown, shown(v)))
		}
		if len(parts) == 5 && len(q.fields) > 5 {
			return append(parts, sentence.New("l_more_fields", len(q.fields)-5))
		}
	}
	return parts
}
