package monitor

import (
	"cmp"
	"strings"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/console/page"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
)

// ruleWords returns what a rule checks, in sentences.
func ruleWords(v *page.Visit, r *alertrule.Rule, reads string) []string {
	when := v.T("At the moments %s (%s)", r.CronPattern, cmp.Or(r.Timezone, v.AccountZone()))
	if s, err := evaluate.ParseSchedule(r.CronPattern); err == nil && s.Every > 0 {
		when = v.T("Every %s", v.Span(int64(s.Every.Seconds())))
	}
	words := []string{v.T("%s, this is asked of %s.", when, reads)}
	c := r.RuleConfigs
	if t := c.CheckThreshold; t != nil && t.Enabled {
		words = append(words, thresholdWords(v, t)...)
	}
	if a := c.CheckAnydata; a != nil && a.Enabled {
		words = append(words, v.T("A row is %s: %s.", v.T(a.Severity), inRow(v, a.AlertingCheckTimes)))
		if a.Recovery.Mode == "ql" {
			words = append(words, v.T("It ends when the recovery query returns a row: %s.", inRow(v, a.RecoveryCheckTimes)))
		} else {
			words = append(words, v.T("It ends when the row is missing: %s.", inRow(v, a.RecoveryCheckTimes)))
		}
	}
	if n := c.CheckNodata; n != nil && n.Enabled {
		words = append(words, v.T("A series that was there before and is missing is %s: %s.", v.T(n.Severity), inRow(v, n.AlertingCheckTimes)))
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
func thresholdWords(v *page.Visit, t *evaluate.Threshold) []string {
	var holds []string
	for _, one := range []struct{ severity, condition string }{{"Critical", t.Critical}, {"Warning", t.Warning}, {"Info", t.Info}} {
		if one.condition != "" {
			holds = append(holds, v.T("%s if %s", v.T(one.severity), one.condition))
		}
	}
	words := []string{v.T("A series is %s: %s.", strings.Join(holds, v.T(", ")), inRow(v, t.AlertingCheckTimes))}
	switch t.Recovery.Mode {
	case "threshold":
		words = append(words, v.T("It ends when %s: %s.", t.Recovery.Condition, inRow(v, t.RecoveryCheckTimes)))
	case "ql":
		words = append(words, v.T("It ends when the recovery query returns a row: %s.", inRow(v, t.RecoveryCheckTimes)))
	default:
		words = append(words, v.T("It ends when none of this holds: %s.", inRow(v, t.RecoveryCheckTimes)))
	}
	if t.Missing == "keep" {
		words = append(words, v.T("A series that is missing keeps its alert."))
	}
	return words
}

// inRow returns how many answers in a row decide.
func inRow(v *page.Visit, times int64) string {
	if times <= 1 {
		return v.T("one answer is enough")
	}
	return v.T("%d answers in a row", times)
}

// changesOfRules are the texts of the actions on alert rules.
var changesOfRules = map[string]string{
	"create": "Created", "update": "Changed", "fields": "Changed together with others", "move": "Moved to another folder",
	"import": "Imported", "delete": "Deleted",
}

// ruleChange names an action on a rule.
func ruleChange(v *page.Visit, action string) string {
	return v.T(cmp.Or(changesOfRules[action], action))
}

// transitions are the texts of what becomes of an instance.
var transitions = map[string]string{
	"begin": "Begins", "rise": "Rises", "fall": "Falls", "recovered": "Recovered", "gone": "Gone", "closed": "Ended by a change",
}

// transition names what became of an instance.
func transition(v *page.Visit, to string) string { return v.T(cmp.Or(transitions[to], to)) }

// checked names a check of a rule.
func checked(v *page.Visit, check string) string {
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
