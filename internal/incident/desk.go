package incident

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/db"
	"tocsin/internal/decide"
	"tocsin/internal/event"
	"tocsin/internal/fault"
	"tocsin/internal/id"
	"tocsin/internal/news"
)

// Desk is where incidents are worked on: within a transaction, for an account, at a moment, by a person or
// by Tocsin itself. Everything that is done there is told on the bus, in the same transaction.
type Desk struct {
	Tx      *db.Tx
	Bus     *news.Bus
	Account int64
	Now     time.Time
	Person  int64 // 0: Tocsin itself
}

func (d Desk) tell(r *Incident, kind string, detail map[string]any) error {
	return d.Bus.Tell(d.Tx, news.Item{Account: d.Account, Type: kind, ID: r.IncidentID, Channel: r.ChannelID, At: d.Now, Person: d.Person, Detail: detail})
}

// Get reads an incident that must be there.
func (d Desk) Get(incident string) (Incident, error) {
	r, found, err := Find(d.Tx, d.Account, strings.ToLower(incident))
	if err == nil && !found {
		err = fault.Missing("incident", incident)
	}
	return r, err
}

func (d Desk) save(r *Incident) error {
	r.UpdatedAt = d.Now.Unix()
	return r.save(d.Tx, d.Account)
}

// Open stores a new incident and tells of it. It gets its times, a progress, and an identifier unless it has
// one.
func (d Desk) Open(r *Incident) error {
	now := d.Now.Unix()
	r.AccountID, r.IncidentID, r.Progress, r.CreatorID = d.Account, cmp.Or(r.IncidentID, id.Object(d.Now)), Triggered, d.Person
	r.CreatedAt, r.UpdatedAt, r.LastTime = now, now, now
	if r.StartTime == 0 {
		r.StartTime = now
	}
	if r.GroupMethod == "" {
		r.GroupMethod = "n"
	}
	if err := d.due(r); err != nil {
		return err
	}
	if _, err := r.insert(d.Tx, d.Account); err != nil {
		return err
	}
	return d.tell(r, news.IncidentNew, map[string]any{"title": r.Title, "severity": r.Severity})
}

// due settles when the incident is resolved by itself, as its channel wants it.
func (d Desk) due(r *Incident) error {
	ch, found, err := channel.Find(d.Tx, d.Account, r.ChannelID)
	if err != nil || !found || ch.AutoResolveTimeout == nil || *ch.AutoResolveTimeout == 0 {
		r.ResolveAt = 0
		return err
	}
	from := r.StartTime
	if ch.AutoResolveMode != nil && *ch.AutoResolveMode == "update" {
		from = r.LastTime
	}
	r.ResolveAt = max(from+*ch.AutoResolveTimeout, d.Now.Unix()+1)
	return nil
}

// OpenFor opens the incident that an alert is in already with this first alert.
func (d Desk) OpenFor(a *decide.Alert, origin alert.Origin, groupKey, method string, test bool) error {
	return d.Open(&Incident{IncidentID: a.Incident, Title: a.Title, ChannelID: a.Channel, Severity: a.Severity, StartTime: a.Start, EverMuted: a.EverMuted, GroupKey: groupKey, AlertCnt: 1,
		Detail: Detail{Description: a.Description, GroupMethod: method, DedupKey: a.Key, Labels: a.Labels, Images: a.Images, Test: test,
			IntegrationIDs: []int64{a.Integration}, IntegrationTypes: []string{origin.Type}}})
}

// Joined takes in that an alert is part of the incident from now on, and the storm threshold that was
// reached with it; 0: none.
func (d Desk) Joined(incident string, a *decide.Alert, origin alert.Origin, storm int64) error {
	r, err := d.Get(incident)
	if err != nil {
		return err
	}
	r.AlertCnt++
	r.LastTime, r.EverMuted = d.Now.Unix(), r.EverMuted || a.EverMuted
	if !slices.Contains(r.IntegrationIDs, a.Integration) {
		r.IntegrationIDs = append(r.IntegrationIDs, a.Integration)
	}
	if !slices.Contains(r.IntegrationTypes, origin.Type) {
		r.IntegrationTypes = append(r.IntegrationTypes, origin.Type)
	}
	r.raise(a.Severity)
	if err := d.due(&r); err != nil {
		return err
	}
	if storm > 0 && !slices.Contains(r.Storms, storm) {
		r.Storms = append(r.Storms, storm)
		if err := d.tell(&r, news.IncidentStorm, map[string]any{"threshold": storm}); err != nil {
			return err
		}
	}
	return d.save(&r)
}

// Updated takes in that an alert of the incident has another severity.
func (d Desk) Updated(incident string, a *decide.Alert) error {
	r, err := d.Get(incident)
	if err != nil || !r.raise(a.Severity) {
		return err
	}
	return d.save(&r)
}

// raise makes the severity that of an alert when that is higher and no person has set it.
func (r *Incident) raise(severity string) bool {
	if event.Rank(severity) <= event.Rank(r.Severity) || slices.Contains(r.ManualOverrides, "incident_severity") {
		return false
	}
	r.Severity = severity
	return true
}

// Recovered resolves the incident when its last alert is over, unless its channel keeps such open.
func (d Desk) Recovered(incident string) error {
	r, err := d.Get(incident)
	if err != nil || r.Progress == Closed {
		return err
	}
	count, err := alert.CountOf(d.Tx, d.Account, incident)
	if err != nil || count.Active > 0 {
		return err
	}
	ch, found, err := channel.Find(d.Tx, d.Account, r.ChannelID)
	if err != nil || found && ch.DisableAutoClose != nil && *ch.DisableAutoClose {
		return err
	}
	return d.resolve(&r, map[string]any{"from": "recovery"})
}

// move takes an incident to its next station.
func (d Desk) move(r *Incident, m Move) (Station, error) {
	next, err := r.station(d.Now).After(m, d.Person)
	if illegal := (*Illegal)(nil); errors.As(err, &illegal) {
		return next, fault.New(fault.Conflict, "incident %s: %s", r.IncidentID, illegal)
	}
	r.Progress = next.Progress
	return next, err
}

func (r *Incident) station(now time.Time) Station {
	s := Station{Progress: r.Progress, Snoozed: r.SnoozedBefore > now.Unix()}
	for _, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			s.Ackers = append(s.Ackers, a.PersonID)
		}
	}
	return s
}

// Ack acknowledges the incident. Whoever does so is responsible for it; a snooze ends with it.
func (d Desk) Ack(r *Incident) error {
	before := r.station(d.Now)
	if _, err := d.move(r, Ack); err != nil {
		return err
	}
	if slices.Contains(before.Ackers, d.Person) {
		return nil
	}
	now := d.Now.Unix()
	if r.AckTime == 0 {
		r.AckTime = now
	}
	r.endSnooze(now)
	if err := d.respond(r, d.Person, now); err != nil {
		return err
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentAck, nil)
}

// respond makes a person responsible, and acknowledged at a moment when that is not 0.
func (d Desk) respond(r *Incident, person, acknowledged int64) error {
	if person == 0 {
		return nil
	}
	for i := range r.Assignments {
		if a := &r.Assignments[i]; a.PersonID == person && a.RemovedAt == 0 {
			if acknowledged == 0 || a.AcknowledgedAt > 0 {
				return nil
			}
			return d.assignment(r, i, 0, acknowledged)
		}
	}
	return r.assign(d.Tx, d.Account, Assignment{PersonID: person, AssignedAt: d.Now.Unix(), AcknowledgedAt: acknowledged})
}

// assignment changes one of the incident's assignments.
func (d Desk) assignment(r *Incident, position int, removed, acknowledged int64) error {
	a := &r.Assignments[position]
	a.RemovedAt, a.AcknowledgedAt = removed, acknowledged
	_, err := d.Tx.Exec(`UPDATE incident_assignment SET removed_at = $4, acknowledged_at = $5 WHERE account_id = $1 AND incident_id = $2 AND position = $3`, d.Account, r.IncidentID, position, removed, acknowledged)
	return err
}

// Unack takes the person's acknowledgement back; of the key's person when others have acknowledged too.
func (d Desk) Unack(r *Incident) error {
	if _, err := d.move(r, Unack); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 && a.PersonID == d.Person {
			if err := d.assignment(r, i, 0, 0); err != nil {
				return err
			}
		}
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentUnack, nil)
}

// Snooze keeps the incident quiet for so many minutes.
func (d Desk) Snooze(r *Incident, minutes int64) error {
	if _, err := d.move(r, Sleep); err != nil {
		return err
	}
	now := d.Now.Unix()
	r.endSnooze(now)
	r.SnoozedBefore = now + 60*minutes
	r.Snoozes = append(r.Snoozes, Snooze{now, r.SnoozedBefore})
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentSnooze, map[string]any{"minutes": minutes})
}

// endSnooze ends a snooze that goes on at now.
func (r *Incident) endSnooze(now int64) {
	if r.SnoozedBefore > now && len(r.Snoozes) > 0 {
		r.Snoozes[len(r.Snoozes)-1].Until = now
	}
	r.SnoozedBefore = 0
}

// Wake ends a snooze.
func (d Desk) Wake(r *Incident) error {
	before := r.SnoozedBefore
	if before > d.Now.Unix() { // else its time has come, and there is no move to refuse
		if _, err := d.move(r, Wake); err != nil {
			return err
		}
	} else if before == 0 {
		return fault.New(fault.Conflict, "incident %s: %s", r.IncidentID, &Illegal{Wake, "it is not snoozed"})
	}
	r.endSnooze(d.Now.Unix())
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentWake, map[string]any{"snoozedBefore": before})
}

// Resolve closes the incident and its alerts.
func (d Desk) Resolve(r *Incident, rootCause, resolution string) error {
	if r.Progress == Closed {
		_, err := d.move(r, Resolve)
		return err
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
	return d.resolve(r, map[string]any{"from": "manual"})
}

func (d Desk) resolve(r *Incident, detail map[string]any) error {
	if _, err := d.move(r, Resolve); err != nil {
		return err
	}
	now := d.Now.Unix()
	r.endSnooze(now)
	r.CloseTime, r.CloserID, r.ResolveAt = now, d.Person, 0
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentResolve, detail)
}

// CloseAlerts ends the alerts of an incident that are still active.
func (d Desk) CloseAlerts(incident string) error {
	alerts, err := alert.OfIncident(d.Tx, d.Account, incident, decide.MaxAlerts*2, 0)
	for i := 0; i < len(alerts) && err == nil; i++ {
		if alerts[i].Active() {
			err = d.CloseAlert(&alerts[i])
		}
	}
	return err
}

// CloseAlert ends an alert as a person does it: the next event of its key begins another.
func (d Desk) CloseAlert(a *decide.Alert) error {
	a.End = max(a.Start, d.Now.Unix())
	a.Status = event.Ok
	if err := alert.Save(d.Tx, d.Account, a, alert.Origin{}, d.Now); err != nil {
		return err
	}
	if err := alert.Uninhibit(d.Tx, d.Account, a.ID, d.Now.Unix()); err != nil {
		return err
	}
	return d.Bus.Tell(d.Tx, news.Item{Account: d.Account, Type: news.AlertClose, ID: a.ID, Channel: a.Channel, At: d.Now, Person: d.Person})
}

// Reopen opens a closed incident again. Its alerts stay as they are.
func (d Desk) Reopen(r *Incident, reason string) error {
	if _, err := d.move(r, Reopen); err != nil {
		return err
	}
	for i, a := range r.Assignments {
		if a.RemovedAt == 0 && a.AcknowledgedAt > 0 {
			if err := d.assignment(r, i, 0, 0); err != nil {
				return err
			}
		}
	}
	r.CloseTime, r.CloserID, r.LastTime, r.MergedInto = 0, 0, d.Now.Unix(), ""
	r.GroupKey = "" // another incident may have taken its place among those that alerts join
	if err := d.due(r); err != nil {
		return err
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.tell(r, news.IncidentReopen, map[string]any{"reason": reason})
}
