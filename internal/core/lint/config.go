package lint

import (
	"time"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// Horizon is how far ahead windows are checked, and whether schedules have any person on call, in seconds.
const Horizon = 14 * 24 * 3600

// maxSilence is the length from which a silence is a finding, in seconds.
const maxSilence = 30 * 24 * 3600

// Severities lists the severities of incidents.
var Severities = []string{"Critical", "Warning", "Info"}

// Config is the configuration of one account as values.
type Config struct {
	Now      int64 // Unix seconds
	Zone     *time.Location
	Account  fault.Ref // the account itself
	Mail     bool      // the server can send e-mail
	Phone    bool      // the server can send text messages or make calls
	Proxy    string    // address of a proxy that forwards calls and is not trusted; empty: there is none
	Owner    Person
	Fallback Fallback
	Channels []Channel
	Sources  []Source
	// Schedules are those that are enabled. Their gaps are found in the steps that use them.
	Schedules []Schedule
	Persons   []Person   // who have not left
	Reserved  []Reserved // datasources that refer to variables of the server itself
	// AlertRules and Datasources are the enabled ones.
	AlertRules  []AlertRule
	Datasources []Datasource
}

// Reserved is a datasource whose member refers to a variable of the server itself.
type Reserved struct {
	ID                      uint64
	Name, Member, Reference string
}

// Person is a person with what is wrong with their methods.
type Person struct {
	ID            int64
	Name          string
	Lacks         sentence.Value // of the owner: why no method reaches them; empty: one does
	HoldsCritical bool           // their quiet hours delay Critical notifications
	CannotSend    []string       // methods of their preference that the server cannot send
	NoBrowser     bool           // they are to be notified by push, and no browser of theirs receives it
}

// Fallback is who is notified of what reaches no one else.
type Fallback struct {
	Set   bool           // false: it is the owner
	Lacks sentence.Value // why some of its persons cannot be reached; empty: all can
}

// Channel is a channel with its enabled rules in the order of evaluation.
type Channel struct {
	ID       int64
	Name     string
	Disabled bool
	Rules    []Rule // escalation rules
	Drops    []Filtered
	Silences []Silence
	Inhibits []Inhibit
}

// Filtered is a rule with a filter.
type Filtered struct {
	ID, Name string
	Filter   filter.Filter
}

// Rule is an escalation rule.
type Rule struct {
	Filtered
	Windowed   bool   // it has windows
	Active     []Span // with windows: when it is active until the horizon, in order
	Steps      []Step
	CannotSend []string // methods that it names and the server cannot send
}

// Span is a stretch of time, Unix seconds, without its end.
type Span struct{ From, Until int64 }

// Step is one step of an escalation rule.
type Step struct {
	Pages     bool        // persons are notified; else only chats and addresses are
	Parts     []Part      // persons, teams and schedules
	Emails    int         // further addresses
	Chats     []Chat      // with why one cannot be used
	Unreached []Unreached // persons of the parts whom no method reaches
}

// Part is a person, a team or a schedule of a step.
type Part struct {
	Ref     fault.Ref
	Persons []int64        // to whom it leads until the horizon
	Lacks   sentence.Value // why it leads to no person; empty: it does
	Gaps    []Span         // of a schedule: when it leads to no one, until ScheduleHorizon

	Timeline *oncall.Schedule // of a schedule
	Roles    []int64          // of a schedule: who is paged; empty: persons with any role
}

// Chat is a chat of a step.
type Chat struct {
	Kind  string
	Lacks sentence.Value // why it cannot be used; empty: it can
}

// Unreached is a person whom no method reaches for a severity.
type Unreached struct {
	Person   int64
	Name     string
	Severity string
	Why      sentence.Value
}

// Silence is a silence rule that is not over.
type Silence struct {
	Filtered
	Start, End int64  // of a one-time silence, Unix seconds; 0: its windows recur
	Active     []Span // of a recurring silence: when it is in force until the horizon
}

// Inhibit is an inhibit rule.
type Inhibit struct {
	ID, Name       string
	Source, Target filter.Filter
}

// Source is an integration that takes alerts.
type Source struct {
	ID       int64
	Name     string
	Channel  int64   // of a dedicated integration; 0: its route decides
	Channels []int64 // all channels that it and its route name
	Routed   bool    // it has a route
	Default  bool    // the route has a default
	Cases    []filter.Group
	Discards []Filtered // pipeline rules that drop alerts
	Unknown  []Unknown  // unknown severities that the integration sends
}

// Unknown is a severity that an integration sends and that is unknown.
type Unknown struct {
	Word   string
	Events int64
}
