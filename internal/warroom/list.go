package warroom

import (
	"tocsin/internal/api"
	"tocsin/internal/incident"
)

// ListRequest asks for the war rooms of an incident.
type ListRequest struct {
	incident.OneRequest
	IntegrationID int64 `json:"integration_id,omitzero" minimum:"0" doc:"Only the war room with this integration; absent or 0: with any."`
}

func list(c *api.Call, in ListRequest) (api.Items[Record], error) {
	i, err := incident.Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.Items[Record]{}, err
	}
	all, err := of(c.Tx, c.Who.AccountID, i.IncidentID, in.IntegrationID)
	return api.Items[Record]{Items: all}, err
}

// ChatRequest names a war room by its group.
type ChatRequest struct {
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The app that the group was opened with."`
	ChatID        string `json:"chat_id" minLength:"1" maxLength:"255" doc:"The group at the service."`
}

// permit returns a war room and its incident, or AccessDenied when the caller may not read the incident.
func (in ChatRequest) permit(c *api.Call) (Record, incident.Incident, error) {
	w, err := byChat(c.Tx, c.Who.AccountID, in.IntegrationID, in.ChatID)
	if err != nil {
		return w, incident.Incident{}, err
	}
	i, err := incident.Permit(c.Tx, c.Who, w.IncidentID)
	return w, i, err
}
