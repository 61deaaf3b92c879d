package warroom

import (
	"cmp"
	"context"

	"tocsin/internal/api"
	"tocsin/internal/incident"
	"tocsin/internal/sender"
)

type listRequest struct {
	incident.OneRequest
	IntegrationID int64 `json:"integration_id,omitzero" minimum:"0" doc:"Only the war room with this integration; absent or 0: with any."`
}

func list(c *api.Call, in listRequest) (api.Items[Record], error) {
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

// permit reads a war room and its incident for a caller who may read that.
func (in ChatRequest) permit(c *api.Call) (Record, incident.Incident, error) {
	w, err := byChat(c.Tx, c.Who.AccountID, in.IntegrationID, in.ChatID)
	if err != nil {
		return w, incident.Incident{}, err
	}
	i, err := incident.Permit(c.Tx, c.Who, w.IncidentID)
	return w, i, err
}

// Detail is the reply to /incident/war-room/detail: {} when there is no group any more.
type Detail struct {
	ChatID    string  `json:"chat_id,omitzero" doc:"The group at the service; absent, with all else, when there is none any more."`
	ChatName  string  `json:"chat_name,omitzero" doc:"Its name."`
	ShareLink *string `json:"share_link,omitzero" doc:"Where to join it; empty where the service gives no link."`
	api.Warnings
}

// see asks the service for a group. What was stored stands in when the service does not tell.
func (r *Service) see(c *api.Call, in ChatRequest) (d Detail, err error) {
	var w Record
	var app sender.App
	var why string
	err = c.Read(func() (err error) {
		if w, _, err = in.permit(c); err == nil {
			app, why, err = r.reach(c, &w)
		}
		return err
	})
	if err != nil {
		return d, err
	}
	d = Detail{ChatID: w.ChatID, ChatName: w.ChatName, ShareLink: &w.ShareLink}
	if app == nil {
		return d.asStored(why), nil
	}
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	group, found, err := app.FindGroup(ctx, r.Out, w.ChatID)
	switch {
	case err != nil:
		return d.asStored(w.PluginType + ": " + said(err)), nil
	case !found:
		return Detail{}, nil
	}
	link := cmp.Or(group.Link, w.ShareLink)
	return Detail{ChatID: w.ChatID, ChatName: cmp.Or(group.Name, w.ChatName), ShareLink: &link}, nil
}

func (d Detail) asStored(why string) Detail {
	d.Warnings.Warnings = []string{"this is the group as it was when it was opened: " + why}
	return d
}

func detail(_ *api.Call, d Detail) (Detail, error) { return d, nil }
