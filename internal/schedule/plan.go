package schedule

import (
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
)

// Plan is part of the reply of a change with dry_run: which persons would gain and lose which shifts. A changed role is a gain of
// one role and a loss of the other. A changed layer or group is neither.
type Plan struct {
	Start   int64          `json:"start" doc:"Start of the compared window, Unix seconds: the time of the call or, for an override, its start if that is later."`
	End     int64          `json:"end" doc:"Its end, Unix seconds: 45 days later or, for an override, its end."`
	Persons []PersonChange `json:"persons" doc:"The persons whose shifts change, by person_id; empty when no shift changes."`

	before, after *stored // what is compared
}

// PersonChange lists the shifts that one person gains and loses.
type PersonChange struct {
	PersonID      int64   `json:"person_id" doc:"The person."`
	PersonName    string  `json:"person_name" doc:"The person's name; empty when the person does not exist."`
	GainedSeconds int64   `json:"gained_seconds" doc:"Length of gained together, in seconds."`
	LostSeconds   int64   `json:"lost_seconds" doc:"Length of lost together, in seconds."`
	Gained        []Shift `json:"gained" doc:"When the person would be on call and is not now; layers and groups are those of the changed schedule. By role, then start."`
	Lost          []Shift `json:"lost" doc:"When the person is on call now and would not be; layers and groups are those of the schedule as it is. By role, then start."`
}

// Shift is a period in which a person is on call in a role.
type Shift struct {
	Start     int64  `json:"start" doc:"First second, Unix seconds."`
	End       int64  `json:"end" doc:"First second after it, Unix seconds."`
	RoleID    int64  `json:"role_id" doc:"The on-call role: 0 primary, 1 backup, or one of the account's own."`
	LayerName string `json:"layer_name" doc:"Name of the layer it comes from."`
	GroupName string `json:"group_name" doc:"Name of the group it comes from."`
}

// newPlan returns the plan for two versions of a schedule in a window. Its completion compares them.
func newPlan(before, after *stored, w window) *Plan {
	return &Plan{Start: w.from, End: w.to, Persons: []PersonChange{}, before: before, after: after}
}

// completion returns what computes the plan after the transaction; nil: there is no plan.
func (p *Plan) completion() func(*api.Call) error {
	if p == nil {
		return nil
	}
	return p.complete
}

func (p *Plan) complete(c *api.Call) error {
	left, w := maxNamed, window{from: p.Start, to: p.End}
	was, err := p.before.shifts(c.Who.Zone, w, &left)
	if err != nil {
		return err
	}
	will, err := p.after.shifts(c.Who.Zone, w, &left)
	if err != nil {
		return err
	}
	gained, lost := oncall.Diff(was, will)
	for len(gained)+len(lost) > 0 {
		change := PersonChange{PersonID: first(gained, lost)}
		change.Gained, change.GainedSeconds, gained = p.after.take(gained, change.PersonID)
		change.Lost, change.LostSeconds, lost = p.before.take(lost, change.PersonID)
		p.Persons = append(p.Persons, change)
	}
	return c.Read(func() error {
		for i := range p.Persons {
			who, _, err := person.Find(c.Tx, c.Who.AccountID, p.Persons[i].PersonID)
			if err != nil {
				return err
			}
			p.Persons[i].PersonName = who.PersonName
		}
		return nil
	})
}

// shifts returns the shifts of the final timeline in a window.
func (s *stored) shifts(account *time.Location, w window, left *budget) ([]oncall.Shift, error) {
	e, err := s.engine(account)
	if err != nil {
		return nil, err
	}
	final := e.Window(w.from, w.to).Final
	left.spendAll(final)
	if *left < 0 {
		return nil, fault.Invalid("dry_run", "the shifts of %d days would name persons more than %d times",
			(w.to-w.from+86399)/86400, maxNamed)
	}
	return e.Shifts(final), nil
}

// withoutLayers returns the schedule without shifts.
func (s *stored) withoutLayers() *stored {
	without := *s
	without.Layers, without.compiled = nil, nil
	return &without
}

// first returns the lower of the persons that the sorted lists begin with. One of the lists must not be empty.
func first(a, b []oncall.Shift) int64 {
	switch {
	case len(a) == 0:
		return b[0].PersonID
	case len(b) == 0:
		return a[0].PersonID
	}
	return min(a[0].PersonID, b[0].PersonID)
}

// take converts a person's shifts at the head of a sorted list, and returns the rest of the list.
func (s *stored) take(list []oncall.Shift, person int64) (taken []Shift, seconds int64, rest []oncall.Shift) {
	taken = []Shift{}
	for len(list) > 0 && list[0].PersonID == person {
		l := &s.Layers[list[0].Layer]
		taken = append(taken, Shift{list[0].Start, list[0].End, list[0].RoleID, l.LayerName, l.Groups[list[0].Group].GroupName})
		seconds += list[0].End - list[0].Start
		list = list[1:]
	}
	return taken, seconds, list
}
