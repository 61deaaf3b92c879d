// Package oncall answers "who is on call, when, and why" from a schedule's
// configuration alone.
//
// Everything that shows or uses an on-call schedule (the API, the console, the
// calendar feed, the pager) calls this package, so that they cannot disagree.
// The rules are written down, with their numbers R1 to R27, in
// docs/timeline.md; comments here refer to those numbers.
//
// The package is pure. It never reads a clock, a file or a database, never
// loads a time zone by name, and never changes the schedule it is given; a
// *Schedule may be used by any number of goroutines at once. It needs only the
// standard library. All instants are Unix seconds and all intervals are half
// open, [start, end).
//
// The cost of an answer depends on the window asked for and never on how long
// ago a layer began (R23). Any layer that passes Check can be computed; a layer
// that does not is treated as if it were absent, so that one broken layer
// cannot silence the others.
package oncall

import (
	"fmt"
	"time"
)

// Schedule is the configuration of one on-call schedule. The order of Layers
// is meaningful: it settles ties between layers of equal weight (R19, R20).
type Schedule struct {
	Zone   *time.Location // zone of layers that have none; nil means UTC (R1)
	Layers []Layer

	Covers     []Cover    // in the order in which they were made (R24)
	Absences   []Absence  // in any order (R25)
	WhenAbsent WhenAbsent // what rotations do without an absent person (R25)
}

// Layer is one rotation, or one temporary override, of a schedule.
//
// An override (Mode Override) uses only Start, End, Weight and its first
// group; every other field is ignored (R18).
type Layer struct {
	Name   string
	Zone   *time.Location // nil: the schedule's zone (R1)
	Mode   Mode
	Weight int   // higher comes first (R19, R20)
	Start  int64 // Unix seconds, greater than 0 (R4)
	End    int64 // Unix seconds, after Start; 0 = never ends (R4)

	Unit    Unit  // what a turn is measured in (R5 to R8)
	Value   int   // units in one turn, 1 to 30
	Handoff int64 // seconds from Monday 00:00 at which weekly turns change; 0 = at Start's own weekday and time (R9)

	RestrictMode RestrictMode // unit of Restrict (R14)
	Restrict     []Period     // the hours covered; empty = all of them
	Mask         Weekdays     // the dates covered; empty or full = all of them (R10)
	Skip         []*Calendar  // not covered on the days off of any of these (R27)
	Only         []*Calendar  // covered only on the days off of any of these; empty = no limit (R27)
	Continuous   bool         // a day of the mask or of a calendar begins at Start's time of day instead of 00:00 (R10)
	Fair         bool         // shift the order of the groups by one after each full round (R13)
	Groups       []Group      // in order of turn
}

// Group is the set of people who share a turn.
type Group struct {
	Name    string
	Members []Member
}

// Member names the people who hold one on-call role in a group.
type Member struct {
	RoleID    int64
	PersonIDs []int64
}

// Period is a stretch of the day or of the week in wall-clock seconds, counted
// from 00:00 or from Monday 00:00 (R14). An End that is not after Start lies on
// the next day, or in the next week.
type Period struct {
	Start, End int64
}

// Mode distinguishes a rotation from an override.
type Mode uint8

// The modes, with the values they have in the API.
const (
	Rotation Mode = 0 // people take turns
	Override Mode = 1 // one group replaces all others for a while
)

// Unit is the unit in which a rotation's turns are measured.
type Unit uint8

// The units. Hours are elapsed time; the others follow the wall clock (R2).
const (
	Hour Unit = iota + 1
	Day
	Week
	Month // calendar month
)

var unitNames = [...]string{Hour: "hour", Day: "day", Week: "week", Month: "month"}

// ParseUnit returns the unit that has the given name: hour, day, week or
// month.
func ParseUnit(name string) (Unit, error) {
	for u := Hour; u <= Month; u++ {
		if unitNames[u] == name {
			return u, nil
		}
	}
	return 0, fmt.Errorf("must be hour, day, week or month, got %q", name)
}

// String returns the unit's name in the API, or "unit(n)" for a value that is
// not a unit.
func (u Unit) String() string {
	if u < Hour || u > Month {
		return fmt.Sprintf("unit(%d)", uint8(u))
	}
	return unitNames[u]
}

// RestrictMode is the span over which a layer's restricted hours repeat.
type RestrictMode uint8

// The restriction modes, with the values they have in the API.
const (
	RestrictNone RestrictMode = 0 // no restriction
	RestrictDay  RestrictMode = 1 // periods of every day
	RestrictWeek RestrictMode = 2 // periods of every week
)

// Weekdays is a set of days of the week: bit 0 is Sunday, bit 6 Saturday.
type Weekdays uint8

// EveryDay is the set of all seven days. As a mask it excludes nothing.
const EveryDay Weekdays = 1<<7 - 1

// Has reports whether the set holds the day.
func (w Weekdays) Has(d time.Weekday) bool { return w>>d&1 == 1 }

// Active reports whether the set, used as a mask, excludes any day (R10).
func (w Weekdays) Active() bool { return w != 0 && w != EveryDay }
