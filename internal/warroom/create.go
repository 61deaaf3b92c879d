package warroom

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// CreateRequest asks to open a war room for an incident.
type CreateRequest struct {
	incident.OneRequest
	IntegrationID int64   `json:"integration_id" minimum:"1" doc:"The app to open the group with; its war rooms must be enabled."`
	MemberIDs     []int64 `json:"member_ids,omitzero" maxItems:"100" doc:"Further persons to invite, at most 100."`
	AddObservers  bool    `json:"add_observers,omitzero" doc:"Also invite the persons who were responsible before."`
}

// Group is the group of a war room at its chat service.
type Group struct {
	ChatID    string `json:"chat_id" doc:"The group at the service."`
	ChatName  string `json:"chat_name" doc:"Its name."`
	ShareLink string `json:"share_link" doc:"Where to join it; empty where the service has no link."`
}

// group returns the group of the record.
func (r *Record) group() Group { return Group{r.ChatID, r.ChatName, r.ShareLink} }

// Created is the reply to /incident/war-room/create.
type Created struct {
	Group
	api.Warnings
}

// openResult is the result of a call to the chat service for a group.
type openResult struct {
	Record
	service  sender.App
	incident incident.Incident
	headline string // of the incident
	people   []sender.Contact
	warnings []string
}

// openGroup stores a record with the status creating, so that no other call opens a second group, and calls the service
// outside any transaction. It does nothing where the group is open already.
func (r *Service) openGroup(c *api.Call, in CreateRequest) (a openResult, err error) {
	err = c.Write(func() error { return r.begin(c, in, &a) })
	if err != nil || a.Status == isOpen {
		return a, err
	}
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	group, err := a.service.OpenGroup(ctx, r.Out, nameOf(a.IncidentID, a.headline), a.people)
	if group.ID == "" {
		return a, errors.Join(failed(a.PluginType, err, group.Missing), c.Write(func() error { return a.delete(c.Tx) }))
	}
	a.ChatID = group.ID
	a.ChatName = group.Name
	a.ShareLink = group.Link
	if err != nil {
		a.warnings = append(a.warnings, "the group is open, but not all persons could be added; /incident/war-room/add-member tries again: "+
			publicMessage(err))
	}
	if len(group.Missing) > 0 {
		a.warnings = append(a.warnings, a.PluginType+": "+missingText(group.Missing))
	}
	if _, err := a.service.Post(ctx, r.Out, group.ID, greeting(&a, r.PublicURL)); err != nil {
		a.warnings = append(a.warnings, "the group is open, but nothing could be posted to it: "+publicMessage(err))
	}
	return a, nil
}

// begin returns the war room that is open, or stores a new one with the status creating.
func (r *Service) begin(c *api.Call, in CreateRequest, a *openResult) (err error) {
	a.incident, err = incident.Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return err
	}
	first, err := a.incident.Lead(c.Tx)
	if err != nil {
		return err
	}
	a.headline, _ = a.incident.Headline(first)
	var app integration.Integration
	app, a.service, err = r.app(c, in.IntegrationID)
	if err != nil {
		return err
	}
	if !app.Settings.WarRoomEnabled {
		return fault.Invalid("integration_id", "names an integration whose settings.war_room_enabled is off, %d (%s)", app.IntegrationID,
			app.IntegrationName)
	}
	have, found, err := find(c.Tx, c.Who.AccountID, a.incident.IncidentID, in.IntegrationID)
	switch {
	case err != nil:
		return err
	case found && have.pending(c.Now):
		return fault.New(fault.Conflict, "the war room of this incident is being opened")
	case found && have.Status == isOpen:
		a.Record = have
		return nil
	}
	others, err := invitees(c.Tx, c.Who.PersonID, &a.incident, in.AddObservers)
	if err != nil {
		return err
	}
	a.people, err = contactsOf(c.Tx, c.Who.AccountID, others, in.MemberIDs)
	if err != nil {
		return err
	}
	a.Record = Record{AccountID: c.Who.AccountID, IntegrationID: in.IntegrationID, CreatedBy: c.Who.PersonID,
		IncidentID: a.incident.IncidentID, Status: creating, CreatedAt: c.Unix(), PluginType: plugin(&app)}
	return a.Record.begin(c.Tx)
}

// create stores the group that was opened and publishes it.
func (r *Service) create(c *api.Call, a openResult) (Created, error) {
	reply := Created{a.group(), api.Warn(a.warnings)}
	c.Touched("war_room", a.ChatID, a.ChatName)
	if err := incident.Touched(c, &a.incident); err != nil {
		return Created{}, err
	}
	if a.Status == isOpen {
		return reply, nil
	}
	if err := a.complete(c.Tx); err != nil {
		return Created{}, err
	}
	return reply, r.publish(c, &a.Record, a.incident.ChannelID, activity.WarRoomOpened{WarRoom: a.Record.eventData()})
}

// publish publishes an event about a war room.
func (r *Service) publish(c *api.Call, w *Record, channel int64, e activity.Event) error {
	return r.Bus.Publish(c.Tx, activity.Item{Account: w.AccountID, ID: w.IncidentID, Channel: channel, At: c.Now, Person: c.Who.PersonID,
		Event: e})
}

// named returns the data of events about the war room.
func (r *Record) eventData() activity.WarRoom {
	return activity.WarRoom{IntegrationID: r.IntegrationID, PluginType: r.PluginType, ChatID: r.ChatID, ChatName: r.ChatName,
		ShareLink: r.ShareLink}
}

// nameOf returns the name of the group. It starts with the number of the incident, which remains when a service cuts the
// name.
func nameOf(id, headline string) string {
	return "#" + incident.Num(id) + " " + render.OneLine(headline)
}

// greeting returns the first message to the group: WeCom does not show a group without one. base is the server's public
// address, as in incident.PageURL.
func greeting(a *openResult, base string) sender.Message {
	to, _ := render.For(a.PluginType)
	text := to.Escape(a.headline) + "\n" + to.Escape(fmt.Sprintf("%s, %s", cmp.Or(a.incident.Severity, event.Info), a.incident.Progress))
	page := incident.PageURL(base, a.IncidentID)
	if page != "" {
		text += "\n" + to.Link("open", page)
	}
	return sender.Message{Key: a.IncidentID + "/war-room", Thread: a.IncidentID, Subject: "War room for #" + incident.Num(a.IncidentID),
		Severity: a.incident.Severity, Event: activity.IncidentRoom, Title: a.headline, Test: a.incident.Test,
		Text: text, Link: page}
}
