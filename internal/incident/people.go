package incident

import (
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/platform/id"
)

// Assign makes others responsible. With a person in the call (assign, reassign) they take the place of those
// who were; an escalation adds them.
func (d Writer) Assign(r *Incident, to AssignedTo) error {
	if _, err := d.move(r, Assign); err != nil {
		return err
	}
	now := d.Now.Unix()
	to.AssignedAt, to.ID = now, id.Object(d.Now)
	if to.Type == "" {
		to.Type = "assign"
		if r.AssignedTo != nil {
			to.Type = "reassign"
		}
	}
	if to.Type != "escalate" {
		for i, a := range r.Assignments {
			if a.RemovedAt == 0 && !slices.Contains(to.PersonIDs, a.PersonID) {
				if err := d.assignment(r, i, now, a.AcknowledgedAt); err != nil {
					return err
				}
			}
		}
	}
	for _, person := range to.PersonIDs {
		if err := d.respond(r, person, 0); err != nil {
			return err
		}
	}
	r.AssignedTo = &to
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Assigned{How: to.Type, To: to.PersonIDs, PersonIDs: to.PersonIDs, EscalateRuleID: to.EscalateRuleID,
		EscalateRuleName: to.EscalateRuleName, LayerIdx: to.LayerIdx, Emails: to.Emails, AssignedAt: now, ID: to.ID})
}

// AddResponders makes further persons responsible beside those who are.
func (d Writer) AddResponders(r *Incident, persons []int64) error {
	if _, err := d.move(r, Assign); err != nil {
		return err
	}
	for _, person := range persons {
		if err := d.respond(r, person, 0); err != nil {
			return err
		}
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.RespondersAdded{To: persons})
}

// Responders are those who are responsible now, in the order in which they became so.
func (r *Incident) Responders() (persons []int64) {
	for _, a := range r.Assignments {
		if a.RemovedAt == 0 {
			persons = append(persons, a.PersonID)
		}
	}
	return persons
}
