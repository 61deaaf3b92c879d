package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/core/condition"
	"tocsin/internal/platform/fault"
)

// FieldError is a mistake in the configuration of a rule.
type FieldError struct {
	Field string // relative to rule_configs, such as check_threshold.critical
	Says  fault.Clause
}

// Error returns the field with the mistake.
func (e *FieldError) Error() string { return e.Field + " " + e.Says.String() }

// Bounds of a configuration.
const (
	maxQueries  = 10
	maxExprs    = 64 << 10 // bytes of all queries together
	maxQueryLen = 32       // of a name
)

// Check returns the first mistake of a configuration, as a *FieldError. What is written in checks that are off is not
// looked at.
func Check(c Config) error {
	if err := checkQueries(c); err != nil {
		return err
	}
	if c.UnknownAfterSeconds < 0 {
		return &FieldError{"unknown_after_seconds", fault.NewClause("must not be negative, got %d", c.UnknownAfterSeconds)}
	}
	on := false
	if t := c.CheckThreshold; t != nil && t.Enabled {
		on = true
		if err := checkThreshold(c, t); err != nil {
			return err
		}
	}
	if a := c.CheckAnydata; a != nil && a.Enabled {
		on = true
		if err := checkAnydata(c, a); err != nil {
			return err
		}
	}
	if n := c.CheckNodata; n != nil && n.Enabled {
		on = true
		if n.ResolveTimeout < 0 {
			return &FieldError{"check_nodata.resolve_timeout", fault.NewClause("must not be negative, got %d", n.ResolveTimeout)}
		}
		if err := checkCounts("check_nodata", n.Counts, n.Severity); err != nil {
			return err
		}
	}
	if !on {
		return &FieldError{"check_threshold", fault.NewClause("enable at least one of check_threshold, check_anydata and check_nodata")}
	}
	return nil
}

func checkQueries(c Config) error {
	if len(c.Queries) == 0 {
		return &FieldError{"queries", fault.NewClause("must have at least one query")}
	}
	names := map[string]bool{}
	bytes := 0
	for _, part := range []struct {
		field   string
		queries []Query
	}{{"queries", c.Queries}, {"relate_queries", c.RelateQueries}} {
		if len(part.queries) > maxQueries {
			return &FieldError{part.field, fault.NewClause("must have at most %d queries, got %d", maxQueries, len(part.queries))}
		}
		for n, q := range part.queries {
			field := fmt.Sprintf("%s[%d].", part.field, n)
			if err := checkQuery(field, q); err != nil {
				return err
			}
			if names[q.Name] {
				return &FieldError{field + "name", fault.NewClause("must be unique among queries and relate_queries, got %q twice", q.Name)}
			}
			names[q.Name] = true
			bytes += len(q.Expr)
		}
	}
	if bytes > maxExprs {
		return &FieldError{"queries", fault.NewClause("the queries must be at most %d bytes together, got %d", maxExprs, bytes)}
	}
	return nil
}

func checkQuery(field string, q Query) error {
	switch {
	case !validName(q.Name):
		wants := fault.NewClause("must be a letter, then letters and digits, at most %d, got %.40q", maxQueryLen, q.Name)
		return &FieldError{field + "name", wants}
	case q.Name == "R":
		return &FieldError{field + "name", fault.NewClause("must not be R, which is reserved")}
	case strings.TrimSpace(q.Expr) == "":
		return &FieldError{field + "expr", fault.NewClause("must not be empty")}
	}
	for _, part := range []struct {
		field string
		names []string
	}{{"label_fields", q.LabelFields}, {"value_fields", q.ValueFields}} {
		for i, name := range part.names {
			at := fmt.Sprintf("%s%s[%d]", field, part.field, i)
			switch {
			case name == "" || strings.Contains(name, "."):
				return &FieldError{at, fault.NewClause("must be the name of a column, without a dot, got %.40q", name)}
			case slices.Contains(part.names[:i], name):
				return &FieldError{at, fault.NewClause("must be unique, got %.40q twice", name)}
			case part.field == "value_fields" && slices.Contains(q.LabelFields, name):
				return &FieldError{at, fault.NewClause("must not be a label as well, got %.40q", name)}
			}
		}
	}
	return nil
}

func validName(name string) bool {
	for n, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (n == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxQueryLen
}

func checkCounts(field string, c Counts, severity string) error {
	for _, part := range []struct {
		name  string
		times int64
	}{{"alerting_check_times", c.AlertingCheckTimes}, {"recovery_check_times", c.RecoveryCheckTimes}} {
		if part.times < 0 || part.times > maxTimes {
			return &FieldError{field + "." + part.name, fault.NewClause("must be from 1 to %d, got %d", maxTimes, part.times)}
		}
	}
	if severityOf(severity) == none {
		return &FieldError{field + ".severity", fault.NewClause("must be Critical, Warning or Info, got %.20q", severity)}
	}
	return nil
}

func checkThreshold(c Config, t *Threshold) error {
	used := map[string]bool{}
	written := false
	for _, part := range []struct{ name, text string }{{"critical", t.Critical}, {"warning", t.Warning}, {"info", t.Info}} {
		if part.text == "" {
			continue
		}
		written = true
		if err := checkCondition(c, "check_threshold."+part.name, part.text, used); err != nil {
			return err
		}
	}
	if !written {
		return &FieldError{"check_threshold.critical", fault.NewClause("one of critical, warning and info is required")}
	}
	if t.Missing != "" && t.Missing != "keep" {
		return &FieldError{"check_threshold.missing", fault.NewClause("must be keep or empty, got %.20q", t.Missing)}
	}
	if err := checkRecovery("check_threshold", t.Recovery, "invert", "threshold", "ql"); err != nil {
		return err
	}
	if t.Recovery.Mode == "threshold" {
		if err := checkCondition(c, "check_threshold.recovery.condition", t.Recovery.Condition, used); err != nil {
			return err
		}
	}
	for _, q := range c.Queries {
		if !used[q.Name] {
			return &FieldError{"check_threshold", fault.NewClause("no expression refers to query %s; remove it or write $%s", q.Name, q.Name)}
		}
	}
	return checkCounts("check_threshold", t.Counts, "Info")
}

// checkCondition checks an expression, and notes the queries that it refers to.
func checkCondition(c Config, field, text string, used map[string]bool) error {
	e, err := condition.Parse(text)
	if err != nil {
		return &FieldError{field, fault.NewClause("%s", err.Error())}
	}
	for _, ref := range e.Refs() {
		n := slices.IndexFunc(c.Queries, func(q Query) bool { return q.Name == ref.Query })
		if n < 0 {
			return &FieldError{field, fault.NewClause("%.40s names no query of the rule", ref)}
		}
		used[ref.Query] = true
		fields := c.Queries[n].ValueFields
		switch {
		case ref.Field == "" && len(fields) > 1:
			return &FieldError{field, fault.NewClause("%s has several values; write %s.%s, or another of its value_fields", ref, ref, fields[0])}
		case ref.Field != "" && len(fields) > 0 && !slices.Contains(fields, ref.Field):
			return &FieldError{field, fault.NewClause("%.80s is not among the value_fields of query %s", ref, ref.Query)}
		}
	}
	return nil
}

func checkAnydata(c Config, a *Anydata) error {
	if err := checkRecovery("check_anydata", a.Recovery, "nodata", "ql"); err != nil {
		return err
	}
	if a.Recovery.Mode == "ql" && (len(c.Queries) != 1 || c.Queries[0].Name != "A") {
		return &FieldError{"check_anydata.recovery.mode", fault.NewClause("ql needs a single query, named A")}
	}
	return checkCounts("check_anydata", a.Counts, a.Severity)
}

// checkRecovery checks a recovery. The first of the modes is that of an empty one.
func checkRecovery(check string, r Recovery, modes ...string) error {
	field := check + ".recovery."
	if r.Mode != "" && !slices.Contains(modes, r.Mode) {
		return &FieldError{field + "mode", fault.NewClause("must be %s or empty, got %.20q", strings.Join(modes, ", "), r.Mode)}
	}
	plain := r.Mode == "" || r.Mode == modes[0]
	switch {
	case plain && r.Condition != "":
		return &FieldError{field + "condition", fault.NewClause("must be empty with the mode %s", modes[0])}
	case !plain && strings.TrimSpace(r.Condition) == "":
		return &FieldError{field + "condition", fault.NewClause("is required with the mode %s", r.Mode)}
	case len(r.Condition) > maxExprs:
		return &FieldError{field + "condition", fault.NewClause("must be at most %d bytes, got %d", maxExprs, len(r.Condition))}
	case r.Mode == "ql":
		return checkLabels(field+"condition", r.Condition)
	}
	return nil
}

// checkLabels checks the ${label} of a query.
func checkLabels(field, text string) error {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, "${")
		if !found {
			return nil
		}
		name, behind, closed := strings.Cut(after, "}")
		switch {
		case !closed:
			return &FieldError{field, fault.NewClause("a ${ is not closed")}
		case name == "":
			return &FieldError{field, fault.NewClause("${} names no label; write such as ${host}")}
		}
		rest = behind
	}
}
