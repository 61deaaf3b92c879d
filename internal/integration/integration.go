package integration

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Permit returns ResourceNotFound for an integration that the account does not have, and AccessDenied for one that names a
// private channel which the caller may not read. The rules of an integration are as private as the integration.
func Permit(c *api.Call, integration int64) error {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err != nil {
		return err
	}
	return i.permit(c)
}

// channels returns the channels that an integration names: the one that it is dedicated to, and those of a webhook.
func (i *Integration) channels() []int64 {
	if i.Settings == nil {
		return []int64{i.ChannelID}
	}
	return append([]int64{i.ChannelID}, i.Settings.ChannelIDs...)
}

// permit returns AccessDenied for an integration that names a private channel which the caller may not read. When the
// channel was deleted, every caller may repair the integration.
func (i *Integration) permit(c *api.Call) error {
	return channel.PermitAll(c.Tx, c.Who, i.channels()...)
}

// Hidden lists the integrations that name a private channel which the caller may not read.
func Hidden(tx *db.Tx, who auth.Principal) (hidden []int64, err error) {
	private, err := channel.Hidden(tx, who)
	if err != nil {
		return nil, err
	}
	for _, ch := range private {
		ids, err := configstore.Sources(tx, who.AccountID, configstore.Channel, ch, configstore.Integration)
		if err != nil {
			return nil, err
		}
		for _, text := range ids {
			id, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(hidden, id) {
				hidden = append(hidden, id)
			}
		}
	}
	return hidden, nil
}

// permitRouted returns AccessDenied if the route of an integration names a private channel that the caller may not read:
// to dedicate or delete the integration ends its route.
func permitRouted(c *api.Call, integration int64) error {
	routed, err := configstore.Targets(c.Tx, c.Who.AccountID, configstore.Route, integration, configstore.Channel)
	if err != nil {
		return err
	}
	for _, text := range routed {
		id, err := strconv.ParseInt(text, 10, 64)
		if err == nil {
			err = channel.PermitAll(c.Tx, c.Who, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Visible returns the ids of the integrations that the caller may see. Ids that do not exist are among them, because they
// reveal nothing.
func Visible(c *api.Call, ids []int64) (visible []int64, err error) {
	for _, id := range ids {
		switch err := Permit(c, id); fault.KindOf(err) {
		case fault.AccessDenied:
			continue
		case fault.NotFound:
		default:
			if err != nil {
				return nil, err
			}
		}
		visible = append(visible, id)
	}
	return visible, nil
}

// OneRequest names an integration.
type OneRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

// Info is an integration with what became of its events.
type Info struct {
	Integration
	Refused []Refused         `json:"refused,omitempty" doc:"Of a source: the events of the last 24 hours that were not taken, by reason; absent: none."`
	Volume  *Volume           `json:"volume,omitzero" doc:"Of a source of alerts or changes: how much it has sent today, and the bound."`
	Unknown []UnknownSeverity `json:"unknown_severities,omitempty" doc:"Of a source: words that it sent as severities and that are unknown, so that their events are Warnings: the last 20 of 30 days; absent: none."`
}

func (r *Service) info(c *api.Call, in OneRequest) (Info, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err != nil {
		return Info{}, err
	}
	if err := i.permit(c); err != nil {
		return Info{}, err
	}
	refused, err := RefusedOf(c.Tx, c.Who.AccountID, i.IntegrationID, c.Now.Add(-refusedKept))
	if err != nil {
		return Info{}, err
	}
	unknown, err := i.UnknownSeverities(c.Tx, c.Who.AccountID)
	if err != nil {
		return Info{}, err
	}
	volume, err := i.volume(c.Tx, c.Who.AccountID, c.Now)
	if err != nil {
		return Info{}, err
	}
	err = r.show(c, &i)
	return Info{Integration: i, Refused: refused, Volume: volume, Unknown: unknown}, err
}

// show opens the secrets of an integration for a caller who may manage integrations, and masks them for others.
func (r *Service) show(c *api.Call, i *Integration) (err error) {
	if c.Who.May(auth.IntegrationsManage) {
		err = Kind.Show(r.Keyring, c.Who.AccountID, i, c.Report)
	} else {
		err = Kind.Blank(i)
	}
	i.hideRotated()
	i.PushURL = i.pushPath()
	return err
}

// setStatus returns the function of /integration/enable or /integration/disable.
func (r *Service) setStatus(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		i, err := r.readInClear(c, in.IntegrationID)
		if err != nil {
			return api.Empty{}, err
		}
		i.Status = status
		_, err = r.store(c, &i, Body{}, i.Settings)
		return api.Empty{}, err
	}
}

// ListRequest asks for integrations, by name and team.
type ListRequest struct {
	api.CursorRequest
	OrderBy  string  `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc      bool    `json:"asc,omitzero" doc:"Oldest first."`
	Query    string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name or description, in upper or lower case."`
	TeamIDs  []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only integrations of these teams; empty: of any."`
	IsMyTeam bool    `json:"is_my_team,omitzero" doc:"Only integrations of teams the caller is in."`
}

// list omits integrations that name a private channel which the caller may not read.
func (r *Service) list(c *api.Call, in ListRequest) (reply api.CursorPage[Integration], err error) {
	hidden, err := Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	reply, err = api.ObjectPage(c, Kind, configstore.Query{
		Search: in.Query, Teams: in.TeamIDs, MyTeam: in.IsMyTeam, Person: c.Who.PersonID, Except: hidden,
		ByUpdate: in.OrderBy == "updated_at", Ascending: in.Asc,
	}, in.CursorRequest, 20)
	for n := range reply.Items {
		if err == nil {
			err = r.show(c, &reply.Items[n])
		}
	}
	return reply, err
}
