package console

import (
	"cmp"
	"strings"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/monitor"
)

// ruleWords returns what a rule checks, in sentences.
func (v *visit) ruleWords(r *alertrule.Rule, reads string) []string {
	when := v.T("At the moments %s (%s)", r.CronPattern, cmp.Or(r.Timezone, v.AccountZone()))
	if s, err := evaluate.ParseSchedule(r.CronPattern); err == nil && s.Every > 0 {
		when = v.T("Every %s", v.Span(int64(s.Every.Seconds())))
	}
	words := []string{v.T("%s, this is asked of %s.", when, reads)}
	c := r.RuleConfigs
	if t := c.CheckThreshold; t != nil && t.Enabled {
		words = append(words, v.thresholdWords(t)...)
	}
	if a := c.CheckAnydata; a != nil && a.Enabled {
		words = append(words, v.T("A row is %s: %s.", v.T(a.Severity), v.inRow(a.AlertingCheckTimes)))
		if a.Recovery.Mode == "ql" {
			words = append(words, v.T("It ends when the recovery query returns a row: %s.", v.inRow(a.RecoveryCheckTimes)))
		} else {
			words = append(words, v.T("It ends when the row is missing: %s.", v.inRow(a.RecoveryCheckTimes)))
		}
	}
	if n := c.CheckNodata; n != nil && n.Enabled {
		words = append(words, v.T("A series that was there before and is missing is %s: %s.", v.T(n.Severity), v.inRow(n.AlertingCheckTimes)))
		if n.ResolveTimeout > 0 {
			words = append(words, v.T("That ends after %s, even if the series is not back.", v.Span(n.ResolveTimeout)))
		}
	}
	for _, w := range r.EnabledTimes {
		var days []string
		for _, d := range w.Days {
			days = append(days, v.T(time.Weekday(d % 7).String()[:3]))
		}
		words = append(words, v.T("Alerts begin only on %s, %s to %s (%s).", strings.Join(days, v.T(", ")), w.Stime, w.Etime,
			cmp.Or(r.Timezone, v.AccountZone())))
	}
	return words
}

// thresholdWords returns when a check of values fires, and when that ends.
func (v *visit) thresholdWords(t *evaluate.Threshold) []string {
	var holds []string
	for _, one := range []struct{ severity, condition string }{{"Critical", t.Critical}, {"Warning", t.Warning}, {"Info", t.Info}} {
		if one.condition != "" {
			holds = append(holds, v.T("%s if %s", v.T(one.severity), one.condition))
		}
	}
	words := []string{v.T("A series is %s: %s.", strings.Join(holds, v.T(", ")), v.inRow(t.AlertingCheckTimes))}
	switch t.Recovery.Mode {
	case "threshold":
		words = append(words, v.T("It ends when %s: %s.", t.Recovery.Condition, v.inRow(t.RecoveryCheckTimes)))
	case "ql":
		words = append(words, v.T("It ends when the recovery query returns a row: %s.", v.inRow(t.RecoveryCheckTimes)))
	default:
		words = append(words, v.T("It ends when none of this holds: %s.", v.inRow(t.RecoveryCheckTimes)))
	}
	if t.Missing == "keep" {
		words = append(words, v.T("A series that is missing keeps its alert."))
	}
	return words
}

// inRow returns how many answers in a row decide.
func (v *visit) inRow(times int64) string {
	if times <= 1 {
		return v.T("one answer is enough")
	}
	return v.T("%d answers in a row", times)
}

// failures are the texts of the kinds of failures of a datasource.
var failures = map[string]string{
	"unreachable": "%s cannot be reached", "denied": "%s refuses the credentials", "timeout": "%s does not answer in time",
	"query": "%s refuses the query", "partial": "%s does not have all of the data", "limit": "%s returns more than a query may",
	"invalid": "the answer of %s cannot be judged", "missed": "the evaluation on %s is late",
	"unsupported": "%s is of a type that cannot be asked",
}

// NotKnown returns since when and why a rule is not known on a datasource; empty: it is known.
func (v *visit) NotKnown(w monitor.WatchState) string {
	if w.State != "unknown" {
		return ""
	}
	why := v.T(cmp.Or(failures[w.Kind], "%s does not answer as it should"), w.DSName)
	if w.Since == 0 {
		return v.T("Not known: %s.", why)
	}
	return v.T("Not known since %s: %s.", v.When(w.Since/1000), why)
}

// changesOfRules are the texts of the actions on alert rules.
var changesOfRules = map[string]string{
	"create": "Created", "update": "Changed", "fields": "Changed together with others", "move": "Moved to another folder",
	"import": "Imported", "delete": "Deleted",
}

// RuleChange names an action on a rule.
func (v *visit) RuleChange(action string) string { return v.T(cmp.Or(changesOfRules[action], action)) }

// transitions are the texts of what becomes of an instance.
var transitions = map[string]string{
	"begin": "Begins", "rise": "Rises", "fall": "Falls", "recovered": "Recovered", "gone": "Gone", "closed": "Ended by a change",
}

// Transition names what became of an instance.
func (v *visit) Transition(to string) string { return v.T(cmp.Or(transitions[to], to)) }

// Checked names a check of a rule.
func (v *visit) Checked(check string) string {
	return v.T(cmp.Or(map[string]string{"nodata": "No data", "anydata": "A row", "too_many": "Too many series"}[check], "Value"))
}

// curlOf returns a command that asks a datasource a query, without credentials; empty: its type is not asked over HTTP in one call.
func curlOf(d datasource.Item, expr string) string {
	path := map[string]string{
		"prometheus": "/api/v1/query", "loki": "/loki/api/v1/query", "victorialogs": "/select/logsql/stats_query",
	}[d.TypeIdent]
	if path == "" || d.Address == "" {
		return ""
	}
	quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	return "curl -G " + quoted(withoutUser(d.Address)+path) + " --data-urlencode " + quoted("query="+expr)
}
