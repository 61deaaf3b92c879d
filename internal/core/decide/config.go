package decide

import (
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
)

// Inlet is where the events of an integration go.
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

// Rules are rules with filters, in the order in which they are looked at.
type Rules struct {
	List []Rule
	Set  *filter.Set // of their filters
}

// Rule is one of them.
type Rule struct {
	ID, Name string
	Discard  bool // leaves no alert
	// Holds tells whether the rule is in force at a moment (Unix seconds), and until when that stays so as
	// far as it can be known: at most a few days ahead. nil: always.
	Holds func(now int64) (holds bool, until int64)
}

// NewRules makes rules ready; filters has one for each.
func NewRules(list []Rule, filters []filter.Filter) Rules { return Rules{list, filter.NewSet(filters)} }

// Inhibit is the source side of an inhibit rule.
type Inhibit struct {
	Source *filter.Matcher
	Equals []string // fields in which both alerts must agree
}

// Method is how alerts become incidents.
type Method struct {
	ByFields bool // those that agree in fields belong together; else each is its own incident
	Cases    []Branch
	Equals   [][]string
	Strict   bool    // an alert that lacks one of a list's fields is not grouped by it
	Window   int64   // seconds for which alerts may join; 0: as long as the incident is open
	Sliding  bool    // the window is counted from the latest alert, not from the incident's beginning
	Storms   []int64 // thresholds
}

// Branch groups the alerts that match a filter by other fields.
type Branch struct {
	If     *filter.Matcher
	Equals [][]string
}

// Flaps says when an alert changes too often.
type Flaps struct {
	Off  bool
	Max  int64 // so many changes
	In   int64 // within so many seconds
	Mute int64 // keep silent for so many seconds; 0: only say so
}

// MaxAlerts is how many alerts one incident may have (docs/lifecycle.md).
const MaxAlerts = 5000

// inhibitAge is for how many seconds after its last event an active alert inhibits others.
const inhibitAge = 600

// whileDisabled is until an alert that is muted in a disabled channel is decided again, in seconds.
const whileDisabled = 3600

// maxLooks is how many rules of a stage that did not match a trace tells one by one.
const maxLooks = 30
