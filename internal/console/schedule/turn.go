package schedule

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// Turn is when the visitor is on call in one schedule.
type Turn struct {
	Schedule   int64
	Name       string
	On         bool  // now
	Start, End int64 // of the present turn or, when there is none, of the next; 0: none in two weeks
	Now        string
	Next       string // who is on call next
	NextAt     int64
	now, next  []int64
	shiftLinks
}

// Gap is a time at which no one is on call in a schedule.
type Gap struct{ schedules.OpenGap }

// Length returns how long the gap is, in seconds.
func (g Gap) Length() int64 { return g.End - g.Start }

// FillPath returns the address of an override that fills the gap.
func (g Gap) FillPath() string {
	return overrideLink(g.ScheduleID, picture.Piece{Start: g.Start, End: g.End}, everyone, 0)
}

// turnIn returns the visitor's turn in a schedule.
func turnIn(v *page.Visit, s schedule) Turn {
	t := Turn{Schedule: s.ScheduleID, Name: s.Name()}
	for _, e := range s.final() {
		if !slices.Contains(personsOf(e.Group), v.Who.PersonID) {
			continue
		}
		if t.Start == 0 {
			t.Start, t.End = e.Start, e.End
			t.On = e.Start <= v.Now.Unix()
		} else if e.Start == t.End {
			t.End = e.End
		} else {
			break
		}
	}
	if c := s.CurOncall; c != nil {
		t.now = personsOf(c.Group)
		if t.On {
			t.End = max(t.End, c.End)
		}
	}
	t.next, t.NextAt = afterTurn(v, s, t)
	if t.Start > 0 {
		t.shiftLinks = shiftLinksOf(v, s, picture.Piece{Start: t.Start, End: t.End, Persons: []int64{v.Who.PersonID}})
	}
	if c := s.CurOncall; c != nil && !t.On && mayServe(v, s) {
		t.Take = shiftLinksOf(v, s, picture.Piece{Start: c.Start, End: c.End, Persons: t.now}).Take
	}
	return t
}

// afterTurn returns who is on call after the visitor's present turn or, when there is none, after the present shift, and from when;
// no one when that is not known, or is the visitor alone, whose turn is shown anyway.
func afterTurn(v *page.Visit, s schedule, t Turn) (persons []int64, from int64) {
	next := s.NextOncall
	if next != nil && !(t.On && next.Start < t.End) {
		persons, from = personsOf(next.Group), next.Start
	}
	if t.On {
		final := s.final()
		if i := slices.IndexFunc(final, func(e schedules.Entry) bool { return e.Start >= t.End }); i >= 0 {
			persons, from = personsOf(final[i].Group), final[i].Start
		}
	}
	if slices.Equal(persons, []int64{v.Who.PersonID}) {
		return nil, 0
	}
	return persons, from
}

// maxTurns is how many schedules of the visitor are read: each is a call.
const maxTurns = 8

// ReadTurns returns the visitor's present and next turns, the present ones first.
func ReadTurns(v *page.Visit) ([]Turn, error) {
	var mine []Turn
	own, err := page.Call[api.Items[schedules.Schedule]](v, "/schedule/self", schedules.SelfRequest{})
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, s := range own.Items[:min(len(own.Items), maxTurns)] {
		full, err := readSchedule(v, s.ScheduleID, v.Now.Unix(), v.Now.Unix()+14*86400)
		if err != nil {
			return nil, err
		}
		t := turnIn(v, full)
		ids = append(append(ids, t.now...), t.next...)
		mine = append(mine, t)
	}
	slices.Sort(ids)
	people, err := v.People(slices.Compact(ids))
	for i, t := range mine {
		mine[i].Now, mine[i].Next = page.Names(people).List(t.now), page.Names(people).List(t.next)
	}
	slices.SortStableFunc(mine, func(a, b Turn) int {
		if a.On != b.On {
			return map[bool]int{true: -1, false: 1}[a.On]
		}
		return cmp.Compare(cmp.Or(a.Start, 1<<60), cmp.Or(b.Start, 1<<60))
	})
	return mine, err
}
