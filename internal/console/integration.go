package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/engine/explain"
	"tocsin/internal/engine/ingest"
	integrations "tocsin/internal/integration"
	routes "tocsin/internal/route"
)

var integrationPages = []page{
	{path: "/integrations", template: "records", tab: "integrations", show: showIntegrations},
	{path: "/integrations/new", template: "record", tab: "integrations", show: editIntegration, needs: manageIntegrations},
	{path: "/integrations/{id}", template: "integration", tab: "integrations", show: showIntegration},
	{path: "/integrations/{id}/edit", template: "record", tab: "integrations", show: editIntegration, needs: manageIntegrations},
	{path: "/integrations/{id}/route", template: "route", tab: "integrations", show: showRoute},
}

var integrationActions = []action{
	{path: "/integrations/new", do: saveIntegration, show: editIntegration, page: "record", needs: manageIntegrations},
	{path: "/integrations/{id}/edit", do: saveIntegration, show: editIntegration, page: "record", needs: manageIntegrations},
	{path: "/integrations/{id}/status/{to}", do: setIntegrationStatus, show: showIntegration, page: "integration", needs: manageIntegrations},
	{path: "/integrations/{id}/test", do: testIntegration, show: showIntegration, page: "integration", needs: manageIntegrations},
	{path: "/integrations/{id}/severity", do: mapSeverity, show: showIntegration, page: "integration", needs: manageIntegrations},
	{path: "/integrations/{id}/route", do: saveRoute, show: showRoute, page: "route", needs: manageIntegrations},
}

// manageIntegrations is the permission that the forms of integrations need.
var manageIntegrations = rights{auth.IntegrationsManage}

// integrationRow is an integration as pages show it.
type integrationRow struct{ integrations.Info }

// sources are the types that push alerts, in the order of the form; watches those that push something else.
var (
	sources = []string{"standard", "prometheus", "grafana", "pagerduty", "zabbix", "sentry"}
	watches = []string{"heartbeat", "change"}
)

// Source reports whether the integration pushes alerts.
func (i integrationRow) Source() bool { return slices.Contains(sources, i.IntegrationType) }

// Counted reports whether the bytes that it sends in a day are bounded.
func (i integrationRow) Counted() bool { return i.Source() || i.IntegrationType == "change" }

func showIntegrations(v *visit) (view, error) {
	d := recordList{
		titled: titled(v.T("Integrations")), Search: v.query("q"), Searchable: true, pager: v.pager(),
		Intro: v.T("An integration receives what monitoring systems send, or sends on what happened."),
		None:  v.T("There is no integration yet. Make one, then point your monitoring system to its address."),
	}
	if v.who.MayAny(manageIntegrations) {
		d.New, d.NewText = "/integrations/new", v.T("New integration")
	}
	request := integrations.ListRequest{Query: d.Search}
	request.P, request.Limit = d.Page, perPage
	reply, err := call[api.CursorPage[integrations.Integration]](v, "/integration/list", request)
	d.More = reply.HasNextPage
	for _, i := range reply.Items {
		row := recordRow{Path: "/integrations/" + strconv.FormatInt(i.IntegrationID, 10), Name: i.IntegrationName, About: i.Description}
		row.Tags = []string{i.IntegrationType}
		if i.Status != "enabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func (v *visit) integration() (i integrationRow, err error) {
	i.Info, err = call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: v.number()})
	return i, err
}

type integrationView struct {
	titled
	Integration integrationRow
	Address     string // to push to
	Curl        string
	Channels    map[int64]string
	Route       *routes.Route
	EventID     string
	Explained   explanation
	May         bool
}

func showIntegration(v *visit) (view, error) {
	i, err := v.integration()
	if err != nil {
		return nil, err
	}
	d := integrationView{titled: titled(i.IntegrationName), Integration: i, May: v.who.MayAny(manageIntegrations), EventID: v.query("event")}
	if i.IntegrationKey != "" {
		d.Address = v.origin() + i.PushURL
		d.Curl = curl(i, d.Address)
	}
	if i.Source() && i.ChannelID == 0 {
		d.Route, err = v.route(i.IntegrationID)
		if err != nil {
			return nil, err
		}
	}
	if d.EventID != "" {
		d.Explained, err = v.explainAlert(explain.AlertRequest{EventID: d.EventID})
		if err != nil {
			return nil, err
		}
	}
	d.Channels, err = v.channelNames()
	return d, err
}

// origin returns the address of this server without a final slash: its public address or, where that is not known, the one
// that the browser used. A proxy may hide the port from the latter.
func (v *visit) origin() string {
	switch {
	case v.PublicURL != "":
		return strings.TrimSuffix(v.PublicURL, "/")
	case v.TLS:
		return "https://" + v.r.Host
	}
	return "http://" + v.r.Host
}

// curl returns a command that pushes to an address.
func curl(i integrationRow, address string) string {
	body := map[string]string{
		"standard":   `{"title_rule": "Disk is full", "event_status": "Warning", "alert_key": "disk-1", "labels": {"service": "db"}}`,
		"prometheus": `{"alerts": [{"status": "firing", "labels": {"alertname": "DiskFull", "severity": "warning", "service": "db"}}]}`,
		"grafana":    `{"alerts": [{"status": "firing", "labels": {"alertname": "DiskFull", "service": "db"}}]}`,
		"pagerduty":  `{"event_action": "trigger", "payload": {"summary": "Disk is full", "severity": "warning", "source": "db-1"}}`,
		"change":     `{"title": "Release 42", "change_key": "release-42", "change_status": "Done"}`,
	}[i.IntegrationType]
	if i.IntegrationType == "heartbeat" {
		return "curl -X POST '" + address + "'"
	}
	return "curl '" + address + "' -H 'Content-Type: application/json' -d '" + cmp.Or(body, "{}") + "'"
}

// channelNames returns the names of the channels that the visitor may read, by id.
func (v *visit) channelNames() (map[int64]string, error) {
	names := map[int64]string{}
	rows, err := v.channelChoices()
	for _, c := range rows {
		names[c.ChannelID] = c.ChannelName
	}
	return names, err
}

// channelChoices returns the channels that a form offers, by name.
func (v *visit) channelChoices() ([]channel.Shown, error) {
	request := channel.ListRequest{OrderBy: "channel_name", Asc: true, IsBrief: true}
	request.Limit = 100
	reply, err := call[api.CursorPage[channel.Shown]](v, "/channel/list", request)
	return reply.Items, err
}

// integrationOf returns a new integration of a type.
func integrationOf(kind string) integrationRow {
	return integrationRow{integrations.Info{Integration: integrations.Integration{IntegrationType: kind}}}
}

// editIntegration shows the form of an integration: what was entered, else what is stored.
func editIntegration(v *visit) (view, error) {
	i, back := integrationOf("standard"), "/integrations"
	d := recordForm{titled: titled(v.T("New integration"))}
	if v.r.PathValue("id") != "" {
		var err error
		i, err = v.integration()
		if err != nil {
			return nil, err
		}
		d.titled, back = titled(i.IntegrationName), "/integrations/"+strconv.FormatInt(i.IntegrationID, 10)
	}
	d.Path = v.r.URL.Path
	d.Back = back
	d.May = v.who.MayAny(manageIntegrations)
	d.text("name", v.T("Name"), i.IntegrationName, "")
	if i.IntegrationID == 0 {
		types := []option{}
		for _, kind := range slices.Concat(sources, watches) {
			types = append(types, option{kind, kind})
		}
		d.choice("type", v.T("What sends to it"), i.IntegrationType, types,
			v.T("standard takes the JSON of this product; heartbeat raises an alert when it hears nothing; change takes releases and the like."))
	}
	d.text("about", v.T("Description"), i.Description, "")
	channels, err := v.channelChoices()
	if err != nil {
		return nil, err
	}
	choices := []option{{"0", v.T("None: its route decides")}}
	for _, c := range channels {
		choices = append(choices, option{strconv.FormatInt(c.ChannelID, 10), c.ChannelName})
	}
	d.choice("channel", v.T("Channel"), strconv.FormatInt(i.ChannelID, 10), choices, "")
	if err := d.teams(v, i.TeamID); err != nil {
		return nil, err
	}
	if interval := int64(300); i.IntegrationID == 0 || i.IntegrationType == "heartbeat" {
		if i.Settings != nil && i.Settings.IntervalSeconds > 0 {
			interval = i.Settings.IntervalSeconds
		}
		d.number("interval", v.T("Seconds between heartbeats"), interval, v.T("For heartbeats alone."))
	}
	if i.IntegrationID == 0 || i.FreeWords() {
		d.long("severities", v.T("Severities, one word=Critical, word=Warning or word=Info on each line"), i.severityLines(),
			v.T("For prometheus and grafana alone. They precede the words that Tocsin knows."))
	}
	if i.IntegrationID == 0 || i.Counted() {
		most := int64(defaultMiB)
		if i.Settings != nil && i.Settings.MaxBytesPerDay > 0 {
			most = i.Settings.MaxBytesPerDay >> 20
		}
		d.number("mib", v.T("MiB of events in a day"), most,
			v.T("Beyond it the labels, images and description of an event are cut to 2 KB, and beyond ten times it events are refused."))
	}
	return d.entered(v), nil
}

// defaultMiB is how many MiB of events an integration may send in a day, unless it is set.
const defaultMiB = 256

func saveIntegration(v *visit) (string, error) {
	name, id := v.field("name"), v.number()
	kind := v.field("type")
	if id != 0 {
		i, err := v.integration()
		if err != nil {
			return "", err
		}
		kind = i.IntegrationType
	}
	body := integrations.Body{
		Description: new(v.field("about")), ChannelID: new(formNumber(v, "channel")), TeamID: new(formNumber(v, "team")),
	}
	if kind == "heartbeat" {
		body.Settings = &integrations.Settings{IntervalSeconds: formNumber(v, "interval")}
	}
	if settings, err := v.sourceSettings(id, kind); err != nil {
		return "", err
	} else if settings != nil {
		body.Settings = settings
	}
	if id == 0 {
		request := integrations.CreateRequest{IntegrationName: name, IntegrationType: kind, Body: body}
		made, err := call[integrations.Created](v, "/integration/create", request)
		return "/integrations/" + strconv.FormatInt(made.IntegrationID, 10), err
	}
	request := integrations.UpdateRequest{IntegrationID: id, IntegrationName: &name, Body: body}
	return "/integrations/" + strconv.FormatInt(id, 10), do[api.Warnings](v, "/integration/update", request)
}

// setIntegrationStatus enables, disables or deletes an integration, or replaces its key.
func setIntegrationStatus(v *visit) (string, error) {
	one := integrations.OneRequest{IntegrationID: v.number()}
	next := "/integrations/" + strconv.FormatInt(one.IntegrationID, 10)
	switch v.r.PathValue("to") {
	case "enable":
		return next, do[api.Empty](v, "/integration/enable", one)
	case "disable":
		return next, do[api.Empty](v, "/integration/disable", one)
	case "delete":
		return "/integrations", do[api.Removal](v, "/integration/delete", integrations.DeleteRequest{OneRequest: one})
	case "rotate":
		request := integrations.RotateRequest{IntegrationID: one.IntegrationID, GraceSeconds: formNumber(v, "grace")}
		return next, do[integrations.Rotated](v, "/integration/key/rotate", request)
	}
	return "", notHere(v)
}

// testIntegration sends a test event and shows what became of it.
func testIntegration(v *visit) (string, error) {
	request := ingest.TestRequest{IntegrationID: v.number(), EventStatus: cmp.Or(v.field("status"), "Info")}
	request.Labels = labelsOf(v.field("labels"))
	sent, err := call[ingest.Tested](v, "/integration/test", request)
	return "/integrations/" + strconv.FormatInt(v.number(), 10) + "?event=" + url.QueryEscape(sent.EventID), err
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
func (v *visit) route(id int64) (*routes.Route, error) {
	reply, err := call[api.Items[routes.Route]](v, "/route/list", routes.ListRequest{IntegrationIDs: []int64{id}})
	if err != nil || len(reply.Items) == 0 {
		return nil, err
	}
	return &reply.Items[0], nil
}

// CaseSentence returns the conditions of a case in words.
func (v *visit) CaseSentence(c routes.Case) string { return v.Sentence(filter.Filter{c.If}) }

// refusedFor are the texts of why events of an integration are not taken.
var refusedFor = map[string]string{
	"malformed": "Malformed events", "too_many": "Too many alerts in a request", "too_large": "Requests too large",
	"rate": "Too many requests", "key": "Wrong key", "disabled": "The integration is disabled", "busy": "The server was busy",
	"truncated": "Left out by the sender", "too_much": "Too many bytes in a day",
}

// RefusedFor names why events of an integration are not taken.
func (v *visit) RefusedFor(reason string) string { return v.T(cmp.Or(refusedFor[reason], reason)) }
