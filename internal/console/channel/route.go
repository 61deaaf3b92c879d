package channel

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	routes "tocsin/internal/route"
)

// routeView is the form of a route: cases from top to bottom, each with conditions that must all be met.
type routeView struct {
	page.Titled
	Integration integrationRow
	Version     int64
	Cases       []caseForm
	Default     []int64
	DefaultPick page.Picker
	Channels    page.Offer
	Tried       []routes.Previewed
	May         bool
}

type caseForm struct {
	Index       int
	If          filterForm
	Channels    []int64
	Pick        page.Picker
	Fallthrough bool
	Label       string // of name mapping: the label that names the channel; empty: Channels are meant
}

// Number returns the number of the case, from 1.
func (c caseForm) Number() int { return c.Index + 1 }

// Path returns the address of the page.
func (d routeView) Path() string {
	return fmt.Sprintf("/integrations/%d/route", d.Integration.IntegrationID)
}

func showRoute(v *page.Visit) (page.View, error) {
	i, err := integration(v)
	if err != nil {
		return nil, err
	}
	d := routeView{Titled: page.Titled(v.T("Where its alerts go")), Integration: i,
		May: v.Who.MayAny(page.ManageIntegrations)}
	d.Channels, err = v.ChannelOffer()
	if err != nil {
		return nil, err
	}
	if v.Request.Method == http.MethodPost {
		_ = readRoute(v, &d) // a name that is not known stays in its input
	} else if err := d.stored(v); err != nil {
		return nil, err
	}
	for n := range d.Cases {
		d.Cases[n].Index = n
		d.Cases[n].If.Name = fmt.Sprintf("case.%d", n)
		d.Cases[n].If.Single = true
		d.Cases[n].Pick = d.picker(v, fmt.Sprintf("case.%d.channel", n), v.T("Send to"), d.Cases[n].Channels)
	}
	d.DefaultPick = d.picker(v, "default", v.T("Everything else"), d.Default)
	if v.Failure == nil {
		d.Tried, err = tryRoute(v, d)
	}
	return d, err
}

// picker returns the picker of channels for a field.
func (d *routeView) picker(v *page.Visit, field, label string, chosen []int64) page.Picker {
	p := d.Channels.Picker(v, field, label, chosen)
	p.Fixed = !d.May
	return p
}

// stored fills in the stored route.
func (d *routeView) stored(v *page.Visit) error {
	r, err := route(v, d.Integration.IntegrationID)
	if err != nil || r == nil {
		return err
	}
	d.Version = r.Version
	for _, c := range r.Cases {
		d.Cases = append(d.Cases, caseForm{
			If: formOf("", filter.Filter{c.If}), Channels: c.ChannelIDs, Fallthrough: c.Fallthrough, Label: c.NameMappingLabel,
		})
	}
	if r.Default != nil {
		d.Default = r.Default.ChannelIDs
	}
	return nil
}

// maxCases is how many cases the form reads.
const maxCases = 100

// readRoute fills in what was entered, with what a button adds, removes or moves.
func readRoute(v *page.Visit, d *routeView) (wrong error) {
	d.Version = v.Number("version")
	d.Default, wrong = d.Channels.Read(v, "default")
	for n := range maxCases {
		name := fmt.Sprintf("case.%d", n)
		if !v.Request.PostForm.Has(name + ".here") {
			break
		}
		if v.Field("do") == fmt.Sprintf("remove-case:%d", n) {
			continue
		}
		channels, err := d.Channels.Read(v, name+".channel")
		wrong = cmp.Or(wrong, err)
		d.Cases = append(d.Cases, caseForm{
			If: readFilter(v, name), Channels: channels, Fallthrough: v.Field(name+".fallthrough") != "", Label: v.Field(name + ".label"),
		})
		if at := len(d.Cases) - 1; v.Field("do") == fmt.Sprintf("up-case:%d", n) && at > 0 {
			d.Cases[at-1], d.Cases[at] = d.Cases[at], d.Cases[at-1]
		}
	}
	if v.Field("do") == "add-case" {
		d.Cases = append(d.Cases, caseForm{If: filterForm{}.atLeastOne()})
	}
	return wrong
}

// route returns the route of the form.
func (d routeView) route() routes.Body {
	cases := []routes.Case{}
	for _, c := range d.Cases {
		one := routes.Case{ChannelIDs: append([]int64{}, c.Channels...), Fallthrough: c.Fallthrough, If: filter.Group{}}
		for _, group := range c.If.filter() {
			one.If = append(one.If, group...)
		}
		if c.Label != "" {
			one.RoutingMode, one.NameMappingLabel = routes.NameMapping, c.Label
		}
		cases = append(cases, one)
	}
	return routes.Body{Cases: cases, Default: &routes.Default{ChannelIDs: append([]int64{}, d.Default...)}}
}

// tryRoute returns where the latest alerts of the integration would go by the route of the form.
func tryRoute(v *page.Visit, d routeView) ([]routes.Previewed, error) {
	if !v.Who.May(auth.ChannelsRead) || len(d.Cases) == 0 && len(d.Default) == 0 {
		return nil, nil
	}
	now := v.Now.Unix()
	request := alert.ListRequest{StartTime: now - 7*86400, EndTime: now + 1, IntegrationIDs: []int64{d.Integration.IntegrationID}}
	request.Limit = 20
	recent, err := page.Call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	if err != nil || len(recent.Items) == 0 {
		return nil, err
	}
	var ids []string
	for _, a := range recent.Items {
		ids = append(ids, a.AlertID)
	}
	reply, err := page.Call[api.Items[routes.Previewed]](v, "/route/preview", routes.PreviewRequest{AlertIDs: ids, Route: d.route()})
	if err != nil {
		return nil, nil // a route that is not complete yet; saving it names what is wrong
	}
	return reply.Items, nil
}

// saveRoute stores the route, unless a button asked for another row.
func saveRoute(v *page.Visit) (string, error) {
	if v.Field("do") != "save" {
		return "", nil
	}
	var d routeView
	var err error
	d.Channels, err = v.ChannelOffer()
	if err != nil {
		return "", err
	}
	if err := readRoute(v, &d); err != nil {
		return "", err
	}
	for n := range d.Cases {
		if len(d.Cases[n].If.filter()) > 1 {
			return "", page.Wrong(v.T("A case of a route has one group of conditions, all of which must be met. Make a second case instead."))
		}
	}
	body := d.route()
	stored, err := route(v, v.ID())
	if err != nil {
		return "", err
	}
	if stored != nil && len(stored.Sections) > 0 && len(stored.Cases) == len(d.Cases) {
		body.Sections = stored.Sections // they name positions of cases
	}
	request := routes.UpsertRequest{IntegrationID: v.ID(), Body: body, Version: d.Version}
	return "/integrations/" + strconv.FormatInt(v.ID(), 10), page.Do[api.Empty](v, "/route/upsert", request)
}

// Names returns the names of channels, those of deleted ones as numbers.
func (d routeView) Names(ids []int64) (names []string) {
	for _, id := range ids {
		at := slices.IndexFunc(d.Channels.Choices, func(c page.Choice) bool { return c.ID == id })
		if at < 0 {
			names = append(names, strconv.FormatInt(id, 10))
		} else {
			names = append(names, d.Channels.Choices[at].Name)
		}
	}
	return names
}
