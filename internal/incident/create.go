package incident

import (
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/field"
)

// CreateRequest is an incident to open by hand.
type CreateRequest struct {
	IncidentSeverity string      `json:"incident_severity" enum:"Info,Warning,Critical" doc:"How bad it is."`
	Title            string      `json:"title" minLength:"1" maxLength:"512" doc:"What people read first."`
	Description      string      `json:"description,omitzero" maxLength:"6144" doc:"What it is about."`
	ChannelID        int64       `json:"channel_id,omitzero" minimum:"0" doc:"The channel it belongs to; absent or 0: none."`
	AssignedTo       *AssignedTo `json:"assigned_to,omitzero" doc:"Who is to be responsible; absent: the channel's escalation rules decide."`
}

// Created is the reply to /incident/create.
type Created struct {
	IncidentID string `json:"incident_id" doc:"The new incident."`
	Title      string `json:"title" doc:"Its title."`
	api.Warnings
}

func (r *Service) create(c *api.Call, in CreateRequest) (reply Created, err error) {
	if in.ChannelID != 0 {
		if err := channel.Readable(c.Tx, c.Who, in.ChannelID); err != nil {
			return reply, err
		}
	}
	i := Incident{Title: in.Title, ChannelID: in.ChannelID, Severity: in.IncidentSeverity,
		Detail: Detail{Description: in.Description, Fields: map[string]jsontext.Value{}}}
	fields, err := field.Kind.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return reply, err
	}
	for _, f := range fields {
		if len(f.DefaultValue) > 0 && f.DefaultValue.Kind() != 'n' {
			i.Fields[f.FieldName] = f.DefaultValue
		}
	}
	if in.AssignedTo != nil {
		if err := r.checkAssignment(c, in.AssignedTo, in.ChannelID); err != nil {
			return reply, err
		}
		i.AssignedTo = in.AssignedTo
	}
	d := r.writer(c)
	if err := d.Open(&i); err != nil {
		return reply, err
	}
	if in.AssignedTo != nil {
		i.AssignedTo = nil
		if err := d.Assign(&i, *in.AssignedTo); err != nil {
			return reply, err
		}
		warned, err := absences(c, "assigned_to.person_ids", in.AssignedTo.PersonIDs)
		if err != nil {
			return reply, err
		}
		reply.Warnings = warned.Warnings
	} else if in.ChannelID == 0 {
		reply.Warnings.Warnings = append(reply.Warnings.Warnings, sentence.Words(sentence.New("w_unassigned")))
	}
	reply.IncidentID, reply.Title = i.IncidentID, i.Title
	return reply, Touched(c, &i)
}
