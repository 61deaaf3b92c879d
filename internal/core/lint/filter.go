package lint

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/filter"
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

// Unmatchable returns a sentence for each group of a filter that can never match, behind its path in member. It is exact
// for the fields with few values and for conditions that ask for exact values. It returns nothing about other conditions.
func Unmatchable(member string, f filter.Filter, s Subject) (list []string) {
	for g, group := range f {
		byField, order := byField(group)
		for _, key := range order {
			if neverMet(byField[key], s) {
				list = append(list, fmt.Sprintf("%s[%d]: never matches, no %s meets all conditions on it", member, g, byField[key][0].Key))
			}
		}
	}
	return list
}

// UnknownValues returns a sentence for each value that a field with few values never has, behind its path in member.
func UnknownValues(member string, f filter.Filter, s Subject) (list []string) {
	for g, group := range f {
		for i, c := range group {
			all := s.enumerated(filter.Source(c.Key))
			for v, val := range c.Vals {
				if all == nil || !exact(val) || slices.Contains(all, val) {
					continue
				}
				list = append(list, fmt.Sprintf("%s[%d][%d].vals[%d]: %s is never %.60q, it is one of %s",
					member, g, i, v, c.Key, val, strings.Join(all, ", ")))
			}
		}
	}
	return list
}

// OfGroup returns Unmatchable and UnknownValues of a member that holds one group and no filter.
func OfGroup(member string, group filter.Group, s Subject) (unmatchable, unknown []string) {
	f, first := filter.Filter{group}, member+"[0]"
	unmatchable, unknown = Unmatchable(member, f, s), UnknownValues(member, f, s)
	for _, list := range [][]string{unmatchable, unknown} {
		for i := range list {
			list[i] = strings.Replace(list[i], first, member, 1)
		}
	}
	return unmatchable, unknown
}

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
