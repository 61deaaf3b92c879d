package notify

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// Recipient is a person that a layer names, and why.
type Recipient struct {
	PersonID int64
	Why      sentence.Value
	onCall   bool // on call by a schedule, which has considered absences
}

// Persons returns the persons that a target means at a moment (Unix seconds), each once: those named first, then the
// members of teams, then the persons on call. missing describes each part that has no person; next is when one of its
// schedules has a person on call again (Unix seconds), 0 when that is not known.
func Persons(
	tx *db.Tx, account int64, t channel.Target, at int64, zone *time.Location,
) (persons []Recipient, missing []sentence.Value, next int64, err error) {
	c := collector{tx: tx, account: account}
	for _, id := range t.PersonIDs {
		if err := c.add(id, sentence.New("named")); err != nil {
			return nil, nil, 0, err
		}
	}
	for _, id := range t.TeamIDs {
		if err := c.addTeam(id); err != nil {
			return nil, nil, 0, err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.ScheduleToRoleIDs)) { // sorted, so that each run has the same order
		if err := c.addOnCall(key, t.ScheduleToRoleIDs[key], at, zone); err != nil {
			return nil, nil, 0, err
		}
	}
	return c.persons, c.missing, c.next, nil
}

// collector gathers the results of Persons.
type collector struct {
	tx      *db.Tx
	account int64
	persons []Recipient
	missing []sentence.Value
	next    int64
}

// add adds a person, unless the person is in the list already or has left the account.
func (c *collector) add(id int64, why sentence.Value) error {
	if slices.ContainsFunc(c.persons, func(s Recipient) bool { return s.PersonID == id }) {
		return nil
	}
	_, found, err := Find(c.tx, c.account, id)
	if err != nil {
		return err
	}
	if !found {
		c.missing = append(c.missing, sentence.New("has_left_as", id, why))
		return nil
	}
	c.persons = append(c.persons, Recipient{PersonID: id, Why: why})
	return nil
}

// addTeam adds the members of a team.
func (c *collector) addTeam(id int64) error {
	record, found, err := team.Find(c.tx, c.account, id)
	switch {
	case err != nil:
		return err
	case !found:
		c.missing = append(c.missing, sentence.New("team_gone", id))
	case len(record.PersonIDs) == 0:
		c.missing = append(c.missing, sentence.New("team_empty", record.TeamName))
	}
	for _, person := range record.PersonIDs {
		if err := c.add(person, sentence.New("in_team", record.TeamName)); err != nil {
			return err
		}
	}
	return nil
}

// addOnCall adds the persons that a schedule, named by its id as text, has on call for some roles.
func (c *collector) addOnCall(key string, roles []int64, at int64, zone *time.Location) error {
	id, _ := strconv.ParseInt(key, 10, 64)
	who, found, err := schedule.Who(c.tx, c.account, id, roles, at, zone)
	switch {
	case err != nil: // a corrupt schedule must not keep the other persons of the step from being notified
		c.missing = append(c.missing, sentence.New("schedule_unread", key, err))
		return nil
	case !found:
		c.missing = append(c.missing, sentence.New("schedule_gone", key))
		return nil
	case who.Disabled:
		c.missing = append(c.missing, sentence.New("schedule_disabled", who.Name))
		return nil
	case len(who.Persons) == 0:
		c.missing = append(c.missing, sentence.New("nobody_on_call", who.Name))
		if who.Next > 0 && (c.next == 0 || who.Next < c.next) {
			c.next = who.Next
		}
	}
	why := sentence.New("on_call", who.Name, who.Group)
	if who.Group == "" {
		why = sentence.New("on_call_in", who.Name)
	}
	for _, person := range who.Persons {
		if err := c.add(person, why); err != nil {
			return err
		}
		if i := slices.IndexFunc(c.persons, func(r Recipient) bool { return r.PersonID == person }); i >= 0 {
			c.persons[i].onCall = true
		}
	}
	return nil
}

// Away returns by person until when persons of Persons are absent at a moment, in Unix seconds. A person whom a schedule has
// on call is present: an override puts a person on call despite an absence.
func Away(tx *db.Tx, account int64, persons []Recipient, at int64) (until map[int64]int64, err error) {
	var ids []int64
	for _, p := range persons {
		if !p.onCall {
			ids = append(ids, p.PersonID)
		}
	}
	return absence.Until(tx, account, ids, at)
}
