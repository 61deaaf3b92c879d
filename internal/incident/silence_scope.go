package incident

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/fault"
)

// byLabels is the value of by for a silence by labels; the other value is for a silence by key.
const byLabels = "labels"

// maxSilencedKeys bounds the alert keys of one silence rule: each event of the channel is compared with them.
const maxSilencedKeys = 500

// usual are the names of the identifying labels that are ticked at first. Usual labels identify the problem and its place,
// but not one of many machines.
var usual = []string{"alertname", "rule_name", "rulename", "service", "cluster", "namespace"}

// SilenceLabel is a label by which a silence can match.
type SilenceLabel struct {
	Name   string `json:"name" doc:"The name of an identifying label."`
	Value  string `json:"value" doc:"Its value, the same in all alerts that are to be silenced."`
	Ticked bool   `json:"ticked" doc:"It is one of the labels of by_labels."`
}

// silenceScope is the material of a silence: some alerts, and the severity up to which the silence holds.
type silenceScope struct {
	keys     []string
	labels   []SilenceLabel // labels that identify every alert, with one value in all alerts: the usual labels first
	severity string         // the highest of the alerts
}

// scopeOf returns the scope of some alerts.
func scopeOf(alerts []decide.Alert) (s silenceScope) {
	s.severity = event.Info
	common, seen := map[string]string{}, map[string]bool{}
	for i := range alerts {
		a := &alerts[i]
		if !seen[a.Key] {
			s.keys, seen[a.Key] = append(s.keys, a.Key), true
		}
		if event.Rank(a.Severity) > event.Rank(s.severity) {
			s.severity = a.Severity
		}
		identity := identityOf(a)
		if i == 0 {
			common = identity
		}
		for name, value := range common {
			if identity[name] != value {
				delete(common, name)
			}
		}
	}
	for name, value := range common {
		s.labels = append(s.labels, SilenceLabel{name, value, slices.Contains(usual, name)})
	}
	slices.SortFunc(s.labels, func(a, b SilenceLabel) int {
		return cmp.Or(cmp.Compare(place(a.Name), place(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return s
}

// place returns the place of a label in a list: the usual labels in their order, then the others.
func place(name string) int {
	if i := slices.Index(usual, name); i >= 0 {
		return i
	}
	return len(usual)
}

// identityOf returns the labels that identify an alert at its source. Labels without a value are left out.
func identityOf(a *decide.Alert) map[string]string {
	identity := map[string]string{}
	for name := range strings.SplitSeq(a.Identifying, ",") {
		if value := a.Labels[name]; value != "" {
			identity[name] = value
		}
	}
	return identity
}

// tick ticks the labels of these names and no others; nil: the usual labels stay ticked. The error is fault.Invalid for a
// name that is not offered, or when no label is ticked.
func (s *silenceScope) tick(names []string) error {
	if names == nil {
		if slices.ContainsFunc(s.labels, func(l SilenceLabel) bool { return l.Ticked }) {
			return nil
		}
		return fault.Invalid("labels", "must have at least 1 of the identifying labels (%s)", s.names())
	}
	if len(names) == 0 {
		return fault.Invalid("labels", "must have at least 1 element, got 0")
	}
	for i, name := range names {
		if !slices.ContainsFunc(s.labels, func(l SilenceLabel) bool { return l.Name == name }) {
			return fault.Invalid("labels", "element %d must be one of the identifying labels (%s), got %.100q", i, s.names(), name)
		}
	}
	for i := range s.labels {
		s.labels[i].Ticked = slices.Contains(names, s.labels[i].Name)
	}
	return nil
}

// choose returns the filter of a silence by key, or by labels of these names; nil: the usual labels. labels are the labels
// of the filter.
func (s *silenceScope) choose(by string, names []string) (f filter.Filter, labels map[string]string, err error) {
	if by != byLabels {
		f, err = s.byKey()
		return f, nil, err
	}
	if err := s.tick(names); err != nil {
		return nil, nil, err
	}
	f, err = s.byLabels()
	return f, s.ticked(), err
}

// names lists the labels that can be ticked, for errors.
func (s *silenceScope) names() string {
	names := make([]string, len(s.labels))
	for i, l := range s.labels {
		names[i] = l.Name
	}
	return cmp.Or(strings.Join(names, ", "), "there are none")
}

// ticked returns the labels that are ticked.
func (s *silenceScope) ticked() map[string]string {
	labels := map[string]string{}
	for _, l := range s.labels {
		if l.Ticked {
			labels[l.Name] = l.Value
		}
	}
	return labels
}

// byKey returns the filter of a silence by key.
func (s *silenceScope) byKey() (filter.Filter, error) {
	if len(s.keys) > maxSilencedKeys {
		return nil, fault.Invalid("by", "key covers at most %d alert keys, and the incident has open alerts of %d: choose labels",
			maxSilencedKeys, len(s.keys))
	}
	condition := filter.Condition{Key: "alert_key", Oper: filter.In}
	for _, key := range s.keys {
		condition.Vals = append(condition.Vals, filter.Exact(key))
	}
	return s.filter(filter.Group{condition})
}

// byLabels returns the filter of a silence by the ticked labels.
func (s *silenceScope) byLabels() (filter.Filter, error) {
	var group filter.Group
	for _, l := range s.labels {
		if l.Ticked {
			group = append(group, filter.Condition{Key: "labels." + l.Name, Oper: filter.In, Vals: []string{filter.Exact(l.Value)}})
		}
	}
	return s.filter(group)
}

// filter returns the filter of a group up to the severity of the scope. A worse alert is not silenced.
func (s *silenceScope) filter(group filter.Group) (filter.Filter, error) {
	upTo := filter.Condition{Key: "severity", Oper: filter.In}
	for _, severity := range []string{event.Info, event.Warning, event.Critical} {
		if event.Rank(severity) <= event.Rank(s.severity) {
			upTo.Vals = append(upTo.Vals, severity)
		}
	}
	f := filter.Filter{append(group, upTo)}
	if wrong := (*filter.Error)(nil); errors.As(filter.Check(f), &wrong) {
		return nil, fault.Invalid("by", "the keys or labels make no filter: %s", wrong.Clause())
	}
	return f, nil
}
