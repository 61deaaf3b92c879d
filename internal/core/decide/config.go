package decide

import (
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
)

// Inlet is how the events of an integration are rewritten and routed.
type Inlet struct {
	Enrichments pipeline.Enrichments
	Rules       pipeline.Rules
	Route       func(*filter.Meter, *event.Event) (channels []int64, steps []Step) // nil: to Channel
	Channel     int64                                                              // 0: none
}

// Channel is how one channel handles its alerts.
type Channel struct {
	Name     string
	Disabled bool
	Drops    Rules
	Silences Rules
	Inhibits []Inhibit
	Targets  Rules // of the inhibits, in the same order
	Grouping Method
	Flapping Flaps
}

// Rules are rules with filters, in the order in which they are evaluated.
type Rules struct {
	List []Rule
	Set  *filter.Set // of their filters
}

// Rule is a rule without its filter, which is in Rules.Set at the same index.
type Rule struct {
	ID, Name string
	Discard  bool // stores no alert for events that match
	// Holds reports whether the rule is in force at now (Unix seconds), and until when that stays so as far as it
	// is known: at most a few days ahead. nil: always.
	Holds func(now int64) (holds bool, until int64)
}

// NewRules returns rules with their compiled filters; filters has one for each rule.
func NewRules(list []Rule, filters []filter.Filter) Rules { return Rules{list, filter.NewSet(filters)} }

// Inhibit is the source side of an inhibit rule.
type Inhibit struct {
	Source *filter.Matcher
	Equals []string // fields that must be equal in both alerts
}

// Method is how alerts are grouped into incidents.
type Method struct {
	ByFields bool // alerts with equal fields are grouped; else each alert opens its own incident
	Cases    []Branch
	Equals   [][]string
	Strict   bool    // an alert that lacks one of a list's fields is not grouped by it
	Window   int64   // seconds for which alerts may join; 0: as long as the incident is open
	Sliding  bool    // the window begins at the latest alert, not at the incident's start
	Storms   []int64 // numbers of alerts at which a storm is reported
}

// Branch groups the alerts that match a filter by other fields.
type Branch struct {
	If     *filter.Matcher
	Equals [][]string
}

// Flaps defines when an alert changes too often.
type Flaps struct {
	Off  bool
	Max  int64 // this many changes
	In   int64 // within this many seconds
	Mute int64 // an alert that is over ends after this many seconds without a change; 0: flapping is only reported
}

// MaxAlerts is how many alerts one incident may have (docs/lifecycle.md).
const MaxAlerts = 5000

// recheck is how many seconds pass until an alert is decided again that another alert inhibits, or whose channel is
// disabled. Both are decided again at once when that ends.
const recheck = 3600

// maxMisses is how many rules of a stage that did not match are listed in a trace.
const maxMisses = 30
