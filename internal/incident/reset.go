package incident

import (
	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
)

// ResetRequest changes members of an incident; an absent member stays.
type ResetRequest struct {
	OneRequest
	Title            *string `json:"title,omitzero" minLength:"1" maxLength:"512" doc:"New title."`
	Description      *string `json:"description,omitzero" maxLength:"6144" doc:"New description."`
	Impact           *string `json:"impact,omitzero" maxLength:"6144" doc:"Whom it hurts."`
	RootCause        *string `json:"root_cause,omitzero" maxLength:"6144" doc:"Why it happened."`
	Resolution       *string `json:"resolution,omitzero" maxLength:"6144" doc:"What helped."`
	IncidentSeverity *string `json:"incident_severity,omitzero" enum:"Info,Warning,Critical" doc:"New severity; alerts do not raise it any more."`
}

// Check holds the request against its bounds.
func (in ResetRequest) Check() error {
	if in.Title == nil && in.Description == nil && in.Impact == nil && in.RootCause == nil && in.Resolution == nil &&
		in.IncidentSeverity == nil {
		return fault.Invalid("title", "or another field to change is required")
	}
	return nil
}

func (r *Service) reset(c *api.Call, in ResetRequest) (api.Empty, error) {
	return r.each(c, []string{in.IncidentID}, func(d Writer, i *Incident) error {
		var events []activity.Event
		for _, change := range []struct {
			to         *string
			member     *string
			name, kind string
		}{
			{in.Title, &i.Title, "title", activity.IncidentTitle},
			{in.Description, &i.Description, "description", activity.IncidentDesc},
			{in.Impact, &i.Impact, "impact", activity.IncidentImpact},
			{in.RootCause, &i.RootCause, "root_cause", activity.IncidentRootCause},
			{in.Resolution, &i.Resolution, "resolution", activity.IncidentSolution},
			{in.IncidentSeverity, &i.Severity, "incident_severity", activity.IncidentSeverity},
		} {
			if change.to == nil {
				continue
			}
			i.override(change.name) // even without a change: a severity that a person has confirmed stays
			if *change.to == *change.member {
				continue
			}
			from := *change.member
			*change.member = *change.to
			if change.kind == activity.IncidentSeverity {
				events = append(events, activity.SeverityChanged{From: from, To: *change.to})
				if event.Rank(*change.to) > event.Rank(from) {
					i.RoseAt = d.Now.Unix()
				}
			} else {
				events = append(events, activity.TextChanged{Kind: change.kind, From: from, To: *change.to})
			}
		}
		if err := d.save(i); err != nil {
			return err
		}
		for _, e := range events {
			if err := d.publish(i, e); err != nil {
				return err
			}
		}
		return nil
	})
}

// override records that a person set a field, so that alerts do not change it again.
func (r *Incident) override(name string) {
	for _, have := range r.ManualOverrides {
		if have == name {
			return
		}
	}
	r.ManualOverrides = append(r.ManualOverrides, name)
}
