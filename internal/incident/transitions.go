package incident

import (
	"errors"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
)

// move applies a move to the incident's progress, or returns fault.Conflict when its progress does not allow the move.
func (d Writer) move(r *Incident, m Move) error {
	next, err := r.status(d.Now).After(m, d.Person)
	if illegal := (*Illegal)(nil); errors.As(err, &illegal) {
		return fault.New(fault.Conflict, "incident %s: %s", r.IncidentID, illegal)
	}
	r.Progress = next.Progress
	return err
}

// status returns the part of the incident that decides which moves are allowed at now.
func (r *Incident) status(now time.Time) Status {
	s := Status{Progress: r.Progress, Snoozed: r.SnoozedBefore > now.Unix()}
	for _, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			s.Ackers = append(s.Ackers, a.PersonID)
		}
	}
	return s
}

// Ack acknowledges the incident. The person becomes responsible for it, and a snooze ends. A second acknowledgement of
// the same person changes nothing and is not published.
func (d Writer) Ack(r *Incident) error {
	before := r.status(d.Now)
	if err := d.move(r, Ack); err != nil {
		return err
	}
	if slices.Contains(before.Ackers, d.Person) && !before.Snoozed {
		return nil
	}
	now := d.Now.Unix()
	if r.AckTime == 0 {
		r.AckTime = now
	}
	r.JoinedUntil = 0 // what joined before is known to the person
	r.endSnooze(now)
	if err := d.addResponder(r, d.Person, now); err != nil {
		return err
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Acknowledged{Via: d.Via})
}

// addResponder makes a person responsible, with an acknowledgement at a time in Unix seconds; 0: none. Person 0, which is
// Tocsin itself, cannot be responsible.
func (d Writer) addResponder(r *Incident, person, acknowledged int64) error {
	if person == 0 {
		return nil
	}
	for i := range r.Assignments {
		if a := &r.Assignments[i]; a.PersonID == person && a.RemovedAt == 0 {
			if acknowledged == 0 || a.AcknowledgedAt > 0 {
				return nil
			}
			return d.updateAssignment(r, i, 0, acknowledged)
		}
	}
	return r.assign(d.Tx, d.Account, Assignment{PersonID: person, AssignedAt: d.Now.Unix(), AcknowledgedAt: acknowledged})
}

// updateAssignment changes the times of one assignment, in Unix seconds; 0: none.
func (d Writer) updateAssignment(r *Incident, position int, removed, acknowledged int64) error {
	a := &r.Assignments[position]
	a.RemovedAt, a.AcknowledgedAt = removed, acknowledged
	return d.Tx.Do(`UPDATE incident_assignment SET removed_at = $4, acknowledged_at = $5 WHERE account_id = $1 AND incident_id = $2
		AND position = $3`, d.Account, r.IncidentID, position, removed, acknowledged)
}

// Unack withdraws the acknowledgement of the calling person. Acknowledgements of others stay.
func (d Writer) Unack(r *Incident) error {
	if err := d.move(r, Unack); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 && a.PersonID == d.Person {
			if err := d.updateAssignment(r, i, 0, 0); err != nil {
				return err
			}
		}
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Unacknowledged{})
}

// Snooze stops notifications of the incident for this many minutes. A snooze before it ends now.
func (d Writer) Snooze(r *Incident, minutes int64) error {
	if err := d.move(r, Sleep); err != nil {
		return err
	}
	now := d.Now.Unix()
	r.endSnooze(now)
	r.SnoozedBefore = now + 60*minutes
	r.Snoozes = append(r.Snoozes, Snooze{From: now, Until: r.SnoozedBefore, PersonID: d.Person})
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Snoozed{Minutes: minutes})
}

// endSnooze ends the snooze, in the list of snoozes as well when it would have lasted beyond now (Unix seconds).
func (r *Incident) endSnooze(now int64) {
	if r.SnoozedBefore > now && len(r.Snoozes) > 0 {
		r.Snoozes[len(r.Snoozes)-1].Until = now
	}
	r.SnoozedBefore = 0
}

// Wake ends a snooze, early or when its time is over. If the time is over and no person has acknowledged the incident, its
// escalation starts again. Wake returns fault.Conflict when the incident is not snoozed.
func (d Writer) Wake(r *Incident) error {
	before := r.SnoozedBefore
	if before > d.Now.Unix() { // else the snooze is over, and its end cannot be refused
		if err := d.move(r, Wake); err != nil {
			return err
		}
	} else if before == 0 {
		return fault.New(fault.Conflict, "incident %s: %s", r.IncidentID, &Illegal{Wake, "it is not snoozed"})
	}
	r.endSnooze(d.Now.Unix())
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Woken{SnoozedBefore: before, Restarts: d.Person == 0 && r.Progress == Triggered})
}

// Resolve closes the incident and its alerts. An empty root cause or resolution leaves the stored one.
func (d Writer) Resolve(r *Incident, rootCause, resolution string) error {
	if r.Progress == Closed {
		return d.move(r, Resolve)
	}
	if rootCause != "" {
		r.RootCause = rootCause
	}
	if resolution != "" {
		r.Resolution = resolution
	}
	if err := d.CloseAlerts(r.IncidentID); err != nil {
		return err
	}
	return d.resolve(r, "manual")
}

// resolve closes an incident. by is the cause: manual, recovery or timeout.
func (d Writer) resolve(r *Incident, by string) error {
	if err := d.move(r, Resolve); err != nil {
		return err
	}
	now := d.Now.Unix()
	r.endSnooze(now)
	r.CloseTime = now
	r.CloserID = d.Person
	r.ResolveAt = 0
	r.Flapping = nil
	if d.Batch != nil {
		r.UpdatedAt = now // as it will be stored
		d.Batch.savedLater(r)
		d.Batch.resolved = append(d.Batch.resolved, d.item(r, activity.Resolved{From: by}))
		return nil
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Resolved{From: by})
}

// CloseAlerts ends the alerts of an incident that are still active.
func (d Writer) CloseAlerts(incident string) error {
	alerts, err := alert.OfIncident(d.Tx, d.Account, incident, decide.MaxAlerts*2, 0)
	if err != nil {
		return err
	}
	return d.closeActive(alerts)
}

// closeActive ends those of some alerts that are active.
func (d Writer) closeActive(alerts []decide.Alert) error {
	for i := range alerts {
		if !alerts[i].Active() {
			continue
		}
		if err := d.CloseAlert(&alerts[i]); err != nil {
			return err
		}
	}
	return nil
}

// CloseAlert ends an alert by hand: the next event of its key begins another alert.
func (d Writer) CloseAlert(a *decide.Alert) error {
	a.End = max(a.Start, d.Now.Unix())
	a.Status = event.Ok
	a.FlapsUntil = 0
	a.FlapsNotified = 0
	a.Changes = nil // an alert that a person closes does not change too often any more
	if err := alert.Save(d.Tx, d.Account, a, d.Now); err != nil {
		return err
	}
	if err := alert.Uninhibit(d.Tx, d.Account, d.Now.Unix(), a.ID); err != nil {
		return err
	}
	return d.Bus.Publish(d.Tx, activity.Item{Account: d.Account, ID: a.ID, Channel: a.Channel, At: d.Now, Person: d.Person,
		Event: activity.AlertClosed{}})
}

// Reopen opens a closed incident again. Its alerts stay as they are.
func (d Writer) Reopen(r *Incident, reason string) error {
	if err := d.move(r, Reopen); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			if err := d.updateAssignment(r, i, 0, 0); err != nil {
				return err
			}
		}
	}
	r.CloseTime = 0
	r.CloserID = 0
	r.LastTime = d.Now.Unix()
	r.ReopenedAt = d.Now.Unix()
	r.MergedInto = ""
	r.GroupKey = "" // alerts may join another incident with this key since; two would compete for them
	if err := d.scheduleResolve(r); err != nil {
		return err
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Reopened{Reason: reason})
}
