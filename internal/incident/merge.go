package incident

import (
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// MergeRequest asks to merge incidents into another.
type MergeRequest struct {
	SourceIncidentIDs     []string `json:"source_incident_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Incidents that become part of another."`
	TargetIncidentID      string   `json:"target_incident_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"That other."`
	Title                 string   `json:"title,omitzero" maxLength:"512" doc:"A new title for it."`
	Comment               string   `json:"comment,omitzero" maxLength:"1024" doc:"Why, for the feed."`
	OwnerID               int64    `json:"owner_id,omitzero" minimum:"0" doc:"Who leads from now on."`
	RemoveSourceIncidents bool     `json:"remove_source_incidents,omitzero" doc:"The sources are removed; else they are closed."`
}

func (r *Service) merge(c *api.Call, in MergeRequest) (api.Empty, error) {
	target, err := Permit(c.Tx, c.Who, in.TargetIncidentID)
	if err != nil {
		return api.Empty{}, err
	}
	if err := needOwner(c, in.OwnerID); err != nil {
		return api.Empty{}, err
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
		if err := Touched(c, &source); err != nil { // before its alerts leave it
			return api.Empty{}, err
		}
		if err := d.MergeInto(&source, &target, in.RemoveSourceIncidents); err != nil {
			return api.Empty{}, err
		}
		merged = append(merged, id)
	}
	if len(merged) == 0 {
		return api.Empty{}, fault.Invalid("source_incident_ids", "must name an incident beside target_incident_id")
	}
	if err := d.saveMerged(c, &target, in.Title, in.OwnerID, severity); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, d.publish(&target, activity.Merged{SourceIncidentIDs: merged, TargetIncidentID: target.IncidentID,
		Comment: in.Comment})
}

// needOwner returns fault.Invalid unless the owner that a merge names is a person of the account; 0 names none.
func needOwner(c *api.Call, owner int64) error {
	if owner == 0 {
		return nil
	}
	return person.Table.Need(c.Tx, c.Who.AccountID, "owner_id", owner)
}

// saveMerged stores the target of a merge, with the title and the owner that the request names; empty and 0 change
// nothing. It publishes a severity other than before.
func (d Writer) saveMerged(c *api.Call, target *Incident, title string, owner int64, before string) error {
	if title != "" {
		target.Title = title
		target.override("title")
	}
	if owner != 0 {
		target.OwnerID = owner
	}
	if err := d.save(target); err != nil {
		return err
	}
	if err := d.publishSeverity(target, before); err != nil {
		return err
	}
	return Touched(c, target)
}

// MergeInto moves the alerts of source to target, closes source, and deletes it when remove is set. Both must be open.
// It stores source, not target.
func (d Writer) MergeInto(source, target *Incident, remove bool) error {
	if err := d.move(target, Join); err != nil {
		return err
	}
	if err := d.move(source, Merge); err != nil {
		return err
	}
	moved, err := alert.Move(d.Tx, d.Account, source.IncidentID, target.IncidentID, d.Now)
	if err != nil {
		return err
	}
	target.AlertCnt += moved
	target.LastTime, target.EverMuted = d.Now.Unix(), target.EverMuted || source.EverMuted
	target.raise(source.Severity, d.Now)
	target.addOrigins(source.IntegrationIDs, source.IntegrationTypes)
	joined, err := d.takeResponders(source, target)
	if err != nil {
		return err
	}
	if target.Flapping == nil {
		target.Flapping = source.Flapping
	}
	source.Flapping = nil
	source.endSnooze(d.Now.Unix())
	source.CloseTime = d.Now.Unix()
	source.CloserID = d.Person
	source.ResolveAt = 0
	source.MergedInto = target.IncidentID
	source.AlertCnt = 0
	if err := d.save(source); err != nil {
		return err
	}
	if err := d.publish(source, activity.Merged{SourceIncidentIDs: []string{source.IncidentID},
		TargetIncidentID: target.IncidentID, PersonIDs: joined}); err != nil || !remove {
		return err
	}
	return d.Remove(source)
}

// takeResponders makes the responders of source responsible for target. It returns the persons who were not responsible
// before. Persons from whom the channel of target is hidden do not become responsible: that would show it to them.
func (d Writer) takeResponders(source, target *Incident) (joined []int64, err error) {
	owner, err := auth.OwnerOf(d.Tx, d.Account)
	if err != nil {
		return nil, err
	}
	for _, id := range source.Responders() {
		if slices.Contains(target.Responders(), id) {
			continue
		}
		err := target.permit(d.Tx, auth.Principal{AccountID: d.Account, PersonID: id, Owner: id == owner})
		if fault.KindOf(err) == fault.AccessDenied {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := d.addResponder(target, id, 0); err != nil {
			return nil, err
		}
		joined = append(joined, id)
	}
	return joined, nil
}

// maxMerges bounds how many merges Current follows.
const maxMerges = 100

// Current returns the incident that an incident was merged into, directly or by further merges. Without a merge, Current
// returns the incident itself. An incident that was removed ends the chain.
func Current(tx *db.Tx, i Incident) (Incident, error) {
	for range maxMerges {
		if i.MergedInto == "" {
			break
		}
		next, found, err := Find(tx, i.AccountID, i.MergedInto)
		if err != nil || !found {
			return i, err
		}
		i = next
	}
	return i, nil
}
