package console

import (
	"cmp"
	"slices"
)

var nowPages = []page{{path: "/{$}", template: "now", tab: "now", show: showNow}}

// nowView answers three questions: am I on call, what burns, and what is wrong with the watch.
type nowView struct {
	titled
	Mine      []turn // in schedules that name the visitor, the current and next turn
	Incidents []incidentRow
	Untold    []untold
}

// turn is when the visitor is on call in one schedule.
type turn struct {
	Schedule   int64
	Name       string
	On         bool  // now
	Start, End int64 // of the present turn or, when there is none, of the next; 0: none in two weeks
	Next       []string
	NextAt     int64
}

type untold struct {
	IncidentID string `json:"incident_id"`
	Title      string `json:"title"`
	Why        string `json:"why"`
	State      string `json:"state"`
	Since      int64  `json:"since"`
}

func showNow(v *visit) (view, error) {
	d := nowView{titled: titled(v.T("Now"))}
	list, err := v.incidents(map[string]any{"progress": "Triggered,Processing", "limit": 20})
	if err != nil {
		return nil, err
	}
	d.Incidents = list.Items
	if d.Mine, err = v.turns(); err != nil {
		return nil, err
	}
	var reply struct {
		Items []untold `json:"items"`
	}
	if v.May("incidents:read") {
		err = v.call("/incident/untold/list", map[string]any{"limit": 20}, &reply)
	}
	d.Untold = reply.Items
	return d, err
}

// turns returns the visitor's present and next turns, the present ones first.
func (v *visit) turns() ([]turn, error) {
	var own struct {
		Items []schedule `json:"items"`
	}
	if err := v.call("/schedule/self", struct{}{}, &own); err != nil {
		return nil, err
	}
	turns := make([]turn, 0, len(own.Items))
	for _, s := range own.Items {
		var full schedule
		now := v.Now.Unix()
		request := map[string]any{"schedule_id": s.ID, "start": now, "end": now + 14*86400}
		if err := v.call("/schedule/info", request, &full); err != nil {
			return nil, err
		}
		turns = append(turns, v.turnIn(full))
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		if a.On != b.On {
			return map[bool]int{true: -1, false: 1}[a.On]
		}
		return cmp.Compare(cmp.Or(a.Start, 1<<60), cmp.Or(b.Start, 1<<60))
	})
	return turns, nil
}

// turnIn returns the visitor's turn in a schedule.
func (v *visit) turnIn(s schedule) turn {
	t := turn{Schedule: s.ID, Name: s.Name}
	for _, e := range s.Final.Entries {
		if !e.names(v.who.PersonID) {
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
	if c := s.Current; t.On && c != nil {
		t.End = max(t.End, c.End)
	}
	return t
}
