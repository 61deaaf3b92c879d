package incident

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Writer changes incidents in a transaction: of an account, at a time, for a person or for Tocsin itself. It publishes
// every change on the bus, in the same transaction.
type Writer struct {
	Tx      *db.Tx
	Bus     *activity.Bus
	Account int64
	Now     time.Time
	Person  int64  // 0: Tocsin itself
	Via     string // how the person acted, such as chat; empty: with an own key or link
	Batch   *Batch // what was read for many changes; nil: each reads for itself
}

// publish publishes an event about an incident to the subscribers.
func (d Writer) publish(r *Incident, e activity.Event) error {
	return d.Bus.Publish(d.Tx, d.item(r, e))
}

func (d Writer) item(r *Incident, e activity.Event) activity.Item {
	item := activity.Item{Account: d.Account, ID: r.IncidentID, Channel: r.ChannelID, At: d.Now, Person: d.Person, Event: e}
	if d.Batch != nil {
		item.Subject = *r
	}
	return item
}

// Get reads an incident, or returns fault.Missing.
func (d Writer) Get(incident string) (Incident, error) {
	r, found, err := d.find(strings.ToLower(incident))
	if err == nil && !found {
		err = fault.Missing("incident", incident)
	}
	return r, err
}

// save stores the incident without its assignments, and sets when it was updated.
func (d Writer) save(r *Incident) error {
	r.UpdatedAt = d.Now.Unix()
	d.Batch.saved(r)
	return r.save(d.Tx, d.Account)
}

// Open stores a new incident and publishes it. It sets the times and the progress, and an identifier unless there is one.
func (d Writer) Open(r *Incident) error { return d.open(r, nil) }

// open is Open with the counts of the incident's alerts; nil: they are not known.
func (d Writer) open(r *Incident, alerts *alert.Count) error {
	now := d.Now.Unix()
	r.AccountID = d.Account
	r.IncidentID = cmp.Or(r.IncidentID, id.Object(d.Now))
	r.Progress = Triggered
	r.CreatorID = d.Person
	r.CreatedAt = now
	r.UpdatedAt = now
	r.LastTime = now
	if r.StartTime == 0 {
		r.StartTime = now
	}
	if r.GroupMethod == "" {
		r.GroupMethod = "n"
	}
	if err := d.scheduleResolve(r); err != nil {
		return err
	}
	row, err := r.row(d.Account)
	if err != nil {
		return err
	}
	if err := d.Tx.Insert(row); err != nil {
		return err
	}
	d.Batch.saved(r)
	item := activity.Item{Account: d.Account, ID: r.IncidentID, Channel: r.ChannelID, At: d.Now, Person: d.Person,
		First: true, Event: activity.Opened{Severity: r.Severity, Title: r.Title, Headline: r.Name(nil)}, Subject: *r}
	if alerts != nil {
		item.Subject = withAlerts{Incident: *r, alerts: *alerts}
	}
	return d.Bus.Publish(d.Tx, item)
}

// scheduleResolve sets when the incident is resolved automatically, by its channel's AutoResolveTimeout (seconds) since
// the start or the last update; 0: never. That is a second from now at the earliest.
func (d Writer) scheduleResolve(r *Incident) error {
	ch, found, err := d.channel(r.ChannelID)
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

// OpenFor opens the incident that the alert already names, with this alert as its first. The incident starts now, however
// long ago the alert did: windows and timeouts count from when people had something to do.
func (d Writer) OpenFor(a *decide.Alert, origin alert.Origin, groupKey, method string, test bool) error {
	i := From(a, origin)
	i.GroupKey = groupKey
	i.GroupMethod = method
	i.Test = test
	d.Batch.count(i.IncidentID, 1)
	alerts := alert.Count{Alerts: 1, Events: a.Events}
	if a.Active() {
		alerts.Active = 1
	}
	return d.open(&i, &alerts)
}

// From returns the incident that begins with an alert, as rules read it.
func From(a *decide.Alert, origin alert.Origin) Incident {
	return Incident{IncidentID: a.Incident, Title: a.Title, ChannelID: a.Channel, Severity: a.Severity, EverMuted: a.EverMuted, AlertCnt: 1,
		Detail: Detail{Description: a.Description, DedupKey: a.Key, Labels: a.Labels, Images: a.Images,
			IntegrationIDs: []int64{a.Integration}, IntegrationTypes: []string{origin.Type}}}
}

// Joined adds an alert to the incident's counts, severity and origins. storm is the threshold of alerts that it reached;
// 0: none.
func (d Writer) Joined(incident string, a *decide.Alert, origin alert.Origin, storm int64, name GroupName) error {
	r, err := d.Get(incident)
	if err != nil {
		return err
	}
	r.AlertCnt++
	d.Batch.count(incident, 1)
	r.LastTime, r.EverMuted = d.Now.Unix(), r.EverMuted || a.EverMuted
	r.addOrigins([]int64{a.Integration}, []string{origin.Type})
	before := r.Severity
	r.raise(a.Severity, d.Now)
	r.rename(name)
	if err := d.scheduleResolve(&r); err != nil {
		return err
	}
	bundle, err := d.bundleJoined(&r)
	if err != nil {
		return err
	}
	reached := storm > 0 && !slices.Contains(r.Storms, storm)
	if reached {
		r.Storms = append(r.Storms, storm)
	}
	if d.Batch != nil && r.Severity == before && !bundle && !reached { // no one learns of it now
		d.Batch.savedLater(&r)
		return nil
	}
	if err := d.save(&r); err != nil {
		return err
	}
	if err := d.publishSeverity(&r, before); err != nil {
		return err
	}
	if bundle {
		if err := d.publish(&r, activity.Joined{Title: render.AlertName(a.Title, a.Labels), Until: r.JoinedUntil}); err != nil {
			return err
		}
	}
	if !reached {
		return nil
	}
	return d.publish(&r, activity.Stormed{Threshold: storm})
}

// bundleJoined reports whether an alert that joins is the first of a bundle: its incident is acknowledged, and the bundle
// before is over. The others of a bundle are not published: a storm of alerts is one entry of the feed.
func (d Writer) bundleJoined(r *Incident) (first bool, err error) {
	now := d.Now.Unix()
	if r.Progress != Processing || now < r.JoinedUntil {
		return false, nil
	}
	ch, _, err := d.channel(r.ChannelID)
	r.JoinedUntil = now + ch.JoinedSeconds()
	return true, err
}

// addOrigins adds the integrations of alerts that join, and the types of these integrations.
func (r *Incident) addOrigins(integrations []int64, types []string) {
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

// Updated applies the changed severity of an alert, and the name of its group, to its incident. A missing incident is no
// error, because an alert from an account file may name it.
func (d Writer) Updated(incident string, a *decide.Alert, name GroupName) error {
	r, found, err := d.find(incident)
	if err != nil || !found {
		return err
	}
	before := r.Severity
	raised, renamed := r.raise(a.Severity, d.Now), r.rename(name)
	if !raised && !renamed {
		return nil
	}
	if err := d.save(&r); err != nil {
		return err
	}
	return d.publishSeverity(&r, before)
}

// publishSeverity publishes the severity if it is another one than before.
func (d Writer) publishSeverity(r *Incident, before string) error {
	if r.Severity == before {
		return nil
	}
	return d.publish(r, activity.SeverityChanged{From: before, To: r.Severity})
}

// raise sets the severity to that of an alert if that is higher and no person has set one. It reports whether it did.
func (r *Incident) raise(severity string, now time.Time) bool {
	if event.Rank(severity) <= event.Rank(r.Severity) || slices.Contains(r.ManualOverrides, "incident_severity") {
		return false
	}
	r.Severity, r.RoseAt = severity, now.Unix()
	return true
}

// Recovered resolves the incident when it has no active alert, unless its channel sets DisableAutoClose. An incident that
// does not exist or is closed is no error.
func (d Writer) Recovered(incident string) error {
	d.Batch.count(incident, -1)
	r, found, err := d.find(incident)
	if err != nil || !found || r.Progress == Closed {
		return err
	}
	active, err := d.active(incident)
	if err != nil || active > 0 {
		return err
	}
	ch, found, err := d.channel(r.ChannelID)
	if err != nil || found && ch.DisableAutoClose != nil && *ch.DisableAutoClose {
		return err
	}
	return d.resolve(&r, "recovery")
}
