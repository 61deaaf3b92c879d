// Package evaluate is the state machine of a watch: one alert rule on one datasource. Each evaluation has the answers of the
// rule's queries, and may begin, change or end instances, with the reason.
//
// It must never end an instance without a complete answer, and never read a clock.
package evaluate

// Config is what a rule checks, in the form of the public API (rule_configs).
type Config struct {
	Queries             []Query    `json:"queries" maxItems:"10" doc:"The queries whose rows are judged."`
	RelateQueries       []Query    `json:"relate_queries" required:"false" maxItems:"10" doc:"Queries for the description alone; they are asked when an instance begins or repeats."`
	CheckThreshold      *Threshold `json:"check_threshold,omitzero" doc:"Fires while an expression over the values holds."`
	CheckAnydata        *Anydata   `json:"check_anydata,omitzero" doc:"Fires for each row that the queries return."`
	CheckNodata         *Nodata    `json:"check_nodata,omitzero" doc:"Fires for each series that was seen before and is missing."`
	UnknownAfterSeconds int64      `json:"unknown_after_seconds,omitzero" minimum:"0" doc:"Seconds without an answer after which the rule is unknown; 0: three intervals, at least two minutes."`
}

// Query asks a datasource.
type Query struct {
	Name        string            `json:"name" maxLength:"32" doc:"A letter, then letters and digits; R and __all__ are reserved."`
	Expr        string            `json:"expr" maxLength:"65536" doc:"The query in the language of the datasource."`
	LabelFields []string          `json:"label_fields" required:"false" maxItems:"50" maxLength:"255" doc:"The columns that identify a row; empty: all that are not values."`
	ValueFields []string          `json:"value_fields" required:"false" maxItems:"50" maxLength:"255" doc:"The columns that are values."`
	Args        map[string]string `json:"args" required:"false" maxProperties:"50" maxLength:"4096" doc:"Settings of the datasource type."`
}

// Counts are how many evaluations in a row decide.
type Counts struct {
	Enabled            bool  `json:"enabled" required:"false" doc:"Whether this check is on."`
	AlertingCheckTimes int64 `json:"alerting_check_times" required:"false" minimum:"0" maximum:"10000" doc:"Evaluations in a row that begin; 0 counts as 1."`
	RecoveryCheckTimes int64 `json:"recovery_check_times" required:"false" minimum:"0" maximum:"10000" doc:"Evaluations in a row that end; 0 counts as 1."`
	PushRecoveryEvent  *bool `json:"push_recovery_event,omitzero" doc:"Whether the end is sent; absent: yes."`
}

// Threshold judges values by expressions. The first that holds of critical, warning and info is the severity.
type Threshold struct {
	Counts
	Critical string   `json:"critical" required:"false" maxLength:"4096" doc:"Such as $A > 90 and $B < 50."`
	Warning  string   `json:"warning" required:"false" maxLength:"4096" doc:"Likewise."`
	Info     string   `json:"info" required:"false" maxLength:"4096" doc:"Likewise."`
	Recovery Recovery `json:"recovery" required:"false" doc:"How an instance ends."`
	Missing  string   `json:"missing,omitzero" enum:"keep," doc:"keep: an instance whose series is absent stays; else it ends as gone."`
}

// Anydata fires for each row.
type Anydata struct {
	Counts
	Severity string   `json:"severity" enum:"Critical,Warning,Info" doc:"The severity of its instances."`
	Recovery Recovery `json:"recovery" required:"false" doc:"How an instance ends: nodata or ql."`
}

// Nodata fires for each series that is missing.
type Nodata struct {
	Counts
	Severity       string `json:"severity" enum:"Critical,Warning,Info" doc:"The severity of its instances."`
	ResolveTimeout int64  `json:"resolve_timeout" required:"false" minimum:"0" doc:"Seconds after which a missing series is closed; 0: never."`
}

// Recovery is how instances end.
type Recovery struct {
	Mode      string            `json:"mode" required:"false" enum:"invert,threshold,ql,nodata," doc:"invert: no severity holds (threshold's default); threshold: condition holds; ql: the query condition returns a row; nodata: the row is absent (anydata's default)."`
	Condition string            `json:"condition" required:"false" maxLength:"65536" doc:"The expression, or the query with ${label}."`
	Args      map[string]string `json:"args" required:"false" maxProperties:"50" maxLength:"4096" doc:"Settings of the datasource type, for ql."`
}

// The checks of a rule, as they are stored and shown.
const (
	CheckThreshold = "threshold"
	CheckAnydata   = "anydata"
	CheckNodata    = "nodata"
)

// Window is a part of the week in which instances may begin, in the rule's zone.
type Window struct {
	Days  []int64 `json:"days" maxItems:"7" minimum:"0" maximum:"6" doc:"Days of the week, 0 Sunday to 6 Saturday."`
	Stime string  `json:"stime" maxLength:"5" doc:"Its begin, HH:MM."`
	Etime string  `json:"etime" maxLength:"5" doc:"Its end, HH:MM; not after the begin: on the next day."`
}
