package route

import (
	"embed"
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func Ops() []api.Op {
	read, manage := []auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage}, []auth.Permission{auth.IntegrationsManage}
	return api.WithReplies(golden, []api.Op{
		{Path: "/route/upsert", Allow: manage, Effect: api.Write, Audit: "route:write:upsert", Doc: "Sets the route of an integration, all of it.",
			Notes:   "With version the change is refused when somebody else has changed the route since that version was read. Every version is kept.",
			Example: `{"integration_id": 6113996590131, "cases": [{"if": [{"key": "severity", "oper": "IN", "vals": ["Critical"]}], "channel_ids": [1001], "fallthrough": false}], "default": {"channel_ids": [1002]}}`, Do: api.Do(upsert)},
		{Path: "/route/info", Allow: read, Effect: api.Snapshot, Doc: "Shows the route of an integration; ResourceNotFound when it has none.", Example: `{"integration_id": 6113996590131}`, Do: api.Do(info)},
		{Path: "/route/list", Allow: read, Effect: api.Snapshot, Doc: "Shows the routes of several integrations, in the order of the request; those without one are left out.", Example: `{"integration_ids": [6113996590131]}`, Do: api.Do(list)},
		{Path: "/route/history/list", Allow: read, Effect: api.Snapshot, Doc: "Lists the versions of an integration's route page by page, newest first.", Example: `{"integration_id": 6113996590131}`, Do: api.Do(historyList)},
		{Path: "/route/preview", Allow: read, Effect: api.Snapshot, Doc: "Shows where alerts that came in would go by a route that is not stored.",
			Notes:   "It reads alerts as they are stored, not as somebody typed them in. An alert that is not there, or that the caller may not read, is left out.",
			Example: `{"alert_ids": ["663a1b2c3d4e5f6789abcdef"], "route": {"default": {"channel_ids": [1001]}}}`, Do: api.Do(preview)},
	})
}

// Body is what a caller says of a route.
type Body struct {
	Cases    []Case    `json:"cases,omitzero" maxItems:"100" doc:"Looked at in this order."`
	Sections []Section `json:"sections,omitzero" maxItems:"100" doc:"Headings for people."`
	Default  *Default  `json:"default,omitzero" doc:"Where alerts go that meet no case."`
}

type upsertRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	Body
	Version int64 `json:"version,omitzero" minimum:"0" doc:"The version that this change is made to; absent: whichever it is."`
}

// versions is how old versions are kept: below the route, by number.
var versions = configstore.Kind[Route]{
	Name: "route_version",
	Head: func(r *Route) configstore.Head {
		integration := strconv.FormatInt(r.IntegrationID, 10)
		return configstore.Head{ID: fmt.Sprintf("%s/%d", integration, r.Version), Parent: integration, Rank: -r.Version, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt}
	},
}

func upsert(c *api.Call, in upsertRequest) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	r, found, err := Kind.Find(c.Tx, account, key)
	if err == nil {
		err = r.permit(c) // what is replaced
	}
	if err != nil {
		return api.Empty{}, err
	}
	if in.Version != 0 && in.Version != r.Version {
		return api.Empty{}, fault.New(fault.Conflict, "the route was changed meanwhile: it has version %d, the change is made to %d", r.Version, in.Version)
	}
	if !found {
		r = Route{IntegrationID: in.IntegrationID, Status: "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	}
	r.Cases, r.Sections, r.Default = in.Cases, in.Sections, in.Default
	if r.Cases == nil {
		r.Cases = []Case{}
	}
	if err := r.check(configstore.RecordPath("")); err != nil {
		return api.Empty{}, err
	}
	r.channels(func(path string, id int64) {
		if err == nil {
			err = configstore.Need(c.Tx, account, path, configstore.RefTo(configstore.Channel, id))
		}
		if err == nil { // whoever may not read a private channel may not fill it either
			err = channel.Readable(c.Tx, c.Who, id)
		}
	})
	if err != nil {
		return api.Empty{}, err
	}
	r.Version, r.UpdatedAt, r.UpdatedBy = r.Version+1, c.Unix(), c.Who.PersonID
	c.Touched(configstore.Integration, r.IntegrationID, "")
	c.Touched(Kind.Name, key, Kind.Head(&r).Name)
	if _, err := versions.Insert(c.Tx, account, &r); err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, Kind.Put(c.Tx, account, &r)
}

type infoRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
}

func info(c *api.Call, in infoRequest) (Route, error) {
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return Route{}, err
	}
	r, found, err := Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil && !found {
		err = fault.Missing("the route of integration", in.IntegrationID)
	}
	if err == nil {
		err = r.permit(c)
	}
	return r, err
}

// Permit refuses what is told of the route of an integration when it names a private channel that the caller may not
// read. An integration without a route has nothing to hide.
func Permit(c *api.Call, integration int64) error {
	r, _, err := Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err != nil {
		return err
	}
	return r.permit(c)
}

// permit refuses a route that names a private channel to those who may not read that: its conditions tell what goes
// there.
func (r *Route) permit(c *api.Call) error {
	var named []int64
	r.channels(func(_ string, id int64) { named = append(named, id) })
	return channel.PermitAll(c.Tx, c.Who, named...)
}

// visible leaves out the routes that name a private channel which the caller may not read.
func visible(c *api.Call, routes []Route) ([]Route, error) {
	shown := []Route{}
	for _, r := range routes {
		switch err := r.permit(c); {
		case err == nil:
			shown = append(shown, r)
		case fault.KindOf(err) != fault.AccessDenied:
			return nil, err
		}
	}
	return shown, nil
}

type listRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

func list(c *api.Call, in listRequest) (api.Items[Route], error) {
	ids, err := integration.Visible(c, in.IntegrationIDs)
	if err != nil {
		return api.Items[Route]{}, err
	}
	items, err := Kind.Each(c.Tx, c.Who.AccountID, ids)
	if err != nil {
		return api.Items[Route]{}, err
	}
	items, err = visible(c, items)
	return api.Items[Route]{Items: items}, err
}

type historyRequest struct {
	api.Page
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The integration."`
	OrderBy       string `json:"orderby,omitzero" enum:"updated_at" doc:"What to order by; versions are always in the order in which they were made."`
	Asc           bool   `json:"asc,omitzero" doc:"Oldest first."`
}

func historyList(c *api.Call, in historyRequest) (api.Paged[Route], error) {
	if _, err := info(c, infoRequest{in.IntegrationID}); err != nil {
		return api.Paged[Route]{}, err
	}
	all, err := versions.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil {
		all, err = visible(c, all)
	}
	if in.Asc {
		slices.Reverse(all)
	}
	limit, offset := in.Window(20)
	total := int64(len(all))
	return api.NewPaged(all[min(offset, total):min(offset+limit, total)], offset, total), err
}

type previewRequest struct {
	AlertIDs []string `json:"alert_ids" maxItems:"20" maxLength:"255" doc:"The alerts, at most 20."`
	Route    Body     `json:"route" doc:"The route to try."`
}

// Previewed is where an alert would go.
type Previewed struct {
	AlertID      string   `json:"alert_id" doc:"The alert."`
	AlertTitle   string   `json:"alert_title" doc:"Its title."`
	StartTime    int64    `json:"start_time" doc:"When it began, Unix seconds."`
	MatchedCases []string `json:"matched_cases" doc:"The cases that it meets: case_0, case_1 and so on, or default."`
	ChannelIDs   []int64  `json:"channel_ids" doc:"Where it would go; empty: nowhere."`
	Reasons      []string `json:"reasons" doc:"How it fared with each case that was looked at, in words."`
}

func preview(c *api.Call, in previewRequest) (api.Items[Previewed], error) {
	r := Route{Cases: in.Route.Cases, Sections: in.Route.Sections, Default: in.Route.Default}
	if err := r.check(configstore.RecordPath("route")); err != nil {
		return api.Items[Previewed]{}, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return api.Items[Previewed]{}, err
	}
	ready, items := Compile(r), []Previewed{}
	for _, id := range in.AlertIDs {
		a, found, err := readAlert(c, id)
		if err != nil {
			return api.Items[Previewed]{}, err
		}
		if !found {
			continue
		}
		channels, looks := ready.Match(filter.NewMeter(filter.RuleSteps, filter.EventSteps), a, func(name string) []int64 {
			var ids []int64
			if err == nil {
				ids, err = channel.Named(c.Tx, c.Who.AccountID, name)
			}
			return slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(hidden, id) })
		})
		if err != nil {
			return api.Items[Previewed]{}, err
		}
		p := Previewed{AlertID: id, AlertTitle: a.title, StartTime: a.start, MatchedCases: []string{}, ChannelIDs: append([]int64{}, channels...), Reasons: []string{}}
		for _, l := range looks {
			if l.Matched {
				p.MatchedCases = append(p.MatchedCases, l.Case)
			}
			p.Reasons = append(p.Reasons, l.Case+": "+l.Why)
		}
		items = append(items, p)
	}
	return api.Items[Previewed]{Items: items}, nil
}

var _ filter.Fields = (*stored)(nil)
