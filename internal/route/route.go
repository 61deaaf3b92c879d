package route

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
)

// Body is what a caller sends of a route.
type Body struct {
	Cases    []Case    `json:"cases,omitzero" maxItems:"100" doc:"Evaluated in this order."`
	Sections []Section `json:"sections,omitzero" maxItems:"100" doc:"Headings for people."`
	Default  *Default  `json:"default,omitzero" doc:"Where alerts go that meet no case."`
}

// UpsertRequest asks to store a route.
type UpsertRequest struct {
	IntegrationID int64 `json:"integration_id" minimum:"1" doc:"The integration."`
	Body
	Version int64 `json:"version,omitzero" minimum:"0" doc:"The version that the change is based on; absent: any."`
}

// upsert stores a new version of the route, if the request is based on the present one.
func upsert(c *api.Call, in UpsertRequest) (api.Empty, error) {
	account, key := c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10)
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return api.Empty{}, err
	}
	r, found, err := Kind.Find(c.Tx, account, key)
	if err == nil {
		err = r.permit(c) // the route that is replaced
	}
	if err != nil {
		return api.Empty{}, err
	}
	if in.Version != 0 && in.Version != r.Version {
		return api.Empty{}, fault.New(fault.Conflict,
			"the route was changed meanwhile: it has version %d, the change is based on version %d", r.Version, in.Version)
	}
	before := r
	if !found {
		r = Route{IntegrationID: in.IntegrationID, Status: "enabled", CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	}
	r.Cases = in.Cases
	r.Sections = in.Sections
	r.Default = in.Default
	if r.Cases == nil {
		r.Cases = []Case{}
	}
	if err := r.check(configstore.RecordPath("")); err != nil {
		return api.Empty{}, err
	}
	r.channels(func(path string, id int64) {
		if err == nil {
			err = channel.Table.Need(c.Tx, account, path, id)
		}
		if err == nil { // a caller who may not read a private channel may not send alerts to it either
			err = channel.Readable(c.Tx, c.Who, id)
		}
	})
	if err != nil {
		return api.Empty{}, err
	}
	c.Warn(r.warnings()...)
	return api.Empty{}, r.store(c, before)
}

// warnings returns what is probably not meant.
func (r *Route) warnings() (list []string) {
	if r.Default == nil || len(r.Default.ChannelIDs) == 0 {
		list = append(list, "default: is not set, so alerts that meet no case reach no one")
	}
	for i, c := range r.Cases {
		list = append(list, lint.GroupWarnings(fmt.Sprintf("cases[%d].if", i), c.If, lint.OfAlert)...)
	}
	return list
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

// Permit checks access to what is shown of an integration's route. The error is AccessDenied if the route names a
// private channel that the caller may not read. An integration without a route has nothing to hide.
func Permit(c *api.Call, integration int64) error {
	r, _, err := Kind.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(integration, 10))
	if err != nil {
		return err
	}
	return r.permit(c)
}

// permit is Permit for a route: its conditions would show which alerts go to the private channels that it names.
func (r *Route) permit(c *api.Call) error {
	return channel.PermitAll(c.Tx, c.Who, r.Channels()...)
}

// visible returns the routes without those that name a private channel that the caller may not read.
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

// ListRequest asks for the routes of integrations.
type ListRequest struct {
	IntegrationIDs []int64 `json:"integration_ids" maxItems:"1000" doc:"The integrations, at most 1000."`
}

func list(c *api.Call, in ListRequest) (api.Items[Route], error) {
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

// PreviewRequest asks where alerts would go by a route.
type PreviewRequest struct {
	AlertIDs []string `json:"alert_ids" maxItems:"20" maxLength:"255" doc:"The alerts, at most 20."`
	Route    Body     `json:"route" doc:"The route to try."`
}

// Previewed is where an alert would go.
type Previewed struct {
	AlertID      string           `json:"alert_id" doc:"The alert."`
	AlertTitle   string           `json:"alert_title" doc:"Its title."`
	Headline     string           `json:"alert_headline" doc:"What people read of it: what is wrong, and in brackets where."`
	StartTime    int64            `json:"start_time" doc:"When it began, Unix seconds."`
	MatchedCases []string         `json:"matched_cases" doc:"The cases that it meets: case_0, case_1 and so on, or default."`
	ChannelIDs   []int64          `json:"channel_ids" doc:"Where it would go; empty: nowhere."`
	Reasons      []sentence.Words `json:"reasons" doc:"The result of each case that was evaluated, in words."`
}

// preview matches stored alerts against a route that is not stored. It leaves out alerts that the caller may not read.
func preview(c *api.Call, in PreviewRequest) (api.Items[Previewed], error) {
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
		meter := filter.NewMeter(filter.RuleSteps, filter.EventSteps)
		channels, results := ready.Match(meter, a, func(name string) []int64 {
			var ids []int64
			if err == nil {
				ids, err = channel.Named(c.Tx, c.Who.AccountID, name)
			}
			return slices.DeleteFunc(ids, func(id int64) bool { return slices.Contains(hidden, id) })
		})
		if err != nil {
			return api.Items[Previewed]{}, err
		}
		p := Previewed{
			AlertID:      id,
			AlertTitle:   a.title,
			Headline:     render.AlertName(a.title, a.labels),
			StartTime:    a.start,
			MatchedCases: []string{},
			ChannelIDs:   append([]int64{}, channels...),
			Reasons:      []sentence.Words{},
		}
		for _, l := range results {
			if l.Matched {
				p.MatchedCases = append(p.MatchedCases, l.Case)
			}
			p.Reasons = append(p.Reasons, sentence.Words(sentence.New("named_why", l.Case, l.Why)))
		}
		items = append(items, p)
	}
	return api.Items[Previewed]{Items: items}, nil
}
