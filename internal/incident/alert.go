package incident

import (
	"errors"
	"slices"
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/render"
	"tocsin/internal/platform/fault"
)

// SomeAlerts names alerts. An operation applies to all of them or to none.
type SomeAlerts struct {
	AlertIDs []string `json:"alert_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Alerts, at most 100, of 24 hexadecimal digits each."`
}

// alerts reads the alerts, each once. It fails when one does not exist, or belongs to a channel that is private to others.
func (in SomeAlerts) alerts(c *api.Call) (all []decide.Alert, err error) {
	seen := map[string]bool{}
	for _, id := range in.AlertIDs {
		id = strings.ToLower(id)
		if seen[id] {
			continue
		}
		seen[id] = true
		a, found, err := alert.Find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fault.Missing("alert", id)
		}
		ch, found, err := channel.Find(c.Tx, c.Who.AccountID, a.Channel)
		if err == nil && found {
			err = channel.Permit(c.Tx, c.Who, ch)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// closeAlerts ends alerts by hand. An incident without any other active alert is resolved.
func (r *Service) closeAlerts(c *api.Call, in SomeAlerts) (api.Empty, error) {
	alerts, err := in.alerts(c)
	if err != nil {
		return api.Empty{}, err
	}
	d := r.writer(c)
	for i := range alerts {
		a := &alerts[i]
		if !a.Active() {
			return api.Empty{}, fault.New(fault.Conflict, "alert %s cannot be closed: it is over", a.ID)
		}
		if err := d.CloseAlert(a); err != nil {
			return api.Empty{}, err
		}
		c.Touched("alert", a.ID, render.AlertName(a.Title, a.Labels))
		if a.Incident != "" {
			if err := d.closedAlert(a.Incident); err != nil {
				return api.Empty{}, err
			}
		}
	}
	return api.Empty{}, nil
}

// closedAlert settles an incident of which an alert was closed by hand.
func (d Writer) closedAlert(incident string) error {
	if r, found, err := d.find(incident); err != nil || !found {
		return err
	} else if err := d.settle(&r); err != nil {
		return err
	}
	return d.Recovered(incident)
}

// MergeAlertsRequest asks to move alerts to an incident.
type MergeAlertsRequest struct {
	SomeAlerts
	OneRequest
	Comment string `json:"comment,omitzero" maxLength:"1024" doc:"Why, for the feed."`
	Title   string `json:"title,omitzero" maxLength:"512" doc:"A new title for the incident."`
	OwnerID int64  `json:"owner_id,omitzero" minimum:"0" doc:"Who leads from now on."`
}

// mergeAlerts moves alerts to an incident. An incident that loses its last alert so is merged into it.
func (r *Service) mergeAlerts(c *api.Call, in MergeAlertsRequest) (api.Empty, error) {
	target, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.Empty{}, err
	}
	alerts, err := in.alerts(c)
	if err != nil {
		return api.Empty{}, err
	}
	if err := needOwner(c, in.OwnerID); err != nil {
		return api.Empty{}, err
	}
	d := r.writer(c)
	if err := d.move(&target, Join); err != nil {
		return api.Empty{}, err
	}
	severity := target.Severity
	flapping, err := d.flappingOf(alerts)
	if err != nil {
		return api.Empty{}, err
	}
	if target.Flapping == nil {
		target.Flapping = flapping
	}
	left, err := d.adoptAll(c, &target, alerts, in.Comment)
	if err != nil {
		return api.Empty{}, err
	}
	target.LastTime = c.Unix()
	if err := d.saveMerged(c, &target, in.Title, in.OwnerID, severity); err != nil {
		return api.Empty{}, err
	}
	var merged []string
	for _, l := range left {
		gone, err := d.settleSource(l.incident, &target, l.active)
		if err != nil {
			return api.Empty{}, err
		}
		if gone {
			merged = append(merged, l.incident)
		}
	}
	if len(merged) == 0 {
		return api.Empty{}, nil
	}
	return api.Empty{}, d.publish(&target, activity.Merged{SourceIncidentIDs: merged, TargetIncidentID: target.IncidentID,
		Comment: in.Comment})
}

// leftIncident is an incident that lost alerts to another one.
type leftIncident struct {
	incident string
	active   bool // one of these alerts was active
}

// adoptAll moves alerts to the target, and returns the incidents that they leave, each once.
func (d Writer) adoptAll(c *api.Call, target *Incident, alerts []decide.Alert, comment string) (left []leftIncident, err error) {
	for i := range alerts {
		a := &alerts[i]
		source := a.Incident
		if source == target.IncidentID {
			continue
		}
		if err := d.adopt(target, a, comment); err != nil {
			return nil, err
		}
		c.Touched("alert", a.ID, render.AlertName(a.Title, a.Labels))
		if source == "" {
			continue
		}
		at := slices.IndexFunc(left, func(l leftIncident) bool { return l.incident == source })
		if at < 0 {
			at, left = len(left), append(left, leftIncident{incident: source})
		}
		left[at].active = left[at].active || a.Active()
	}
	return left, nil
}

// adopt moves one alert to the target, which takes over its origin, and its severity while the alert is active. It
// stores the alert, not the target. A mute ends with it: the alert was muted for its former incident.
func (d Writer) adopt(target *Incident, a *decide.Alert, comment string) error {
	a.Incident = target.IncidentID
	a.Muted = ""
	a.MutedBy = ""
	a.MutedUntil = a.FlapsUntil
	if err := alert.Save(d.Tx, d.Account, a, d.Now); err != nil {
		return err
	}
	origin, err := alert.OriginOf(d.Tx, d.Account, a.ID)
	if err != nil {
		return err
	}
	target.addOrigins([]int64{a.Integration}, []string{origin.Type})
	target.AlertCnt++
	target.EverMuted = target.EverMuted || a.EverMuted
	if a.Active() {
		target.raise(a.Severity, d.Now)
	}
	return d.Bus.Publish(d.Tx, activity.Item{
		Account: d.Account,
		ID:      a.ID,
		Channel: a.Channel,
		At:      d.Now,
		Person:  d.Person,
		Event:   activity.AlertMerged{IncidentID: target.IncidentID, Comment: comment},
	})
}

// settleSource finishes an incident that lost alerts to the target. Without any alert it is merged into the target. With
// alerts it recovers when none of them is active, but only if it lost an active alert (active): otherwise nothing about
// its recovery has changed.
func (d Writer) settleSource(id string, target *Incident, active bool) (merged bool, err error) {
	source, found, err := Find(d.Tx, d.Account, id)
	if err != nil || !found || source.Progress == Closed {
		return false, err
	}
	count, err := alert.CountOf(d.Tx, d.Account, id)
	if err != nil {
		return false, err
	}
	source.AlertCnt = count.Alerts
	if count.Alerts > 0 {
		if err := errors.Join(d.save(&source), d.settle(&source)); err != nil || !active {
			return false, err
		}
		return false, d.Recovered(id)
	}
	return true, d.MergeInto(&source, target, false)
}
