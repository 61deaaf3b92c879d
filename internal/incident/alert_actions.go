package incident

import (
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/platform/fault"
)

// SomeAlerts names alerts. What is done about them is done about all or none.
type SomeAlerts struct {
	AlertIDs []string `json:"alert_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Alerts, at most 100, of 24 hexadecimal digits each."`
}

// alerts reads alerts that the caller may read.
func (in SomeAlerts) alerts(c *api.Call) (all []decide.Alert, err error) {
	seen := map[string]bool{}
	for _, id := range in.AlertIDs {
		if id = strings.ToLower(id); seen[id] {
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

// closeAlerts ends alerts by hand. An incident whose last alert it was is resolved.
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
		c.Touched("alert", a.ID, a.Title)
		if a.Incident != "" {
			if err := d.Recovered(a.Incident); err != nil {
				return api.Empty{}, err
			}
		}
	}
	return api.Empty{}, nil
}

type mergeAlertsRequest struct {
	SomeAlerts
	OneRequest
	Comment string `json:"comment,omitzero" maxLength:"1024" doc:"Why, for the feed."`
	Title   string `json:"title,omitzero" maxLength:"512" doc:"A new title for the incident."`
	OwnerID int64  `json:"owner_id,omitzero" minimum:"0" doc:"Who leads from now on."`
}

// mergeAlerts makes alerts those of an incident. One that they leave empty is closed.
func (r *Service) mergeAlerts(c *api.Call, in mergeAlertsRequest) (api.Empty, error) {
	target, err := Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.Empty{}, err
	}
	alerts, err := in.alerts(c)
	if err != nil {
		return api.Empty{}, err
	}
	if in.OwnerID != 0 {
		if err := configstore.Need(c.Tx, c.Who.AccountID, "owner_id", configstore.RefTo(configstore.Person, in.OwnerID)); err != nil {
			return api.Empty{}, err
		}
	}
	d := r.writer(c)
	if _, err := d.move(&target, Join); err != nil {
		return api.Empty{}, err
	}
	left, active, severity := []string{}, map[string]bool{}, target.Severity
	for i := range alerts {
		a := &alerts[i]
		if a.Incident == target.IncidentID {
			continue
		}
		if a.Incident != "" {
			left = append(left, a.Incident)
			active[a.Incident] = active[a.Incident] || a.Active()
		}
		a.Incident = target.IncidentID
		a.Muted, a.MutedBy, a.MutedUntil = "", "", 0
		if err := alert.Save(c.Tx, c.Who.AccountID, a, c.Now); err != nil {
			return api.Empty{}, err
		}
		origin, err := alert.OriginOf(c.Tx, c.Who.AccountID, a.ID)
		if err != nil {
			return api.Empty{}, err
		}
		target.cameFrom([]int64{a.Integration}, []string{origin.Type})
		target.AlertCnt++
		target.EverMuted = target.EverMuted || a.EverMuted
		if a.Active() {
			target.raise(a.Severity)
		}
		c.Touched("alert", a.ID, a.Title)
		item := activity.Item{Account: d.Account, ID: a.ID, Channel: a.Channel, At: d.Now, Person: d.Person,
			Event: activity.AlertMerged{IncidentID: target.IncidentID, Comment: in.Comment}}
		if err := r.Bus.Publish(c.Tx, item); err != nil {
			return api.Empty{}, err
		}
	}
	if in.Title != "" {
		target.Title = in.Title
		target.override("title")
	}
	if in.OwnerID != 0 {
		target.OwnerID = in.OwnerID
	}
	target.LastTime = c.Unix()
	if err := d.save(&target); err != nil {
		return api.Empty{}, err
	}
	if err := d.worse(&target, severity); err != nil {
		return api.Empty{}, err
	}
	c.Touched("incident", target.IncidentID, target.Title)
	for _, id := range left {
		if err := d.emptied(id, &target, active[id]); err != nil {
			return api.Empty{}, err
		}
	}
	return api.Empty{}, nil
}

// emptied closes an incident that has no alert any more, or none that is active, because they became another's.
// active tells whether one of those was.
func (d Writer) emptied(id string, target *Incident, active bool) error {
	source, found, err := Find(d.Tx, d.Account, id)
	if err != nil || !found || source.Progress == Closed {
		return err
	}
	count, err := alert.CountOf(d.Tx, d.Account, id)
	if err != nil {
		return err
	}
	source.AlertCnt = count.Alerts
	if count.Alerts > 0 {
		if err := d.save(&source); err != nil || !active {
			return err
		}
		return d.Recovered(id)
	}
	return d.MergeInto(&source, target, false)
}
