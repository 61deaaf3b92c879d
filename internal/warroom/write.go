package warroom

import (
	"context"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/incident"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

type deleteRequest struct {
	incident.OneRequest
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The app that the group was opened with."`
	api.DryRun
}

// find reads the war room and its incident for a caller who may change that.
func (in deleteRequest) find(c *api.Call) (w Record, i incident.Incident, err error) {
	if i, err = incident.Permit(c.Tx, c.Who, in.IncidentID); err != nil {
		return w, i, err
	}
	w, found, err := find(c.Tx, c.Who.AccountID, i.IncidentID, in.IntegrationID)
	switch {
	case err != nil:
		return w, i, err
	case !found:
		return w, i, fault.Missing("war room", i.IncidentID)
	case w.pending(c.Now):
		return w, i, fault.New(fault.Conflict, "the war room of this incident is just being opened")
	}
	return w, i, nil
}

// closed is a war room whose group was closed, or need not be.
type closed struct {
	deleteRequest
	chat     string // the group that was closed; empty: none was
	warnings []string
}

// close has the service close the group. One that fails for good does not keep the war room: nobody could ever
// take it away then.
func (r *Service) close(c *api.Call, in deleteRequest) (d closed, err error) {
	d.deleteRequest = in
	if in.DryRun.DryRun {
		return d, nil
	}
	var w Record
	var app sender.App
	var why string
	err = c.Read(func() (err error) {
		if w, _, err = in.find(c); err == nil && w.Status == isOpen {
			app, why, err = r.reach(c, &w)
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
		d.warnings = []string{"the group stays at the service: " + w.PluginType + ": " + said(err)}
	case left != "":
		d.warnings = []string{left}
	}
	return d, nil
}

// remove takes a war room away from its incident.
func (r *Service) remove(c *api.Call, d closed) (api.Removal, error) {
	w, i, err := d.find(c)
	if err != nil {
		return api.Removal{}, err
	}
	if d.chat != "" && d.chat != w.ChatID {
		return api.Removal{}, fault.New(fault.Conflict, "the war room was deleted and opened anew meanwhile")
	}
	reply := api.Removal{Warnings: api.Warn(d.warnings)}
	c.Removed("war_room", w.ChatID, w.ChatName)
	c.Touched("incident", i.IncidentID, i.Title)
	if err := w.forget(c.Tx); err != nil || w.Status != isOpen {
		return reply, err
	}
	return reply, r.publish(c, &w, i.ChannelID, activity.WarRoomClosed{WarRoom: w.named()})
}

type addRequest struct {
	ChatRequest
	MemberIDs []int64 `json:"member_ids" minItems:"1" maxItems:"100" doc:"The persons to add, 1 to 100."`
}

// add asks the service to add persons to a group.
func (r *Service) add(c *api.Call, in addRequest) (a asked, err error) {
	err = c.Write(func() error {
		if a.Record, a.incident, err = in.permit(c); err != nil {
			return err
		}
		if _, a.service, err = r.app(c, in.IntegrationID); err != nil {
			return err
		}
		a.people, err = people(c.Tx, c.Who.AccountID, nil, in.MemberIDs)
		return err
	})
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	missing, err := a.service.AddMembers(ctx, r.Out, a.ChatID, a.people)
	if err != nil {
		return a, failed(a.PluginType, err, missing)
	}
	if len(missing) > 0 {
		a.warnings = []string{a.PluginType + ": " + unknown(missing)}
	}
	return a, nil
}

// added records who was added.
func (r *Service) added(c *api.Call, a asked) (api.Warnings, error) {
	c.Touched("war_room", a.ChatID, a.ChatName)
	c.Touched("incident", a.IncidentID, a.incident.Title)
	return api.Warn(a.warnings), nil
}
