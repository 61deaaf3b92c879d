package channel

import (
	"fmt"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// ListRequest asks for the channels that the caller may read.
type ListRequest struct {
	api.CursorRequest
	OrderBy     string  `json:"orderby,omitzero" enum:"ranking,created_at,updated_at,channel_name,last_incident_at" doc:"What to order by; absent, ranking and last_incident_at: created_at."`
	Asc         bool    `json:"asc,omitzero" doc:"Ascending."`
	IsMyManaged bool    `json:"is_my_managed,omitzero" doc:"Only channels that the caller made or that one of the caller's teams owns or manages."`
	IsMyStarred bool    `json:"is_my_starred,omitzero" doc:"Only channels that the caller has marked; not together with is_my_team."`
	IsMyTeam    bool    `json:"is_my_team,omitzero" doc:"Only channels that one of the caller's teams owns."`
	IsBrief     bool    `json:"is_brief,omitzero" doc:"Leave out all but id, name, description and status."`
	TeamIDs     []int64 `json:"team_ids,omitzero" maxItems:"1000" doc:"Only channels of these teams; empty: of any."`
	ChannelIDs  []int64 `json:"channel_ids,omitzero" maxItems:"1000" doc:"Only these channels; empty: any."`
	ChannelName string  `json:"channel_name,omitzero" maxLength:"59" doc:"Only the channels of exactly this name; query is ignored then."`
	Query       string  `json:"query,omitzero" maxLength:"100" doc:"Part of the name or description, in upper or lower case."`
}

// Check rejects filters that contradict each other.
func (in ListRequest) Check() error {
	if in.IsMyStarred && in.IsMyTeam {
		return fault.Invalid("is_my_starred", "must not be set together with is_my_team")
	}
	return in.Page.Check()
}

// visible selects the channels that the caller may read and that match the request. $2 is the caller, $3
// whether the caller is the account's owner.
const visible = ` FROM channel h WHERE h.account_id = $1 AND ($3 OR NOT h.is_private OR h.creator_id = $2 OR ` + mine + `)
	AND ($4 = '%%' OR h.name_folded LIKE $4 ESCAPE '\')
	AND ($5 = '' OR $5 LIKE '%,' || h.team_id || ',%')
	AND ($6 = '' OR $6 LIKE '%,' || h.channel_id || ',%')
	AND ($7 = '' OR h.channel_name = $7)
	AND (NOT $8 OR h.creator_id = $2 OR ` + mine + `)
	AND (NOT $9 OR EXISTS (SELECT 1 FROM channel_star s
		WHERE s.account_id = h.account_id AND s.person_id = $2 AND s.channel_id = h.channel_id))
	AND (NOT $10 OR EXISTS (SELECT 1 FROM team_person t
		WHERE t.account_id = h.account_id AND t.person_id = $2 AND t.team_id = h.team_id))`

// countAll counts as visible does when no filter is set. With all conditions of visible, counting ten
// thousand channels takes five times as long.
const countAll = `SELECT count(*) FROM channel h
	WHERE h.account_id = $1 AND ($3 OR NOT h.is_private OR h.creator_id = $2 OR ` + mine + `)`

// all reports whether no filter is set.
func (in ListRequest) all() bool {
	return in.Query == "" && in.ChannelName == "" && len(in.TeamIDs) == 0 && len(in.ChannelIDs) == 0 &&
		!in.IsMyManaged && !in.IsMyStarred && !in.IsMyTeam
}

// mine is true for the channels that a team of the caller owns or manages.
const mine = `EXISTS (SELECT 1 FROM team_person t WHERE t.account_id = h.account_id AND t.person_id = $2
	AND (t.team_id = h.team_id OR h.managing_teams LIKE '%,' || t.team_id || ',%'))`

const window = ` LIMIT $14 + 0 OFFSET $15 + 0`

// order returns the order of the list, with the condition that a channel is behind a position.
func (in ListRequest) order() string {
	switch in.OrderBy {
	case "channel_name":
		if in.Asc {
			return ` AND ($11 OR (h.name_folded, h.channel_id) > ($12, $13)) ORDER BY h.name_folded, h.channel_id`
		}
		return ` AND ($11 OR (h.name_folded, h.channel_id) < ($12, $13)) ORDER BY h.name_folded DESC, h.channel_id DESC`
	case "updated_at":
		if in.Asc {
			return ` AND ($11 OR (h.updated_at, h.channel_id) > ($12, $13)) ORDER BY h.updated_at, h.channel_id`
		}
		return ` AND ($11 OR (h.updated_at, h.channel_id) < ($12, $13)) ORDER BY h.updated_at DESC, h.channel_id DESC`
	}
	if in.Asc {
		return ` AND ($11 OR (h.created_at, h.channel_id) > ($12, $13)) ORDER BY h.created_at, h.channel_id`
	}
	return ` AND ($11 OR (h.created_at, h.channel_id) < ($12, $13)) ORDER BY h.created_at DESC, h.channel_id DESC`
}

// behind returns the position of a page as the statements of the list compare it.
func (in ListRequest) behind(from api.Position) []any {
	if in.OrderBy == "channel_name" {
		return []any{from.Unset(), from.Name, from.Number()}
	}
	return []any{from.Unset(), from.At, from.Number()}
}

// position returns where a channel stands in the list.
func (in ListRequest) position(ch Channel) api.Position {
	switch in.OrderBy {
	case "channel_name":
		p := api.NumberedAt(0, ch.ChannelID)
		p.Name = ch.folded()
		return p
	case "updated_at":
		return api.NumberedAt(ch.UpdatedAt, ch.ChannelID)
	}
	return api.NumberedAt(ch.CreatedAt, ch.ChannelID)
}

// list returns a page of the channels that the caller may read.
func list(c *api.Call, in ListRequest) (reply api.CursorPage[Shown], err error) {
	if in.ChannelName != "" {
		in.Query = ""
	}
	args := []any{
		c.Who.AccountID, c.Who.PersonID, c.Who.Owner,
		db.Containing(in.Query), db.List(in.TeamIDs), db.List(in.ChannelIDs), in.ChannelName,
		in.IsMyManaged, in.IsMyStarred, in.IsMyTeam,
	}
	binding := fmt.Sprint("channels", args, in.OrderBy, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	count := `SELECT count(*)` + visible
	if in.all() {
		count = countAll
	}
	total, _, err := db.One(c.Tx, db.Column[int64], count, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(100)
	found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, readable(c.Tx, c.Who.AccountID), `SELECT `+columns+visible+in.order()+window,
		append(append(args, in.behind(from)...), limit+1, offset)...)
	if err != nil {
		return reply, err
	}
	stars, err := starred(c)
	c.WarnShort(onPage, limit, "")
	page := api.NewCursorPage(c, found, onPage, total, binding, in.position)
	items := make([]Shown, len(page.Items))
	for i, ch := range page.Items {
		if in.IsBrief {
			ch = Channel{
				ChannelID:   ch.ChannelID,
				ChannelName: ch.ChannelName,
				Description: ch.Description,
				Status:      ch.Status,
				TeamID:      ch.TeamID,
			}
		}
		items[i] = view(c, ch, stars)
	}
	return api.PageOf(items, page), err
}
