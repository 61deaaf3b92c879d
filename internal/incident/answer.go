package incident

import (
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// The answers to a reminder and to the message about the end of a snooze.
const (
	Still = "still" // the person still works on the incident
	Later = "later" // as Still, and the person is to be asked again in AskAgain seconds
	Never = "never" // as Still, and the person is not to be asked again
	Back  = "back"  // the person hands the incident back: the acknowledgement is withdrawn
)

// AskAgain is the number of seconds after which a person who answers Later is asked again.
const AskAgain = 4 * 3600

// AnswerRequest has an answer to a question about incidents.
type AnswerRequest struct {
	Some
	Answer string `json:"answer" enum:"still,later,never,back" doc:"still: the caller still works on them; later: likewise, and is to be asked again in 4 hours; never: likewise, and is not to be asked again; back: withdraws the caller's acknowledgement."`
}

func (r *Service) answer(c *api.Call, in AnswerRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Writer, i *Incident) error { return d.Answer(i, in.Answer) })
}

// sameAct is for how many seconds after an acknowledgement its person's Still is the same act. A button may have been
// pressed twice.
const sameAct = 60

// Answer stores the answer of a person to a question about the incident. Still acknowledges an incident that no person
// has acknowledged any more: the answer came after the acknowledgement was withdrawn.
func (d Writer) Answer(r *Incident, answer string) error {
	switch {
	case answer == Back:
		return d.Unack(r)
	case answer == Still && r.Progress == Triggered:
		return d.Ack(r)
	}
	if err := d.move(r, Answer); err != nil {
		return err
	}
	if !r.AnsweredBy(d.Person) {
		return fault.New(fault.Conflict, "incident %s: %s", r.IncidentID,
			&Illegal{Answer, "it was acknowledged by others, and only they can answer"})
	}
	if answer == Still && d.Now.Unix()-r.AcknowledgedAt(d.Person) < sameAct {
		return nil
	}
	return d.publish(r, activity.Answered{Answer: answer, Via: d.Via})
}

// Retract withdraws every acknowledgement of the incident, because a question of Tocsin, reminder or snooze, had no answer.
func (d Writer) Retract(r *Incident, question string) error {
	if err := d.move(r, Retract); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			if err := d.updateAssignment(r, i, 0, 0); err != nil {
				return err
			}
		}
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Unacknowledged{Unanswered: question})
}

// Holders returns the persons who have acknowledged the incident and have not handed it over. If the incident was assigned
// to others since, Holders returns the responders.
func (r *Incident) Holders() (persons []int64) {
	for _, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			persons = append(persons, a.PersonID)
		}
	}
	if len(persons) == 0 {
		return r.Responders()
	}
	return persons
}

// Snoozer returns the person who last snoozed the incident; 0: no person did.
func (r *Incident) Snoozer() int64 {
	if n := len(r.Snoozes); n > 0 {
		return r.Snoozes[n-1].PersonID
	}
	return 0
}

// AnsweredBy reports whether a person can answer for the incident: one of its holders, or the person who snoozed it.
func (r *Incident) AnsweredBy(person int64) bool {
	return person != 0 && (person == r.Snoozer() || slices.Contains(r.Holders(), person))
}

// HeldSince returns since when a person has the incident, Unix seconds: the later of acknowledgement and assignment.
func (r *Incident) HeldSince(person int64) (since int64) {
	for _, a := range r.Assignments {
		if a.PersonID == person && a.RemovedAt == 0 {
			return max(a.AcknowledgedAt, a.AssignedAt)
		}
	}
	return 0
}

// AcknowledgedAt returns when a person acknowledged the incident, Unix seconds; 0: the person did not.
func (r *Incident) AcknowledgedAt(person int64) int64 {
	for _, a := range r.Assignments {
		if a.PersonID == person && a.RemovedAt == 0 {
			return a.AcknowledgedAt
		}
	}
	return 0
}
