package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Writer is where incidents are worked on: within a transaction, for an account, at a moment, by a person or
// by Tocsin itself. Everything that is done there is told on the bus, in the same transaction.
type Writer struct {
	Tx      *db.Tx
	Bus     *activity.Bus
	Account int64
	Now     time.Time
	Person  int64 // 0: Tocsin itself
}

func (d Writer) publish(r *Incident, e activity.Event) error {
	return d.Bus.Publish(d.Tx, activity.Item{Account: d.Account, ID: r.IncidentID, Channel: r.ChannelID, At: d.Now, Person: d.Person, Event: e})
}

// Get reads an incident that must be there.
func (d Writer) Get(incident string) (Incident, error) {
	r, found, err := Find(d.Tx, d.Account, strings.ToLower(incident))
	if err == nil && !found {
		err = fault.Missing("incident", incident)
	}
	return r, err
}

func (d Writer) save(r *Incident) error {
	r.UpdatedAt = d.Now.Unix()
	return r.save(d.Tx, d.Account)
}

// Open stores a new incident and tells of it. It gets its times, a progress, and an identifier unless it has
// one.
func (d Writer) Open(r *Incident) error {
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
	return d.Bus.Publish(d.Tx, activity.Item{Account: d.Account, ID: r.IncidentID, Channel: r.ChannelID, At: d.Now, Person: d.Person,
		Event: activity.Opened{Severity: r.Severity, Title: r.Title}, Subject: *r})
}

// due settles when the incident is resolved by itself, as its channel wants it.
func (d Writer) due(r *Incident) error {
	ch, found, err := channel.Find(d.Tx, d.Account, r.ChannelID)
	if err != nil || !found || ch.AutoResolveTimeout == nil || *ch.AutoResolveTimeout == 0 {
		r.ResolveAt = 0
		return err
	}
	from := max(r.StartTime, r.ReopenedAt)
	if ch.AutoResolveMode != nil && *ch.AutoResolveMode == "update" {
		from = r.LastTime
	}
	r.ResolveAt = max(from+*ch.AutoResolveTimeout, d.Now.Unix()+1)
	return nil
}

// OpenFor opens the incident that an alert is in already with this first alert. It begins now, however long ago the
// alert did: windows and timeouts are counted from when there was something for people to do.
func (d Writer) OpenFor(a *decide.Alert, origin alert.Origin, groupKey, method string, test bool) error {
	return d.Open(&Incident{IncidentID: a.Incident, Title: a.Title, ChannelID: a.Channel, Severity: a.Severity, EverMuted: a.EverMuted, GroupKey: groupKey, AlertCnt: 1,
		Detail: Detail{Description: a.Description, GroupMethod: method, DedupKey: a.Key, Labels: a.Labels, Images: a.Images, Test: test,
			IntegrationIDs: []int64{a.Integration}, IntegrationTypes: []string{origin.Type}}})
}

// Joined takes in that an alert is part of the incident from now on, and the storm threshold that was
// reached with it; 0: none.
func (d Writer) Joined(incident string, a *decide.Alert, origin alert.Origin, storm int64) error {
	r, err := d.Get(incident)
	if err != nil {
		return err
	}
	r.AlertCnt++
	r.LastTime, r.EverMuted = d.Now.Unix(), r.EverMuted || a.EverMuted
	r.cameFrom([]int64{a.Integration}, []string{origin.Type})
	before := r.Severity
	r.raise(a.Severity)
	if err := d.due(&r); err != nil {
		return err
	}
	reached := storm > 0 && !slices.Contains(r.Storms, storm)
	if reached {
		r.Storms = append(r.Storms, storm)
	}
	if err := d.save(&r); err != nil {
		return err
	}
	if err := d.worse(&r, before); err != nil || !reached {
		return err
	}
	return d.publish(&r, activity.Stormed{Threshold: storm})
}

// cameFrom notes down where alerts that join came from.
func (r *Incident) cameFrom(integrations []int64, types []string) {
	for _, id := range integrations {
		if !slices.Contains(r.IntegrationIDs, id) {
			r.IntegrationIDs = append(r.IntegrationIDs, id)
		}
	}
	for _, name := range types {
		if !slices.Contains(r.IntegrationTypes, name) {
			r.IntegrationTypes = append(r.IntegrationTypes, name)
		}
	}
}

// Updated takes in that an alert of the incident has another severity. An incident that is not there, as it may be
// of an alert that an account file brought, has nothing to take in.
func (d Writer) Updated(incident string, a *decide.Alert) error {
	r, found, err := Find(d.Tx, d.Account, incident)
	before := r.Severity
	if err != nil || !found || !r.raise(a.Severity) {
		return err
	}
	if err := d.save(&r); err != nil {
		return err
	}
	return d.worse(&r, before)
}

// worse tells of a severity that was raised by alerts.
func (d Writer) worse(r *Incident, before string) error {
	if r.Severity == before {
		return nil
	}
	return d.publish(r, activity.SeverityChanged{From: before, To: r.Severity})
}

// raise makes the severity that of an alert when that is higher and no person has set it.
func (r *Incident) raise(severity string) bool {
	if event.Rank(severity) <= event.Rank(r.Severity) || slices.Contains(r.ManualOverrides, "incident_severity") {
		return false
	}
	r.Severity = severity
	return true
}

// Recovered resolves the incident when its last alert is over, unless its channel keeps such open or it is not there.
func (d Writer) Recovered(incident string) error {
	r, found, err := Find(d.Tx, d.Account, incident)
	if err != nil || !found || r.Progress == Closed {
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
	return d.resolve(&r, "recovery")
}
