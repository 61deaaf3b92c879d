package evaluate

import (
	"time"

	"tocsin/internal/core/condition"
	"tocsin/internal/core/sentence"
)

// Rule is the part of an alert rule that a watch needs.
type Rule struct {
	ID             uint64
	Revision       int64
	Name           string
	ChangedBy      string // the person who changed it last, for the reasons of what a change closes; empty: not known
	Labels         map[string]string
	Config         Config
	Interval       time.Duration
	Windows        []Window // in which instances may begin; none: always
	Zone           *time.Location
	RepeatInterval time.Duration // 0: no repeats
	RepeatTotal    int64         // of one instance; 0: without end
}

// State is what a watch remembers between its evaluations, as text. That of a watch with nothing to remember is empty.
type State string

// Result is what one evaluation came to. While Ask is not empty it is not finished: nothing has changed, and Answered
// continues with the answers.
type Result struct {
	Ask         []Question // recovery queries
	Outcome     Outcome
	Transitions []Transition
	Related     []Question // queries for the descriptions of Transitions; the watch does not wait for their answers
}

// Question is a query about one instance, with its labels filled in.
type Question struct {
	Check    string
	Instance string // its key
	Query    Query
}

// Outcome reports whether an evaluation had complete answers. When a recovery query alone failed, the outcome is not known,
// and there are transitions of the other instances.
type Outcome struct {
	Known   bool
	Kind    Kind // why not, when it is not known
	Message string
	Since   time.Time // of the first evaluation of this row that was not known
	Unknown bool      // for longer than the rule allows
}

// To is the kind of a transition.
type To string

// The kinds of transitions.
const (
	Begin     To = "begin"
	Rise      To = "rise"
	Fall      To = "fall"
	Repeat    To = "repeat" // still open
	Recovered To = "recovered"
	Gone      To = "gone"   // its series is absent
	Closed    To = "closed" // by a change of the rule, or by a nodata check's resolve_timeout
)

// Ends reports whether the instance is over.
func (t To) Ends() bool { return t == Recovered || t == Gone || t == Closed }

// Transition is a change of an instance. Its labels and rows are those of the answers: they must not be changed.
type Transition struct {
	Check    string
	Query    string // the first by name that its check judges
	Key      string
	Labels   map[string]string
	At       time.Time
	Since    time.Time // when the instance began
	To       To
	From     string // the severity before; empty: it was not open
	Severity string // the severity now; of an end the last
	Why      []sentence.Value
	Value    *float64 // nil: none, or infinite
	Clauses  []condition.Clause
	Rows     []Answer // of each query the row with the labels
	Silent   bool     // an end of which no event is sent
}

// Instance is a label set of a check that is pending or firing. Its labels must not be changed.
type Instance struct {
	Check    string
	Query    string
	Key      string
	Labels   map[string]string
	Firing   bool   // else pending
	Severity string // of a pending one the severity that its answers reach
	Count    int    // evaluations in a row that hold; of a firing instance, that count towards its end
	Of       int    // the evaluations that are needed
	Since    time.Time
	Value    *float64
	Kept     time.Time // since when its series has been absent; zero: it is not
}

// CheckTooMany is the check of a watch with more instances than one may have: it has one instance, without labels.
const CheckTooMany = "too_many"
