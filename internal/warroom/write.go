package warroom

import (
	"context"

	"tocsin/internal/api"
	"tocsin/internal/fault"
	"tocsin/internal/incident"
	"tocsin/internal/news"
)

type deleteRequest struct {
	incident.OneRequest
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The app that the group was opened with."`
	api.DryRun
}

// remove takes a war room away; its group is left alone, as what was said there may still be needed.
func (r *Room) remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	i, err := incident.Permit(c.Tx, c.Who, in.IncidentID)
	if err != nil {
		return api.Removal{}, err
	}
	w, found, err := find(c.Tx, c.Who.AccountID, i.IncidentID, in.IntegrationID)
	switch {
	case err != nil:
		return api.Removal{}, err
	case !found:
		return api.Removal{}, fault.Missing("war room", i.IncidentID)
	case w.pending(c.Now):
		return api.Removal{}, fault.New(fault.Conflict, "the war room of this incident is just being opened")
	}
	c.Removed("war_room", w.ChatID, w.ChatName)
	c.Touched("incident", i.IncidentID, i.Title)
	if err := w.forget(c.Tx); err != nil || w.Status != isOpen {
		return api.Removal{}, err
	}
	return api.Removal{}, r.tell(c, &w, i.ChannelID, news.IncidentRoomGone)
}

type addRequest struct {
	ChatRequest
	MemberIDs []int64 `json:"member_ids" minItems:"1" maxItems:"100" doc:"The persons to add, 1 to 100."`
}

// add asks the service to add persons to a group.
func (r *Room) add(c *api.Call, in addRequest) (a asked, err error) {
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
	ctx, cancel := context.WithTimeout(c.Ctx, patience)
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
func (r *Room) added(c *api.Call, a asked) (api.Warnings, error) {
	c.Touched("war_room", a.ChatID, a.ChatName)
	c.Touched("incident", a.IncidentID, a.incident.Title)
	return api.Warnings{Warnings: a.warnings}, nil
}
