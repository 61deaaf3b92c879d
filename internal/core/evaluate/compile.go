package evaluate

import (
	"encoding/json"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/condition"
	"tocsin/internal/platform/fault"
)

// severity is the severity of an instance; none: it does not fire.
type severity int8

const (
	none severity = iota
	info
	warning
	critical
	severities
)

var severityNames = [severities]string{"", "Info", "Warning", "Critical"}

// String returns the word of the API.
func (s severity) String() string { return severityNames[s] }

func severityOf(word string) severity { return severity(max(slices.Index(severityNames[:], word), 0)) }

// check is a compiled check with its instances. An edge has four for each of ten thousand rules: its small members stand together.
type check struct {
	kind     int
	name     string
	begin    int // alerting_check_times
	end      int // recovery_check_times
	on       bool
	silent   bool
	keep     bool
	severity severity // of anydata and nodata
	query    string   // the first by name that it judges
	exprs    [severities]*expression
	value    *expression // its first value is that of the instances; nil: the value of the query
	mode     string
	recovery *expression
	ask      *Query // of recovery by query; nil: none
	timeout  time.Duration

	instances map[uint64]*instance // nil: none yet
}

func (c *check) add(id uint64, i *instance) {
	if c.instances == nil {
		c.instances = map[uint64]*instance{}
	}
	c.instances[id] = i
}

// goes reports whether an instance whose series is absent ends as gone.
func (c *check) goes() bool { return c.kind == threshold && !c.keep }

// expression is a compiled condition with the places of its values.
type expression struct {
	*condition.Expr
	slots  []slot
	values []float64
}

// slot is a value in the rows of a label set.
type slot struct {
	query   int
	field   string
	unnamed bool // a datasource may return it under the empty name as well
	alone   bool // the query's only value, whatever its name
}

// compile makes the checks of the rule.
func (w *Watch) compile() error {
	config := &w.rule.Config
	w.current = digestsOf(*config)
	for n := range w.checks {
		w.checks[n] = check{kind: n, name: checkNames[n], begin: 1, end: 1, query: w.firstQuery(nil)}
	}
	if t := config.CheckThreshold; t != nil && t.Enabled {
		if err := w.checks[threshold].threshold(w, t); err != nil {
			return err
		}
	}
	if a := config.CheckAnydata; a != nil && a.Enabled {
		c := &w.checks[anydata]
		c.counts(a.Counts)
		c.severity = severityOf(a.Severity)
		c.recover(a.Recovery, "nodata")
	}
	if n := config.CheckNodata; n != nil && n.Enabled {
		c := &w.checks[nodata]
		c.counts(n.Counts)
		c.severity = severityOf(n.Severity)
		c.timeout = time.Duration(n.ResolveTimeout) * time.Second
	}
	highest := none
	for n := range w.checks {
		c := &w.checks[n]
		highest = max(highest, c.severity)
		for s, e := range c.exprs {
			if e != nil {
				highest = max(highest, severity(s))
			}
		}
	}
	w.checks[tooMany].on = true
	w.checks[tooMany].severity = highest
	return nil
}

func (c *check) counts(counts Counts) {
	c.on = true
	c.begin = int(min(max(counts.AlertingCheckTimes, 1), maxTimes))
	c.end = int(min(max(counts.RecoveryCheckTimes, 1), maxTimes))
	c.silent = counts.PushRecoveryEvent != nil && !*counts.PushRecoveryEvent
}

func (c *check) recover(r Recovery, otherwise string) {
	c.mode = r.Mode
	if c.mode == "" {
		c.mode = otherwise
	}
	c.ask = &Query{Name: "recovery", Expr: r.Condition, Args: r.Args}
}

func (c *check) threshold(w *Watch, t *Threshold) error {
	c.counts(t.Counts)
	c.recover(t.Recovery, "invert")
	c.keep = t.Missing == "keep"
	var refs []condition.Ref
	for s, text := range [severities]string{info: t.Info, warning: t.Warning, critical: t.Critical} {
		if text == "" {
			continue
		}
		e, err := w.expression(text)
		if err != nil {
			return err
		}
		c.exprs[s] = e
		c.value = e
		refs = append(refs, e.Refs()...)
	}
	c.query = w.firstQuery(refs)
	if c.mode != "threshold" {
		return nil
	}
	e, err := w.expression(t.Recovery.Condition)
	c.recovery = e
	return err
}

// expression compiles a condition over the queries of the rule.
func (w *Watch) expression(text string) (*expression, error) {
	parsed, err := condition.Parse(text)
	if err != nil {
		return nil, err
	}
	e := &expression{Expr: parsed, values: make([]float64, len(parsed.Refs()))}
	for _, ref := range parsed.Refs() {
		n := slices.IndexFunc(w.queries, func(q Query) bool { return q.Name == ref.Query })
		if n < 0 {
			return nil, &FieldError{"check_threshold", fault.NewClause("%s names no query of the rule", ref)}
		}
		e.slots = append(e.slots, slotOf(n, w.queries[n].ValueFields, ref.Field))
	}
	return e, nil
}

// slotOf returns the place of a field's value.
func slotOf(query int, fields []string, field string) slot {
	implied := len(fields) == 0 && field == "value" || len(fields) == 1 && field == fields[0]
	return slot{query: query, field: field, unnamed: implied, alone: field == ""}
}

// firstQuery returns the first name of the queries that are referred to; without references, of all.
func (w *Watch) firstQuery(refs []condition.Ref) string {
	var names []string
	for _, ref := range refs {
		names = append(names, ref.Query)
	}
	for _, q := range w.queries {
		if refs == nil {
			names = append(names, q.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// digests are equal for rules that judge alike, and for rules that ask the same queries. They are part of stored states: a new
// member of Config that is present in JSON without being set would close instances when the program is upgraded.
type digests struct{ Config, Queries string }

func digestsOf(c Config) digests {
	c.UnknownAfterSeconds = 0
	c.RelateQueries = nil
	return digests{digest(c), digest(c.Queries)}
}

func digest(v any) string {
	text, _ := json.Marshal(v) // of texts and numbers alone: it cannot fail
	h := fnv.New64a()
	_, _ = h.Write(text)
	return strconv.FormatUint(h.Sum64(), 36)
}
