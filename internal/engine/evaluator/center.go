package evaluator

import (
	"context"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// Center is the server as an evaluator sees it: it assigns the slots, has the configuration, and stores what was found.
type Center interface {
	// Sync reports the state of this evaluator and returns what it evaluates.
	Sync(context.Context, Report) (Orders, error)
	// Watches returns all watches of an account.
	Watches(ctx context.Context, account int64) ([]Watch, error)
	// State returns what is stored of watches of an account, for the evaluator that takes them over.
	State(ctx context.Context, account int64, keys []Key) (map[Key]Saved, error)
	// Save stores the states of watches of an account. Those of slots that have another owner are left out.
	Save(ctx context.Context, account int64, states []Saved) error
	// Send stores the transitions of one evaluation, once.
	Send(context.Context, Batch) (Taken, error)
}

// Key identifies a watch.
type Key struct {
	Account          int64
	Rule, Datasource uint64
}

// Watch is a rule on a datasource.
type Watch struct {
	Key
	Slot     int64
	Rule     evaluate.Rule
	Schedule evaluate.Schedule
	Delay    time.Duration // how much earlier than its moment an evaluation asks
	Severity string        // the highest of the rule
	Source   Source
}

// Source is a datasource.
type Source struct {
	ID      uint64
	Version int64  // it changes with the configuration of the datasource
	Cluster string // of the evaluators that ask it
	querier.Datasource
	Failed *evaluate.Failure // why it cannot be asked at all; nil: it can
}

// Report is what an evaluator has to report.
type Report struct {
	At      time.Time
	Held    map[int64]bool // slots that it evaluates, or has not given up yet
	Watches []WatchState   // those that changed since the last report
	Sources []SourceState  // likewise, and those that are lost

	Digests map[int64]uint64 // of what is open, by slot; slots with watches that wait for the center are left out
	Late    time.Duration    // by which 99 of 100 evaluations since the last report began late at most; of an edge alone
}

// WatchState is whether a watch is known.
type WatchState struct {
	Key      `json:"key"` // its rule's id would be hidden by the rule's name
	Rule     string       // its name
	Severity string
	Source   string
	Pending  int // instances
	Unknown  bool
	Lost     bool // its datasource answers no one
	Kind     evaluate.Kind
	Message  string
	Since    time.Time
}

// SourceState is whether a datasource answers.
type SourceState struct {
	Account int64
	ID      uint64
	Name    string
	Lost    bool
	Kind    evaluate.Kind
	Message string
	Since   time.Time
	Blind   map[string]int64 // how many rules do not see, by severity
}

// Orders are what an evaluator evaluates.
type Orders struct {
	Slots    map[int64]int64 // with their epochs
	More     bool            // other evaluators hand over slots to this one
	Accounts map[int64]int64 // those with rules, with the revision of their configuration
	Differ   []int64         // slots of which the center has other open instances than was reported
	Wrong    bool            // by the center's clock, this evaluator's was wrong before
}

// Saved is what is stored of a watch.
type Saved struct {
	Key
	Slot, Epoch int64
	State       evaluate.State
	Open        []evaluate.Instance // read, not saved: what is open is stored with the transitions
}

// Batch is the transitions of one evaluation.
type Batch struct {
	Watch       *Watch `json:"-"`
	Epoch       int64
	AsOf        time.Time
	Transitions []evaluate.Transition
	Related     map[string][]evaluate.Answer // for the descriptions, by check and key of the instance

	Past []evaluate.Transition // found while the center could not be reached, and over: history alone
}

// Taken is what became of a batch.
type Taken struct {
	Fenced bool // another process evaluates the watch: nothing was stored
	Gone   bool // the rule or its datasource is disabled or deleted: nothing was stored
}
