package incident

import (
	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

type mergeRequest struct {
	SourceIncidentIDs     []string `json:"source_incident_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Incidents that become part of another."`
	TargetIncidentID      string   `json:"target_incident_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"That other."`
	Title                 string   `json:"title,omitzero" maxLength:"512" doc:"A new title for it."`
	Comment               string   `json:"comment,omitzero" maxLength:"1024" doc:"Why, for the feed."`
	OwnerID               int64    `json:"owner_id,omitzero" minimum:"0" doc:"Who leads from now on."`
	RemoveSourceIncidents bool     `json:"remove_source_incidents,omitzero" doc:"The sources are removed; else they are closed."`
}

func (r *Service) merge(c *api.Call, in mergeRequest) (api.Empty, error) {
	target, err := Permit(c.Tx, c.Who, in.TargetIncidentID)
	if err != nil {
		return api.Empty{}, err
	}
	if in.OwnerID != 0 {
		if err := configstore.Need(c.Tx, c.Who.AccountID, "owner_id", configstore.RefTo(configstore.Person, in.OwnerID)); err != nil {
			return api.Empty{}, err
		}
	}
	d := r.writer(c)
	var merged []string
	severity := target.Severity
	for _, id := range (Some{in.SourceIncidentIDs}).ids() {
		if id == target.IncidentID {
			continue
		}
		source, err := Permit(c.Tx, c.Who, id)
		if err != nil {
			return api.Empty{}, err
		}
		if err := d.MergeInto(&source, &target, in.RemoveSourceIncidents); err != nil {
			return api.Empty{}, err
		}
		c.Touched("incident", source.IncidentID, source.Title)
		merged = append(merged, id)
	}
	if len(merged) == 0 {
		return api.Empty{}, fault.Invalid("source_incident_ids", "must name an incident beside target_incident_id")
	}
	if in.Title != "" {
		target.Title = in.Title
		target.override("title")
	}
	if in.OwnerID != 0 {
		target.OwnerID = in.OwnerID
	}
	if err := d.save(&target); err != nil {
		return api.Empty{}, err
	}
	if err := d.worse(&target, severity); err != nil {
		return api.Empty{}, err
	}
	c.Touched("incident", target.IncidentID, target.Title)
	return api.Empty{}, d.publish(&target, activity.Merged{SourceIncidentIDs: merged, TargetIncidentID: target.IncidentID, Comment: in.Comment})
}

// MergeInto makes the alerts of one open incident those of another and closes the first.
func (d Writer) MergeInto(source, target *Incident, remove bool) error {
	if _, err := d.move(target, Join); err != nil {
		return err
	}
	if _, err := d.move(source, Merge); err != nil {
		return err
	}
	moved, err := alert.Move(d.Tx, d.Account, source.IncidentID, target.IncidentID, d.Now)
	if err != nil {
		return err
	}
	target.AlertCnt += moved
	target.LastTime, target.EverMuted = d.Now.Unix(), target.EverMuted || source.EverMuted
	target.raise(source.Severity)
	target.cameFrom(source.IntegrationIDs, source.IntegrationTypes)
	source.endSnooze(d.Now.Unix())
	source.CloseTime, source.CloserID, source.ResolveAt, source.MergedInto, source.AlertCnt = d.Now.Unix(), d.Person, 0, target.IncidentID, 0
	if err := d.save(source); err != nil {
		return err
	}
	if err := d.publish(source, activity.Merged{SourceIncidentIDs: []string{source.IncidentID}, TargetIncidentID: target.IncidentID}); err != nil || !remove {
		return err
	}
	return d.Remove(source)
}
