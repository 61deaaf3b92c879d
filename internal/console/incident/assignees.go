package incident

import (
	"slices"

	"tocsin/internal/console/page"
	"tocsin/internal/team"
)

// assignees is whom incidents can be given to.
type assignees struct {
	OnCall []page.OnCall
	Offers [2]page.Offer
	People page.Picker
	Teams  page.Picker
}

// manySchedules is how many schedules stand open.
const manySchedules = 8

// First returns the schedules that stand open on the page.
func (a assignees) First() []page.OnCall { return a.OnCall[:min(len(a.OnCall), manySchedules)] }

// Rest returns the schedules that are folded.
func (a assignees) Rest() []page.OnCall { return a.OnCall[min(len(a.OnCall), manySchedules):] }

// readAssignees reads who is on call now, the people and the teams.
func readAssignees(v *page.Visit) (a assignees, err error) {
	a.OnCall, err = v.OnCallNow()
	if err != nil {
		return a, err
	}
	people, err := v.PeopleOffer()
	if err != nil {
		return a, err
	}
	teams, err := v.TeamOffer()
	if err != nil {
		return a, err
	}
	a.Offers = [2]page.Offer{people, teams}
	chosen, _ := people.Read(v, "person") // a name that is not known stays in its input
	a.People = people.Picker(v, "person", v.T("People"), chosen)
	chosen, _ = teams.Read(v, "team")
	a.Teams = teams.Picker(v, "team", v.T("All members of"), chosen)
	return a, nil
}

// chosenPersons returns the persons who were chosen by themselves or with their teams.
func chosenPersons(v *page.Visit) ([]int64, error) {
	people, err := v.PeopleOffer()
	if err != nil {
		return nil, err
	}
	persons, err := people.Read(v, "person")
	if err != nil {
		return nil, err
	}
	offer, err := v.TeamOffer()
	if err != nil {
		return nil, err
	}
	teams, err := offer.Read(v, "team")
	if err != nil {
		return nil, err
	}
	for _, id := range teams {
		members, err := page.Call[team.Team](v, "/team/info", team.Named{TeamID: id})
		if err != nil {
			return nil, err
		}
		persons = append(persons, members.PersonIDs...)
	}
	return slices.Compact(slices.Sorted(slices.Values(persons))), nil
}
