package evaluate

import (
	"errors"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	query := func(c *Config) *Query { return &c.Queries[0] }
	for want, change := range map[string]func(*Config){
		"":                                     func(*Config) {},
		`queries must have at least one query`: func(c *Config) { c.Queries = nil },
		`queries must have at most 10 queries, got 11`:                                               func(c *Config) { c.Queries = make([]Query, 11) },
		`queries[0].name must be a letter, then letters and digits, at most 32, got "1A"`:            func(c *Config) { query(c).Name = "1A" },
		`queries[0].name must not be R, which is reserved`:                                           func(c *Config) { query(c).Name = "R" },
		`queries[0].expr must not be empty`:                                                          func(c *Config) { query(c).Expr = " " },
		`queries[1].name must be unique among queries and relate_queries, got "A" twice`:             func(c *Config) { c.Queries = append(c.Queries, c.Queries[0]) },
		`relate_queries[0].name must be unique among queries and relate_queries, got "A" twice`:      func(c *Config) { c.RelateQueries = c.Queries },
		`queries the queries must be at most 65536 bytes together, got 65537`:                        func(c *Config) { query(c).Expr = strings.Repeat("x", 65537) },
		`queries[0].label_fields[0] must be the name of a column, without a dot, got "a.b"`:          func(c *Config) { query(c).LabelFields = []string{"a.b"} },
		`queries[0].value_fields[1] must be unique, got "a" twice`:                                   func(c *Config) { query(c).ValueFields = []string{"a", "a"} },
		`queries[0].value_fields[0] must not be a label as well, got "a"`:                            func(c *Config) { query(c).LabelFields, query(c).ValueFields = []string{"a"}, []string{"a"} },
		`check_threshold.critical $A has several values; write $A.x, or another of its value_fields`: func(c *Config) { query(c).ValueFields = []string{"x", "y"} },
		`check_threshold.critical $A.z is not among the value_fields of query A`:                     func(c *Config) { query(c).ValueFields = []string{"x"}; c.CheckThreshold.Critical = "$A.z > 1" },
		`check_threshold.critical unexpected "A"; a value is written $A at character 1`:              func(c *Config) { c.CheckThreshold.Critical = "A" },
		`check_threshold.critical "$A" is a number; compare it, such as $A > 0 at character 1`:       func(c *Config) { c.CheckThreshold.Critical = "$A" },
		`check_threshold.critical $B names no query of the rule`:                                     func(c *Config) { c.CheckThreshold.Critical = "$B > 1" },
		`check_threshold.critical one of critical, warning and info is required`:                     func(c *Config) { c.CheckThreshold.Critical = "" },
		`check_threshold no expression refers to query B; remove it or write $B`:                     func(c *Config) { c.Queries = append(c.Queries, Query{Name: "B", Expr: "up"}) },
		`check_threshold.missing must be keep or empty, got "drop"`:                                  func(c *Config) { c.CheckThreshold.Missing = "drop" },
		`check_threshold.alerting_check_times must be from 1 to 10000, got 10001`:                    func(c *Config) { c.CheckThreshold.AlertingCheckTimes = 10001 },
		`check_threshold.recovery.mode must be invert, threshold, ql or empty, got "nodata"`:         func(c *Config) { c.CheckThreshold.Recovery.Mode = "nodata" },
		`check_threshold.recovery.condition must be empty with the mode invert`:                      func(c *Config) { c.CheckThreshold.Recovery.Condition = "x" },
		`check_threshold.recovery.condition is required with the mode ql`:                            func(c *Config) { c.CheckThreshold.Recovery.Mode = "ql" },
		`check_threshold.recovery.condition a ${ is not closed`:                                      func(c *Config) { c.CheckThreshold.Recovery = Recovery{Mode: "ql", Condition: "x${a} ${"} },
		`check_threshold.recovery.condition ${} names no label; write such as ${host}`:               func(c *Config) { c.CheckThreshold.Recovery = Recovery{Mode: "ql", Condition: "${}"} },
		`check_threshold.recovery.condition $B names no query of the rule`:                           func(c *Config) { c.CheckThreshold.Recovery = Recovery{Mode: "threshold", Condition: "$B > 1"} },
		`check_anydata.severity must be Critical, Warning or Info, got "critical"`:                   func(c *Config) { c.CheckAnydata = &Anydata{Counts: Counts{Enabled: true}, Severity: "critical"} },
		`check_nodata.resolve_timeout must not be negative, got -1`:                                  func(c *Config) { c.CheckNodata = &Nodata{Counts: Counts{Enabled: true}, ResolveTimeout: -1} },
		`check_nodata.severity must be Critical, Warning or Info, got ""`:                            func(c *Config) { c.CheckNodata = &Nodata{Counts: Counts{Enabled: true}} },
		`check_threshold enable at least one of check_threshold, check_anydata and check_nodata`:     func(c *Config) { c.CheckThreshold.Enabled = false },
		`unknown_after_seconds must not be negative, got -1`:                                         func(c *Config) { c.UnknownAfterSeconds = -1 },
		`check_anydata.recovery.mode ql needs a single query, named A`: func(c *Config) {
			query(c).Name = "B"
			c.CheckThreshold = nil
			c.CheckAnydata = &Anydata{Counts: Counts{Enabled: true}, Severity: "Info", Recovery: Recovery{Mode: "ql", Condition: "x"}}
		},
	} {
		c := Config{Queries: []Query{{Name: "A", Expr: "up"}}, CheckThreshold: &Threshold{Counts: Counts{Enabled: true}, Critical: "$A > 1"}}
		change(&c)
		err := Check(c)
		var field *FieldError
		switch {
		case want == "" && err != nil:
			t.Error(err)
		case want != "" && (!errors.As(err, &field) || err.Error() != want):
			t.Errorf("%v\nwant %s", err, want)
		}
		if _, failed := New(Rule{Config: c}, ""); want == "" && failed != nil {
			t.Error(failed)
		}
	}
	for want, w := range map[string]Window{
		`enabled_times[0].days must have at least one day`:                       {Stime: "00:00", Etime: "24:00"},
		`enabled_times[0].days must be from 0, Sunday, to 6, Saturday, got 7`:    {Days: []int64{7}},
		`enabled_times[0].stime must be a time from 00:00 to 23:59, got "24:00"`: {Days: []int64{1}, Stime: "24:00", Etime: "24:00"},
		`enabled_times[0].etime must be a time from 00:00 to 24:00, got "9:00"`:  {Days: []int64{1}, Stime: "08:00", Etime: "9:00"},
		`enabled_times[0].etime must be a time from 00:00 to 24:00, got "25:00"`: {Days: []int64{1}, Stime: "08:00", Etime: "25:00"},
	} {
		if err := CheckWindows([]Window{w}); err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
		if _, err := New(Rule{Windows: []Window{w}}, ""); err == nil {
			t.Errorf("a watch is made with %v", w)
		}
	}
}
