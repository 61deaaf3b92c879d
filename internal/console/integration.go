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

// integrationRow is what pages need of an integration.
type integrationRow struct {
	ID        int64  `json:"integration_id"`
	Name      string `json:"integration_name"`
	Type      string `json:"integration_type"`
	About     string `json:"description"`
	TeamID    int64  `json:"team_id"`
	ChannelID int64  `json:"channel_id"`
	Key       string `json:"integration_key"`
	PushURL   string `json:"push_url"`
	Status    string `json:"status"`
	Settings  *struct {
		Interval    int64             `json:"interval_seconds"`
		SeverityMap map[string]string `json:"severity_map"`
		MaxBytes    int64             `json:"max_bytes_per_day"`
	} `json:"settings"`
	Volume *struct {
		Bytes int64 `json:"bytes"`
		Most  int64 `json:"max_bytes_per_day"`
	} `json:"volume"`
	Refused []struct {
		Reason string `json:"reason"`
		Events int64  `json:"events"`
		LastAt int64  `json:"last_at"`
		Detail string `json:"detail"`
	} `json:"refused"`
	Unknown []struct {
		Word   string `json:"word"`
		Events int64  `json:"events"`
		LastAt int64  `json:"last_at"`
	} `json:"unknown_severities"`
}

// sources are the types that push alerts, in the order of the form; watches those that push something else.
var (
	sources = []string{"standard", "prometheus", "grafana", "pagerduty", "zabbix", "sentry"}
	watches = []string{"heartbeat", "change"}
)

// Source reports whether the integration pushes alerts.
func (i integrationRow) Source() bool { return slices.Contains(sources, i.Type) }

// Webhook reports whether the integration sends to another program.
func (i integrationRow) Webhook() bool {
	return i.Type == "webhook_incident" || i.Type == "webhook_alert"
}

// Counted reports whether the bytes that it sends in a day are bounded.
func (i integrationRow) Counted() bool { return i.Source() || i.Type == "change" }

func showIntegrations(v *visit) (view, error) {
	d := recordList{
		titled: titled(v.T("Integrations")), Search: v.query("q"), Searchable: true, pager: v.pager(),
		Intro: v.T("An integration receives what monitoring systems send, or sends on what happened."),
		None:  v.T("There is no integration yet. Make one, then point your monitoring system to its address."),
	}
	if v.who.MayAny(manageIntegrations) {
		d.New, d.NewText = "/integrations/new", v.T("New integration")
	}
	var reply struct {
		Items []integrationRow `json:"items"`
		More  bool             `json:"has_next_page"`
	}
	err := v.call("/integration/list", map[string]any{"p": d.Page, "limit": perPage, "query": d.Search}, &reply)
	d.More = reply.More
	for _, i := range reply.Items {
		row := recordRow{Path: "/integrations/" + strconv.FormatInt(i.ID, 10), Name: i.Name, About: i.About, Tags: []string{i.Type}}
		if i.Status != "enabled" {
			row.Warnings = []string{v.T("Disabled")}
		}
		d.Rows = append(d.Rows, row)
	}
	return d, err
}

func (v *visit) integration() (i integrationRow, err error) {
	err = v.call("/integration/info", map[string]any{"integration_id": v.number()}, &i)
	return i, err
}

type integrationView struct {
	titled
	Integration integrationRow
	Address     string // to push to
	Curl        string
	Channels    map[int64]string
	Route       *storedRoute
	EventID     string
	Explained   *eventOutcome
	May         bool
}

// eventOutcome is what became of an event.
type eventOutcome struct {
	Summary  string   `json:"summary"`
	Words    []string `json:"words"`
	Waiting  bool     `json:"waiting"`
	Verdicts []struct {
		Outcome    string `json:"outcome"`
		ChannelID  int64  `json:"channel_id"`
		AlertID    string `json:"alert_id"`
		IncidentID string `json:"incident_id"`
	} `json:"verdicts"`
}

func showIntegration(v *visit) (view, error) {
	i, err := v.integration()
	if err != nil {
		return nil, err
	}
	d := integrationView{titled: titled(i.Name), Integration: i, May: v.who.MayAny(manageIntegrations), EventID: v.query("event")}
	if i.Key != "" {
		d.Address = v.origin() + i.PushURL
		d.Curl = curl(i, d.Address)
	}
	if i.Source() && i.ChannelID == 0 {
		d.Route, err = v.route(i.ID)
		if err != nil {
			return nil, err
		}
	}
	if d.EventID != "" {
		d.Explained = &eventOutcome{}
		if err := v.call("/alert/explain", map[string]any{"event_id": d.EventID}, d.Explained); err != nil {
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
	}[i.Type]
	if i.Type == "heartbeat" {
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

// editIntegration shows the form of an integration: what was entered, else what is stored.
func editIntegration(v *visit) (view, error) {
	i, back := integrationRow{Type: "standard"}, "/integrations"
	d := recordForm{titled: titled(v.T("New integration"))}
	if v.r.PathValue("id") != "" {
		var err error
		i, err = v.integration()
		if err != nil {
			return nil, err
		}
		d.titled, back = titled(i.Name), "/integrations/"+strconv.FormatInt(i.ID, 10)
	}
	d.Path = v.r.URL.Path
	d.Back = back
	d.May = v.who.MayAny(manageIntegrations)
	d.text("name", v.T("Name"), i.Name, "")
	if i.ID == 0 {
		types := []option{}
		for _, kind := range slices.Concat(sources, watches) {
			types = append(types, option{kind, kind})
		}
		d.choice("type", v.T("What sends to it"), i.Type, types,
			v.T("standard takes the JSON of this product; heartbeat raises an alert when it hears nothing; change takes releases and the like."))
	}
	d.text("about", v.T("Description"), i.About, "")
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
	if interval := int64(300); i.ID == 0 || i.Type == "heartbeat" {
		if i.Settings != nil && i.Settings.Interval > 0 {
			interval = i.Settings.Interval
		}
		d.number("interval", v.T("Seconds between heartbeats"), interval, v.T("For heartbeats alone."))
	}
	if i.ID == 0 || i.FreeWords() {
		d.long("severities", v.T("Severities, one word=Critical, word=Warning or word=Info on each line"), i.severityLines(),
			v.T("For prometheus and grafana alone. They precede the words that Tocsin knows."))
	}
	if i.ID == 0 || i.Counted() {
		most := int64(defaultMiB)
		if i.Settings != nil && i.Settings.MaxBytes > 0 {
			most = i.Settings.MaxBytes >> 20
		}
		d.number("mib", v.T("MiB of events in a day"), most,
			v.T("Beyond it the labels, images and description of an event are cut to 2 KB, and beyond ten times it events are refused."))
	}
	return d.entered(v), nil
}

// defaultMiB is how many MiB of events an integration may send in a day, unless it is set.
const defaultMiB = 256

func saveIntegration(v *visit) (string, error) {
	request := map[string]any{
		"integration_name": v.field("name"), "description": v.field("about"), "channel_id": formNumber(v,
			"channel"), "team_id": formNumber(v, "team"),
	}
	kind, id := v.field("type"), v.number()
	if id != 0 {
		i, err := v.integration()
		if err != nil {
			return "", err
		}
		kind = i.Type
	}
	if kind == "heartbeat" {
		request["settings"] = map[string]any{"interval_seconds": formNumber(v, "interval")}
	}
	if settings, err := v.sourceSettings(id, kind); err != nil {
		return "", err
	} else if settings != nil {
		request["settings"] = settings
	}
	if id == 0 {
		request["integration_type"] = kind
		var made struct {
			ID int64 `json:"integration_id"`
		}
		err := v.call("/integration/create", request, &made)
		return "/integrations/" + strconv.FormatInt(made.ID, 10), err
	}
	request["integration_id"] = id
	return "/integrations/" + strconv.FormatInt(id, 10), v.call("/integration/update", request, nil)
}

// setIntegrationStatus enables, disables or deletes an integration, or replaces its key.
func setIntegrationStatus(v *visit) (string, error) {
	id := v.number()
	next := "/integrations/" + strconv.FormatInt(id, 10)
	switch to := v.r.PathValue("to"); to {
	case "enable", "disable":
		return next, v.call("/integration/"+to, map[string]any{"integration_id": id}, nil)
	case "delete":
		return "/integrations", v.call("/integration/delete", map[string]any{"integration_id": id}, nil)
	case "rotate":
		return next, v.call("/integration/key/rotate", map[string]any{"integration_id": id, "grace_seconds": formNumber(v, "grace")}, nil)
	}
	return "", notHere(v)
}

// testIntegration sends a test event and shows what became of it.
func testIntegration(v *visit) (string, error) {
	request := map[string]any{"integration_id": v.number(), "event_status": cmp.Or(v.field("status"), "Info"),
		"labels": labelsOf(v.field("labels"))}
	var sent struct {
		Event string `json:"event_id"`
	}
	err := v.call("/integration/test", request, &sent)
	return "/integrations/" + strconv.FormatInt(v.number(), 10) + "?event=" + url.QueryEscape(sent.Event), err
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

// storedRoute is where the alerts of an integration go.
type storedRoute struct {
	Version int64       `json:"version"`
	Cases   []routeCase `json:"cases"`
	// Sections are headings above cases, by their positions: they are lost when cases are added or removed.
	Sections []any `json:"sections"`
	Default  *struct {
		Channels []int64 `json:"channel_ids"`
	} `json:"default"`
}

type routeCase struct {
	If          filter.Group `json:"if"`
	Channels    []int64      `json:"channel_ids"`
	Fallthrough bool         `json:"fallthrough"`
	Mode        string       `json:"routing_mode,omitzero"`
	Label       string       `json:"name_mapping_label,omitzero"`
}

// Filter returns the conditions of the case.
func (c routeCase) Filter() filter.Filter { return filter.Filter{c.If} }

// route returns the route of an integration; nil: it has none.
func (v *visit) route(id int64) (*storedRoute, error) {
	var reply struct {
		Items []storedRoute `json:"items"`
	}
	err := v.call("/route/list", map[string]any{"integration_ids": []int64{id}}, &reply)
	if err != nil || len(reply.Items) == 0 {
		return nil, err
	}
	return &reply.Items[0], nil
}

// refusedFor are the texts of why events of an integration are not taken.
var refusedFor = map[string]string{
	"malformed": "Malformed events", "too_many": "Too many alerts in a request", "too_large": "Requests too large",
	"rate": "Too many requests", "key": "Wrong key", "disabled": "The integration is disabled", "busy": "The server was busy",
	"truncated": "Left out by the sender", "too_much": "Too many bytes in a day",
}

// RefusedFor names why events of an integration are not taken.
func (v *visit) RefusedFor(reason string) string { return v.T(cmp.Or(refusedFor[reason], reason)) }
