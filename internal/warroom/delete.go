package warroom

import (
	"context"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/incident"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// DeleteRequest names the war room to end.
type DeleteRequest struct {
	incident.OneRequest
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The app that the group was opened with."`
	api.DryRun
}

// find returns the war room and its incident, and rejects a caller who may not read the incident.
func (in DeleteRequest) find(c *api.Call) (w Record, i incident.Incident, err error) {
	i, err = incident.Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return w, i, err
	}
	w, found, err := find(c.Tx, c.Who.AccountID, i.IncidentID, in.IntegrationID)
	switch {
	case err != nil:
		return w, i, err
	case !found:
		return w, i, fault.Missing("war room", i.IncidentID)
	case w.pending(c.Now):
		return w, i, fault.New(fault.Conflict, "the war room of this incident is being opened")
	}
	return w, i, nil
}

// closed is a deletion after the call to the service.
type closed struct {
	DeleteRequest
	chat     string // the group that was closed; empty: none was
	warnings []string
}

// close closes the group at the service. A permanent failure is a warning only: otherwise the war room could never be
// deleted.
func (r *Service) close(c *api.Call, in DeleteRequest) (d closed, err error) {
	d.DeleteRequest = in
	if in.DryRun.Only {
		return d, nil
	}
	var w Record
	var app sender.App
	var why string
	err = c.Read(func() (err error) {
		w, _, err = in.find(c)
		if err == nil && w.Status == isOpen {
			app, why, err = r.currentApp(c, &w)
		}
		return err
	})
	if err != nil || w.Status != isOpen {
		return d, err
	}
	if app == nil {
		d.warnings = []string{"the group stays at the service: " + why}
		return d, nil
	}
	d.chat = w.ChatID
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	left, err := app.CloseGroup(ctx, r.Out, sender.Group{ID: w.ChatID, Name: w.ChatName})
	switch {
	case sender.Retry(err):
		return d, failed(w.PluginType, err, nil)
	case err != nil:
		d.warnings = []string{"the group stays at the service: " + w.PluginType + ": " + publicMessage(err)}
	case left != "":
		d.warnings = []string{left}
	}
	return d, nil
}

// remove deletes a war room of an incident and publishes it.
func (r *Service) remove(c *api.Call, d closed) (api.Removal, error) {
	w, i, err := d.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	if d.chat != "" && d.chat != w.ChatID {
		return api.Removal{}, fault.New(fault.Conflict, "the war room was deleted and opened again meanwhile")
	}
	reply := api.Removal{Warnings: api.Warn(d.warnings)}
	c.Removed("war_room", w.ChatID, w.ChatName)
	if err := incident.Touched(c, &i); err != nil {
		return reply, err
	}
	if err := w.delete(c.Tx); err != nil || w.Status != isOpen {
		return reply, err
	}
	return reply, r.publish(c, &w, i.ChannelID, activity.WarRoomClosed{WarRoom: w.eventData()})
}
