package lint

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// Subject is what a filter is matched against.
type Subject int

// The subjects.
const (
	OfAlert    Subject = iota // an event, by routes, pipelines and the rules of a channel
	OfIncident                // an incident, by escalation rules
)

// enumerated returns all values of a built-in field that has few; nil for any other field.
func (s Subject) enumerated(label bool, name string) []string {
	switch {
	case label:
		return nil
	case name == "severity" && s == OfIncident:
		return Severities
	case name == "severity", name == "status" && s == OfAlert:
		return []string{"Critical", "Warning", "Info", "Ok"}
	case name == "status":
		return []string{"Triggered", "Processing", "Closed"}
	}
	return nil
}

// mayLack reports whether a field can be absent.
func (s Subject) mayLack(label bool, name string) bool {
	if label {
		return true
	}
	switch name {
	case "severity", "status", "title", "description":
		return false
	case "title_rule", "alert_key", "integration_id":
		return s == OfIncident
	}
	return true
}

// FilterWarnings returns what is probably not meant in a filter, for the one who writes it as a member: groups that can never
// match, and values that their fields never have.
func FilterWarnings(member string, f filter.Filter, s Subject) []string {
	return warnings(place{member: member}, f, s)
}

// GroupWarnings is FilterWarnings of a member that holds one group and no filter.
func GroupWarnings(member string, group filter.Group, s Subject) []string {
	return warnings(place{member: member, flat: true}, filter.Filter{group}, s)
}

func warnings(at place, f filter.Filter, s Subject) (texts []string) {
	for _, says := range append(unmatchable(at, f, s), unknownValues(at, f, s)...) {
		texts = append(texts, says.English())
	}
	return texts
}

// place is where a filter is written.
type place struct {
	of     sentence.Value // the object that has it; empty: the reader knows which
	member string         // of the object
	flat   bool           // the member holds one group and no filter
}

// path returns where a part of a group is.
func (p place) path(group int, part string) sentence.Value {
	path := p.member
	if !p.flat {
		path += fmt.Sprintf("[%d]", group)
	}
	path += part
	if p.of == "" {
		return sentence.Raw(path)
	}
	return sentence.New("l_member", p.of, path)
}

// unmatchable returns a sentence for each group of a filter that can never match. It is exact for the fields with few values
// and for conditions that ask for exact values. It returns nothing about other conditions.
func unmatchable(at place, f filter.Filter, s Subject) (list []sentence.Value) {
	for g, group := range f {
		byField, order := byField(group)
		for _, key := range order {
			if neverMet(byField[key], s) {
				list = append(list, sentence.New("l_never_matches", at.path(g, ""), byField[key][0].Key))
			}
		}
	}
	return list
}

// unknownValues returns a sentence for each value that a field with few values never has.
func unknownValues(at place, f filter.Filter, s Subject) (list []sentence.Value) {
	for g, group := range f {
		for i, c := range group {
			all := s.enumerated(filter.Source(c.Key))
			for v, val := range c.Vals {
				if all == nil || !exact(val) || slices.Contains(all, val) {
					continue
				}
				list = append(list, sentence.New("l_never_value", at.path(g, fmt.Sprintf("[%d].vals[%d]", i, v)), c.Key, shown(val), all))
			}
		}
	}
	return list
}

// shown returns as much of a value of a condition as a sentence shows.
func shown(value string) string { return fmt.Sprintf("%.60s", value) }

// Everything reports whether a filter provably matches every subject.
func Everything(f filter.Filter, s Subject) bool {
	one := newSearch([]filter.Filter{f}, s, "", nil)
	_, found := one.unmatched()
	return !found && one.complete
}

// byField returns the conditions of a group by the field that they read, and the fields in the order of their first
// condition.
func byField(group filter.Group) (byField map[string][]filter.Condition, order []string) {
	byField = map[string][]filter.Condition{}
	for _, c := range group {
		key := fieldKey(filter.Source(c.Key))
		if byField[key] == nil {
			order = append(order, key)
		}
		byField[key] = append(byField[key], c)
	}
	return byField, order
}

// fieldKey returns the key of a field in a subject. A label and a built-in field of one name have different keys.
func fieldKey(label bool, name string) string { return fmt.Sprint(label, name) }

// neverMet reports whether no value of a field meets all conditions on it. It tries the values that the field can have:
// those of an enumeration, or those that an exact condition wants.
func neverMet(all []filter.Condition, s Subject) bool {
	label, name := filter.Source(all[0].Key)
	values := s.enumerated(label, name)
	for _, c := range all {
		if values == nil && c.Oper == filter.In && !slices.ContainsFunc(c.Vals, func(v string) bool { return !exact(v) }) {
			values = c.Vals
		}
	}
	if values == nil {
		return false
	}
	m, err := filter.Compile(filter.Filter{all})
	if err != nil {
		return false // a stored filter beyond the bounds
	}
	return !slices.ContainsFunc(values, func(v string) bool {
		return m.Match(subject{fieldKey(label, name): v}, nil)
	})
}

// exact reports whether a value of a condition matches only itself.
func exact(v string) bool {
	return !strings.ContainsAny(v, "*?") && !strings.HasPrefix(v, "cidr:") && !strings.HasPrefix(v, "num:") &&
		!(len(v) >= 2 && v[0] == '/' && v[len(v)-1] == '/')
}

// subject is made up for a search: values by fieldKey.
type subject map[string]string

// Field returns a built-in field.
func (s subject) Field(name string) (string, bool) { v, ok := s[fieldKey(false, name)]; return v, ok }

// Label returns a label.
func (s subject) Label(name string) (string, bool) { v, ok := s[fieldKey(true, name)]; return v, ok }
