package channel

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	"tocsin/internal/engine/explain"
	"tocsin/internal/engine/ingest"
	integrations "tocsin/internal/integration"
	routes "tocsin/internal/route"
)

var integrationPages = []page.Page{
	{Path: "/integrations", Template: "records", Tab: "sources", Show: showIntegrations},
	{Path: "/integrations/new", Template: "record", Tab: "sources", Show: newIntegration, Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}", Template: "integration", Tab: "sources", Show: showIntegration},
	{Path: "/integrations/{id}/edit", Template: "record", Tab: "sources", Show: editIntegration, Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/route", Template: "route", Tab: "sources", Show: showRoute},
	{Path: "/integrations/{id}/rules/{stage}", Template: "event_rules", Tab: "sources", Show: showEventRules},
}

var integrationActions = []page.Action{
	{Path: "/integrations/new", Do: saveIntegration, Show: newIntegration, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/edit", Do: saveIntegration, Show: editIntegration, Template: "record", Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/status/{to}", Do: setIntegrationStatus, Show: showIntegration, Template: "integration",
		Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/test", Do: testIntegration, Show: showIntegration, Template: "integration", Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/severity", Do: mapSeverity, Show: showIntegration, Template: "integration", Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/route", Do: saveRoute, Show: showRoute, Template: "route", Needs: page.ManageIntegrations},
	{Path: "/integrations/{id}/rules/{stage}", Do: saveEventRules, Show: showEventRules, Template: "event_rules"},
}

// integrationRow is an integration as pages show it.
type integrationRow struct{ integrations.Info }

// sources are the types that push alerts.
var sources = []string{"standard", "prometheus", "grafana", "pagerduty", "zabbix", "sentry"}

// Source reports whether the integration pushes alerts.
func (i integrationRow) Source() bool { return slices.Contains(sources, i.IntegrationType) }

// Counted reports whether the bytes that it sends in a day are bounded.
func (i integrationRow) Counted() bool { return i.Source() || i.IntegrationType == "change" }

func showIntegrations(v *page.Visit) (page.View, error) {
	d := page.RecordList{
		Titled: page.Titled(v.T("Integrations")), Search: v.Query("q"), Searchable: true, Pager: v.Pager(),
		Intro: v.T("An integration receives what a monitoring system sends."),
		None:  v.T("There is no integration yet. Make one, then point your monitoring system to its address."),
	}
	if v.Who.MayAny(page.ManageIntegrations) {
		d.New, d.NewText = "/integrations/new", v.T("New integration")
	}
	request := integrations.ListRequest{Query: d.Search}
	request.P, request.Limit = d.Page, page.PageSize
	reply, err := page.Call[api.CursorPage[integrations.Integration]](v, "/integration/list", request)
	d.More = reply.HasNextPage
	for _, i := range reply.Items {
		row := page.RecordRow{Path: pathOfIntegration(&i), Name: i.IntegrationName, About: i.Description}
		row.Tags = []string{v.IntegrationType(i.IntegrationType)}
		if i.Status != "enabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

// pathOfIntegration returns the page of an integration: what sends messages out has pages of its own.
func pathOfIntegration(i *integrations.Integration) string {
	id := strconv.FormatInt(i.IntegrationID, 10)
	switch {
	case i.IsWebhook():
		return "/endpoints/" + id
	case i.IsApp():
		return "/chat-apps/" + id
	}
	return "/integrations/" + id
}

func integration(v *page.Visit) (i integrationRow, err error) {
	i.Info, err = page.Call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: v.ID()})
	return i, err
}

type integrationView struct {
	page.Titled
	Integration integrationRow
	Product     product
	Products    []product // of the same type, if there are several
	Recipe      recipe
	Sent        bool // it takes pushes, and the visitor may see where to
	KeyShown    bool
	Activity    *activity // nil: the visitor may not read events, or there can be none
	Channels    map[int64]string
	Route       *routes.Route
	EventID     string
	Explained   explain.Explanation
	May         bool
}

func showIntegration(v *page.Visit) (page.View, error) {
	i, err := integration(v)
	if err != nil {
		return nil, err
	}
	d := integrationView{Titled: page.Titled(i.IntegrationName), Integration: i, May: v.Who.MayAny(page.ManageIntegrations),
		EventID: v.Query("event")}
	d.recipe(v)
	d.Activity, err = activityOf(v, i)
	if err != nil {
		return nil, err
	}
	if i.Source() && i.ChannelID == 0 {
		d.Route, err = route(v, i.IntegrationID)
		if err != nil {
			return nil, err
		}
	}
	if d.EventID != "" {
		d.Explained, err = page.Call[explain.Explanation](v, "/alert/explain", explain.AlertRequest{EventID: d.EventID})
		if err != nil {
			return nil, err
		}
	}
	d.Channels, err = v.ChannelNames()
	return d, err
}

// recipe fills in the set-up of the product.
func (d *integrationView) recipe(v *page.Visit) {
	i := d.Integration
	found, known := productOf(v, i.IntegrationType)
	if i.IntegrationKey == "" || !known {
		return
	}
	d.Sent, d.Product = true, found
	d.KeyShown = v.Query("key") == "shown"
	d.Recipe = recipes[found.Key](v, targetOf(v, i, d.KeyShown))
	for _, p := range products(v) {
		if p.Type == found.Type {
			d.Products = append(d.Products, p)
		}
	}
}

// integrationOf returns a new integration of a type.
func integrationOf(kind string) integrationRow {
	return integrationRow{integrations.Info{Integration: integrations.Integration{IntegrationType: kind}}}
}

// newIntegration shows the gallery, and the form of the product that was chosen in it.
func newIntegration(v *page.Visit) (page.View, error) {
	chosen, known := productOf(v, "")
	if !known {
		return galleryView{page.Titled(v.T("What sends the alerts?")), products(v)}, nil
	}
	i := integrationOf(chosen.Type)
	i.IntegrationName = chosen.Name
	return integrationForm(v, i, page.RecordForm{
		Titled: page.Titled(v.T("New integration: %s", chosen.Name)), Path: "/integrations/new?product=" + chosen.Key, Back: "/integrations/new",
	})
}

// editIntegration shows the form of an integration: what was entered, else what is stored.
func editIntegration(v *page.Visit) (page.View, error) {
	i, err := integration(v)
	if err != nil {
		return nil, err
	}
	return integrationForm(v, i, page.RecordForm{
		Titled: page.Titled(i.IntegrationName), Path: v.Request.URL.Path, Back: "/integrations/" + strconv.FormatInt(i.IntegrationID, 10),
	})
}

// integrationForm fills in the form of an integration.
func integrationForm(v *page.Visit, i integrationRow, d page.RecordForm) (page.View, error) {
	d.May = v.Who.MayAny(page.ManageIntegrations)
	d.Text("name", v.T("Name"), i.IntegrationName, "")
	d.Text("about", v.T("Description"), i.Description, "")
	channels, err := v.ChannelChoices()
	if err != nil {
		return nil, err
	}
	choices := []page.Option{{Value: "0", Text: v.T("None: its route decides")}}
	for _, c := range channels {
		choices = append(choices, page.Option{Value: strconv.FormatInt(c.ChannelID, 10), Text: c.ChannelName})
	}
	if i.IntegrationID == 0 && len(channels) == 1 {
		i.ChannelID = channels[0].ChannelID // without a channel or a route its first event reaches only the fallback
	}
	d.Choice("channel", v.T("Channel"), strconv.FormatInt(i.ChannelID, 10), choices, "")
	if err := d.Teams(v, i.TeamID); err != nil {
		return nil, err
	}
	if i.IntegrationType == integrations.Heartbeat {
		interval := int64(300)
		if i.Settings != nil && i.Settings.IntervalSeconds > 0 {
			interval = i.Settings.IntervalSeconds
		}
		d.Number("interval", v.T("Seconds between heartbeats"), interval, "")
	}
	if i.FreeWords() {
		d.Fields = append(d.Fields, i.severityRows(v))
	}
	if i.Counted() {
		most := int64(defaultMiB)
		if i.Settings != nil && i.Settings.MaxBytesPerDay > 0 {
			most = i.Settings.MaxBytesPerDay >> 20
		}
		d.Number("mib", v.T("MiB of events in a day"), most,
			v.T("Beyond it the labels, images and description of an event are cut to 2 KB, and beyond ten times it events are refused."))
	}
	d.More = append(d.More, page.FormField{Name: "ref", Label: v.T("Its key in another system"), Value: i.RefID, Kind: "text"})
	return d.Entered(v), nil
}

// defaultMiB is how many MiB of events an integration may send in a day, unless it is set.
const defaultMiB = 256

func saveIntegration(v *page.Visit) (string, error) {
	name, id := v.Field("name"), v.ID()
	chosen, _ := productOf(v, "")
	kind := chosen.Type
	if id != 0 {
		i, err := integration(v)
		if err != nil {
			return "", err
		}
		kind = i.IntegrationType
	}
	body := integrations.Body{
		Description: new(v.Field("about")), ChannelID: new(v.Number("channel")), TeamID: new(v.Number("team")),
		RefID: new(v.Field("ref")),
	}
	if kind == "heartbeat" {
		body.Settings = &integrations.Settings{IntervalSeconds: v.Number("interval")}
	}
	if settings, err := sourceSettings(v, id, kind); err != nil {
		return "", err
	} else if settings != nil {
		body.Settings = settings
	}
	if id == 0 {
		request := integrations.CreateRequest{IntegrationName: name, IntegrationType: kind, Body: body}
		made, err := page.Call[integrations.Created](v, "/integration/create", request)
		return "/integrations/" + strconv.FormatInt(made.IntegrationID, 10) + "?key=shown&product=" + chosen.Key, err
	}
	request := integrations.UpdateRequest{IntegrationID: id, IntegrationName: &name, Body: body}
	return "/integrations/" + strconv.FormatInt(id, 10), page.Do[api.Warnings](v, "/integration/update", request)
}

// setIntegrationStatus enables, disables or deletes an integration, or replaces its key.
func setIntegrationStatus(v *page.Visit) (string, error) {
	one := integrations.OneRequest{IntegrationID: v.ID()}
	next := "/integrations/" + strconv.FormatInt(one.IntegrationID, 10)
	switch v.Request.PathValue("to") {
	case "enable":
		return next, page.Do[api.Empty](v, "/integration/enable", one)
	case "disable":
		return next, page.Do[api.Empty](v, "/integration/disable", one)
	case "delete":
		return "/integrations", page.Do[api.Removal](v, "/integration/delete", integrations.DeleteRequest{OneRequest: one})
	case "rotate":
		request := integrations.RotateRequest{IntegrationID: one.IntegrationID, GraceSeconds: v.Number("grace")}
		return next + "?key=shown", page.Do[integrations.Rotated](v, "/integration/key/rotate", request)
	}
	return "", page.NotHere(v)
}

// testIntegration sends a test event and shows what became of it.
func testIntegration(v *page.Visit) (string, error) {
	request := ingest.TestRequest{IntegrationID: v.ID(), EventStatus: cmp.Or(v.Field("status"), "Info")}
	request.Labels = labelsOf(v.Field("labels"))
	sent, err := page.Call[ingest.Tested](v, "/integration/test", request)
	return "/integrations/" + strconv.FormatInt(v.ID(), 10) + "?event=" + url.QueryEscape(sent.EventID), err
}

// labelsOf reads labels: a name=value on each line.
func labelsOf(text string) map[string]string {
	labels := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			labels[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return labels
}

// route returns the route of an integration; nil: it has none.
func route(v *page.Visit, id int64) (*routes.Route, error) {
	reply, err := page.Call[api.Items[routes.Route]](v, "/route/list", routes.ListRequest{IntegrationIDs: []int64{id}})
	if err != nil || len(reply.Items) == 0 {
		return nil, err
	}
	return &reply.Items[0], nil
}

// caseSentence returns the conditions of a case in words.
func caseSentence(v *page.Visit, c routes.Case) string { return v.Sentence(filter.Filter{c.If}) }

// refusedFor are the texts of why events of an integration are not taken.
var refusedFor = map[string]string{
	"malformed": "Malformed events", "too_many": "Too many alerts in a request", "too_large": "Requests too large",
	"rate": "Too many requests", "key": "Wrong key", "disabled": "The integration is disabled", "busy": "The server was busy",
	"truncated": "Left out by the sender", "too_much": "Too many bytes in a day",
}

// wordsOfRefused names why events of an integration are not taken.
func wordsOfRefused(v *page.Visit, reason string) string {
	return v.T(cmp.Or(refusedFor[reason], reason))
}
