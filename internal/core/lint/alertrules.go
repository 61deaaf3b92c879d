package lint

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/core/sentence"
)

// AlertRule is an enabled alert rule.
type AlertRule struct {
	ID       uint64
	Name     string
	Type     string       // of its datasources
	Sources  []Datasource // enabled ones that it matches
	ByName   []Datasource // those of Sources that it names by a pattern
	Channels int          // that it names
	Taken    bool         // a channel takes its alerts, or a route decides
	Delay    int64        // seconds
	Silent   bool         // the end of its alerts is not sent
	Empty    int          // answers in a row without a row, where a row is needed; 0: not known
	Queries  []string
	Rest     string // the text of all that decides beside its queries
}

// Datasource is what alert rules ask.
type Datasource struct {
	ID         uint64
	Name, Type string
	Refused    string // why none of the processes that ask it resolves a secret that it refers to; empty: one does
	NoEdge     string // the cluster that asks it, if no edge of it is in touch
	CanWrite   string // what its role may do besides reading, as its last test found it
}

// leastEmpty is from how many answers without a row on a rule is a finding, and leastAlike how many rules could be one.
const (
	leastEmpty = 20
	leastAlike = 5
)

// alertRules checks the alert rules and the datasources.
func (l *linter) alertRules() {
	asked := map[uint64]bool{}
	for i := range l.AlertRules {
		l.alertRule(&l.AlertRules[i])
		for _, d := range l.AlertRules[i].Sources {
			asked[d.ID] = true
		}
	}
	l.alike()
	l.sameNames()
	for _, d := range l.Datasources {
		object := ref("datasource", d.ID, d.Name)
		if d.NoEdge != "" && asked[d.ID] {
			l.add(SourceWithoutEdge, object, nil, sentence.New("l_source_no_edge", d.NoEdge, d.Name))
		}
		if d.Refused != "" {
			l.add(SecretNotAllowed, object, nil, sentence.New("l_source_secret", d.Name, d.Refused))
		}
		if d.CanWrite != "" {
			l.add(RoleCanWrite, object, nil, sentence.New("l_source_can_write", d.Name, d.CanWrite))
		}
	}
}

func (l *linter) alertRule(r *AlertRule) {
	object := ref("alert_rule", r.ID, r.Name)
	if len(r.Sources) == 0 {
		l.add(RuleMatchesNothing, object, nil, sentence.New("l_rule_matches", r.Name, r.Type))
	}
	switch {
	case r.Taken:
	case r.Channels > 0:
		l.add(RuleWithoutChannel, object, nil, sentence.New("l_rule_channels", r.Name))
	default:
		l.add(RuleWithoutChannel, object, nil, sentence.New("l_rule_no_channel", r.Name))
	}
	if r.Empty >= leastEmpty {
		l.add(RuleNeverHadRow, object, nil, sentence.New("l_rule_no_row", r.Name, r.Empty))
	}
	if r.Delay == 0 && (r.Type == "sls" || r.Type == "elasticsearch") {
		l.add(DelayZeroOnLogs, object, nil, sentence.New("l_rule_delay", r.Name, r.Type))
	}
	if r.Silent {
		l.add(RuleEndsSilently, object, nil, sentence.New("l_rule_silent", r.Name))
	}
}

// literal is a quoted text of a query.
var literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`)

// alike finds rules that differ in one quoted text of their queries alone.
func (l *linter) alike() {
	groups := map[string]map[string]*AlertRule{} // by all but one text, and by that text
	for i := range l.AlertRules {
		r := &l.AlertRules[i]
		queries := strings.Join(r.Queries, "\n")
		for _, at := range literal.FindAllStringIndex(queries, -1) {
			key := r.Type + "\n" + r.Rest + "\n" + queries[:at[0]] + "\x00" + queries[at[1]:]
			if groups[key] == nil {
				groups[key] = map[string]*AlertRule{}
			}
			groups[key][queries[at[0]:at[1]]] = r
		}
	}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		values := slices.Sorted(maps.Keys(groups[key]))
		if len(values) < leastAlike {
			continue
		}
		first := groups[key][values[0]]
		l.add(RulesAlike, ref("alert_rule", first.ID, first.Name), nil,
			sentence.New("l_rules_alike", len(values), first.Name, values[0], values[1]))
	}
}

// sameNames finds datasources of one type and name that one rule names by a pattern: their alerts look the same.
func (l *linter) sameNames() {
	found := map[uint64]bool{}
	for i := range l.AlertRules {
		r := &l.AlertRules[i]
		seen := map[string]bool{}
		for _, d := range r.ByName {
			if seen[d.Name] && !found[d.ID] {
				found[d.ID] = true
				l.add(DatasourceNameTwice, ref("datasource", d.ID, d.Name), nil, sentence.New("l_source_twice", r.Name, d.Name))
			}
			seen[d.Name] = true
		}
	}
}
