package integration

import (
	"embed"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/check"
	"tocsin/internal/fault"
	"tocsin/internal/id"
	"tocsin/internal/object"
	"tocsin/internal/reference"
	"tocsin/internal/seal"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Room serves the operations on integrations.
type Room struct {
	Box *seal.Box // seals keys and the secrets of webhooks
}

// Ops is the room's table of contents.
func (r *Room) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IntegrationsRead}, []auth.Permission{auth.IntegrationsManage}
	const one = `{"integration_id": 6113996590131}`
	return api.WithReplies(golden, []api.Op{
		{Path: "/integration/create", Allow: manage, Effect: api.Write, Audit: "integration:write:create", Doc: "Creates an integration, enabled.",
			Notes:   "A source of alerts gets a key and the address to push events to. With channel_id it is dedicated to that channel; without, its route decides (/route/upsert).",
			Example: `{"integration_name": "Prometheus EU", "integration_type": "prometheus", "channel_id": 1001}`, Do: api.Do(r.create)},
		{Path: "/integration/update", Allow: manage, Effect: api.Write, Audit: "integration:write:update", Doc: "Changes what is sent of an integration; its type stays.",
			Notes: "settings is replaced as a whole; a secret in it that is sent empty keeps its value.", Example: `{"integration_id": 6113996590131, "description": "Both clusters"}`, Do: api.Do(r.update)},
		{Path: "/integration/info", Allow: read, Effect: api.Snapshot, Doc: "Shows one integration.", Notes: secretNotes, Example: one, Do: api.Do(r.info)},
		{Path: "/integration/list", Allow: read, Effect: api.Snapshot, Doc: "Lists the integrations of the account page by page, newest first.", Notes: secretNotes, Example: `{"p": 1, "limit": 20, "query": "prom"}`, Do: api.Do(r.list)},
		{Path: "/integration/enable", Allow: manage, Effect: api.Write, Audit: "integration:write:enable", Doc: "Lets an integration take or send again.", Example: one, Do: api.Do(r.switched("enabled"))},
		{Path: "/integration/disable", Allow: manage, Effect: api.Write, Audit: "integration:write:disable", Doc: "Keeps an integration from taking or sending anything.", Example: one, Do: api.Do(r.switched("disabled"))},
		{Path: "/integration/delete", Allow: manage, Effect: api.Write, Audit: "integration:write:delete", Danger: true, Doc: "Deletes an integration, and its route, pipeline and enrichment rules with it.",
			Example: `{"integration_id": 6113996590131, "dry_run": true}`, Do: api.Do(r.remove)},
		{Path: "/integration/key/rotate", Allow: manage, Effect: api.Write, Audit: "integration:write:rotate", Danger: true, Doc: "Gives a source a new key.",
			Notes: "The old one keeps working for the seconds that are asked for, so that senders can be changed one after the other.", Example: `{"integration_id": 6113996590131, "grace_seconds": 3600}`, Do: api.Do(r.rotate)},
	})
}

const secretNotes = "Keys and secrets are shown to holders of Integrations Manage (on-call); for others they are empty."

func newKey() string { return id.Token(20) }

// Body is what a caller may say of an integration.
type Body struct {
	Description *string   `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	TeamID      *int64    `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	ChannelID   *int64    `json:"channel_id,omitzero" minimum:"0" doc:"The channel that it is dedicated to; 0: its route decides."`
	RefID       *string   `json:"ref_id,omitzero" maxLength:"255" doc:"Its id in the system it comes from."`
	Settings    *Settings `json:"settings,omitzero" doc:"Of a webhook, heartbeat or app; replaced as a whole."`
}

type createRequest struct {
	IntegrationName string `json:"integration_name" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	IntegrationType string `json:"integration_type" enum:"standard,prometheus,grafana,pagerduty,zabbix,sentry,heartbeat,change,webhook_incident,webhook_alert,slack_app,feishu_app,dingtalk_app,wecom_app,teams_app" doc:"What it is connected with; never changes."`
	Body
}

type created struct {
	IntegrationID   int64  `json:"integration_id" doc:"The new integration."`
	IntegrationName string `json:"integration_name" doc:"Its name, as it was sent."`
	IntegrationKey  string `json:"integration_key" doc:"The key that events come with; empty for a webhook or an app."`
	PushURL         string `json:"push_url" doc:"The path and query to push events to; empty for a webhook or an app."`
	api.Warnings
}

func (r *Room) create(c *api.Call, in createRequest) (created, error) {
	i := Integration{AccountID: c.Who.AccountID, IntegrationID: id.Number(), IntegrationName: in.IntegrationName, IntegrationType: in.IntegrationType,
		Status: "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	if i.IsSource() {
		i.IntegrationKey = newKey()
	}
	plain := i.IntegrationKey
	warnings, err := r.store(c, &i, in.Body, nil)
	i.IntegrationKey = plain
	return created{i.IntegrationID, i.IntegrationName, plain, i.push(), api.Warnings{Warnings: warnings}}, err
}

// push is where a source pushes to.
func (i *Integration) push() string {
	if !i.IsSource() {
		return ""
	}
	kind := "alert/" + i.IntegrationType
	switch i.IntegrationType {
	case Change:
		kind = "change/standard"
	case Heartbeat:
		kind = Heartbeat
	}
	path := "/event/push/" + kind
	if i.IntegrationKey != "" {
		path += "?integration_key=" + i.IntegrationKey
	}
	return path
}

type updateRequest struct {
	IntegrationID   int64   `json:"integration_id" minimum:"1" doc:"The integration to change."`
	IntegrationName *string `json:"integration_name,omitzero" minLength:"1" maxLength:"59" doc:"1 to 59 characters."`
	Body
}

func (r *Room) update(c *api.Call, in updateRequest) (api.Warnings, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return api.Warnings{}, err
	}
	if in.IntegrationName != nil {
		i.IntegrationName = *in.IntegrationName
	}
	warnings, err := r.store(c, &i, in.Body, i.Settings)
	return api.Warnings{Warnings: warnings}, err
}

// opened reads an integration that the caller may touch, its secrets in clear.
func (r *Room) opened(c *api.Call, integration int64) (Integration, error) {
	i, err := Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err == nil {
		err = permit(c, i.ChannelID)
	}
	if err == nil {
		err = Kind.Open(r.Box, c.Who.AccountID, &i)
	}
	return i, err
}

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

// store puts what was sent into an integration whose secrets are in clear, checks, seals and stores it.
func (r *Room) store(c *api.Call, i *Integration, b Body, old *Settings) (warnings []string, err error) {
	for field, sent := range map[*string]*string{&i.Description: b.Description, &i.RefID: b.RefID} {
		if sent != nil {
			*field = *sent
		}
	}
	for field, sent := range map[*int64]*int64{&i.TeamID: b.TeamID, &i.ChannelID: b.ChannelID} {
		if sent != nil {
			*field = *sent
		}
	}
	if b.Settings != nil {
		i.Settings = b.Settings.keeping(old)
	}
	if err := check.First(i.check(""), i.alone(c.Tx, "", c.Who.AccountID)); err != nil {
		return nil, err
	}
	if b.Settings != nil {
		if err := i.complete(); err != nil {
			return nil, err
		}
	}
	if err := object.Need(c.Tx, c.Who.AccountID, "team_id", reference.To(reference.Team, i.TeamID)); err != nil {
		return nil, err
	}
	if err := object.Need(c.Tx, c.Who.AccountID, "channel_id", reference.To(reference.Channel, i.ChannelID)); err != nil {
		return nil, err
	}
	if err := permit(c, i.ChannelID); err != nil {
		return nil, err
	}
	if i.Settings != nil {
		for n, ch := range i.Settings.ChannelIDs {
			if err := object.Need(c.Tx, c.Who.AccountID, fmt.Sprintf("settings.channel_ids[%d]", n), reference.To(reference.Channel, ch)); err != nil {
				return nil, err
			}
			if err := permit(c, ch); err != nil {
				return nil, err
			}
		}
		warnings = i.Settings.warnings()
	}
	i.UpdatedAt, i.UpdatedBy, i.PushURL = c.Unix(), c.Who.PersonID, ""
	c.Touched(Kind.Name, i.IntegrationID, i.IntegrationName)
	if err := know(c.Tx, c.Who.AccountID, i, 0); err != nil {
		return nil, err
	}
	if err := Kind.Seal(r.Box, c.Who.AccountID, i); err != nil {
		return nil, err
	}
	return warnings, Kind.Put(c.Tx, c.Who.AccountID, i)
}

// keeping fills secrets that come back empty with those that are there.
func (s *Settings) keeping(old *Settings) *Settings {
	if old == nil {
		return s
	}
	k := *s
	if k.SignSecret == "" {
		k.SignSecret = old.SignSecret
	}
	k.Headers = maps.Clone(k.Headers)
	for name, value := range k.Headers {
		if value == "" {
			k.Headers[name] = old.Headers[name]
		}
	}
	k.App = maps.Clone(k.App)
	for name, value := range k.App {
		if value == "" && !slices.Contains(open, name) {
			k.App[name] = old.App[name]
		}
	}
	return &k
}

// warnings names an address that can probably not be reached from outside.
func (s *Settings) warnings() []string {
	place, what, address := "settings.endpoint", "webhooks go", s.Endpoint
	if s.App != nil {
		place, what, address = "settings.app.base_url", "calls go", s.App["base_url"]
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()) {
		return []string{place + ": is an address of this network; " + what + " there only where the server allows it"}
	}
	return nil
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
		err = Kind.Open(r.Box, c.Who.AccountID, i)
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

// switched is the function of /integration/enable and /integration/disable.
func (r *Room) switched(status string) func(*api.Call, OneRequest) (api.Empty, error) {
	return func(c *api.Call, in OneRequest) (api.Empty, error) {
		i, err := r.opened(c, in.IntegrationID)
		if err != nil {
			return api.Empty{}, err
		}
		i.Status = status
		_, err = r.store(c, &i, Body{}, i.Settings)
		return api.Empty{}, err
	}
}

type deleteRequest struct {
	OneRequest
	api.DryRun
}

// remove deletes an integration. What is set up for it alone goes with it; history keeps its name.
func (r *Room) remove(c *api.Call, in deleteRequest) (api.Removal, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return api.Removal{}, err
	}
	if err := reference.Refuse(c.Tx, c.Who.AccountID, Kind.Name, i.IntegrationID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, i.IntegrationID, i.IntegrationName)
	key := strconv.FormatInt(i.IntegrationID, 10)
	for _, kind := range []string{reference.Route, reference.Pipeline, reference.Enrichment} {
		known, err := object.Known(c.Tx, c.Who.AccountID, reference.To(kind, key))
		if err != nil {
			return api.Removal{}, err
		}
		if known {
			c.Removed(kind, key, i.IntegrationName)
			if _, err := c.Tx.Exec(`DELETE FROM object WHERE account_id = $1 AND kind = $2 AND id = $3`, c.Who.AccountID, kind, key); err != nil {
				return api.Removal{}, err
			}
			if err := reference.Clear(c.Tx, c.Who.AccountID, kind, key); err != nil {
				return api.Removal{}, err
			}
		}
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, key)
}

type rotateRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	GraceSeconds  int64 `json:"grace_seconds,omitzero" minimum:"0" maximum:"604800" doc:"For how many seconds the old key still works, at most 7 days; absent: not at all."`
}

type rotated struct {
	IntegrationKey string `json:"integration_key" doc:"The new key."`
	PushURL        string `json:"push_url" doc:"The path and query to push events to."`
}

func (r *Room) rotate(c *api.Call, in rotateRequest) (rotated, error) {
	i, err := r.opened(c, in.IntegrationID)
	if err != nil {
		return rotated{}, err
	}
	if !i.IsSource() {
		return rotated{}, fault.Invalid("integration_id", "%d is a %s, which has no key", in.IntegrationID, i.IntegrationType)
	}
	key := strconv.FormatInt(i.IntegrationID, 10)
	if _, err := c.Tx.Exec(`DELETE FROM integration_key WHERE account_id = $1 AND integration_id = $2`, c.Who.AccountID, key); err != nil {
		return rotated{}, err
	}
	if in.GraceSeconds > 0 {
		if err := know(c.Tx, c.Who.AccountID, &i, c.Unix()+in.GraceSeconds); err != nil {
			return rotated{}, err
		}
	}
	i.IntegrationKey = newKey()
	out := rotated{i.IntegrationKey, i.push()}
	_, err = r.store(c, &i, Body{}, i.Settings)
	return out, err
}
