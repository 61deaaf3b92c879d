package integration

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/fault"
	"tocsin/internal/object"
)

// Permit refuses an integration that the caller's account does not have, and one that is dedicated to a
// private channel to those who may not read that. What is set up for an integration is as private as it.
func Permit(c *api.Call, integration int64) error {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err != nil {
		return err
	}
	return permit(c, i.ChannelID)
}

// Visible is the ids of those integrations that the caller may see; those that are not there may be seen, for
// there is nothing to see.
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

// permit refuses an integration that is dedicated to a private channel to those who may not read that.
func permit(c *api.Call, dedicated int64) error {
	if dedicated == 0 {
		return nil
	}
	err := channel.Readable(c.Tx, c.Who, dedicated)
	if fault.KindOf(err) == fault.NotFound {
		return nil // the channel is gone, the integration is for everybody to mend
	}
	return err
}

// OneRequest names an integration.
type OneRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

func (r *Room) info(c *api.Call, in OneRequest) (Integration, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err != nil {
		return i, err
	}
	if err := permit(c, i.ChannelID); err != nil {
		return Integration{}, err
	}
	return i, r.show(c, &i)
}

// show readies an integration for the caller.
func (r *Room) show(c *api.Call, i *Integration) (err error) {
	if c.Who.May(auth.IntegrationsManage) {
		err = Kind.Show(r.Box, c.Who.AccountID, i, c.Report)
	} else {
		err = Kind.Blank(i)
	}
	i.PushURL = i.push()
	return err
}

type listRequest struct {
	api.Page
	OrderBy  string  `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"What to order by; absent: created_at."`
	Asc      bool    `json:"asc,omitzero" doc:"Oldest first."`
	Query    string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name or description, in upper or lower case."`
	TeamIDs  []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only integrations of these teams; empty: of any."`
	IsMyTeam bool    `json:"is_my_team,omitzero" doc:"Only integrations of teams the caller is in."`
}

// list leaves the keys of integrations out that are dedicated to private channels the caller may not read;
// that they exist is no secret, because alerts name them.
func (r *Room) list(c *api.Call, in listRequest) (api.Paged[Integration], error) {
	limit, offset := in.Window(20)
	items, total, err := Kind.Page(c.Tx, c.Who.AccountID, object.Query{Search: in.Query, Teams: in.TeamIDs, MyTeam: in.IsMyTeam, Person: c.Who.PersonID,
		ByUpdate: in.OrderBy == "updated_at", Ascending: in.Asc, Limit: limit, Offset: offset})
	for n := 0; n < len(items) && err == nil; n++ {
		denied := permit(c, items[n].ChannelID)
		switch {
		case denied == nil:
			err = r.show(c, &items[n])
		case fault.KindOf(denied) == fault.AccessDenied:
			err = Kind.Blank(&items[n])
		default:
			err = denied
		}
	}
	return api.NewPaged(items, offset, total), err
}
