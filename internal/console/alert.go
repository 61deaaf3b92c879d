package console

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
)

var alertPages = []page{
	{path: "/alerts", template: "alerts", tab: "alerts", show: showAlerts},
	{path: "/alerts/{id}", template: "alert", tab: "alerts", show: showAlert},
	{path: "/alerts/{id}/why", template: "why", tab: "alerts", show: showAlertWhy},
}

var alertActions = []action{
	{path: "/alerts/{id}/close", do: closeAlert, show: showAlert, page: "alert"},
}

// alertRow is an alert, as lists and its page show it.
type alertRow struct{ alert.Alert }

func alertRows(alerts []alert.Alert) []alertRow {
	rows := make([]alertRow, len(alerts))
	for i, a := range alerts {
		rows[i] = alertRow{a}
	}
	return rows
}

// Name returns what is wrong, as messages call it.
func (a alertRow) Name() string { return render.AlertName(a.Title, a.Labels) }

// State returns what an alert is in, in one word of the catalog.
func (a alertRow) State() string {
	switch {
	case a.EndTime != 0:
		return "Over"
	case a.Muted != "":
		return map[string]string{
			"silenced": "Silenced", "inhibited": "Inhibited", "flapping": "Flapping", "channel_disabled": "Channel disabled",
		}[a.Muted]
	case a.FlappingUntil != 0 && a.AlertStatus == "Ok":
		return "Over for now"
	}
	return "Firing"
}

// alertTabs names what the list of alerts can show.
var alertTabs = map[string]string{"firing": "Firing", "muted": "Held back", "over": "Over", "all": "All", "dropped": "Dropped"}

// AlertTab names what the list of alerts can show.
func (v *visit) AlertTab(show string) string { return v.T(alertTabs[show]) }

type alertsView struct {
	titled
	listFilter
	Show     string // firing, muted, over, dropped or all
	Severity string
	Alerts   []alertRow
	Events   []eventRow // of Show dropped
	Total    int64
	Next     string
	Channels []named
	Wrong    *refusalWords
}

// eventRow is an event that became no part of an alert.
type eventRow struct{ alert.Event }

// Name returns what is wrong, as messages would call it.
func (e eventRow) Name() string { return render.AlertName(e.Title, e.Labels) }

func showAlerts(v *visit) (view, error) {
	d := alertsView{titled: titled(v.T("Alerts")), listFilter: v.listFilter(), Show: v.query("show"), Severity: v.query("severity")}
	var err error
	if d.Show == "dropped" {
		err = d.readDropped(v)
	} else {
		err = d.readAlerts(v)
	}
	if err != nil {
		d.Wrong = v.misunderstood(err)
		if d.Wrong == nil {
			return nil, err
		}
	}
	d.Channels, err = v.channels()
	return d, err
}

// readAlerts reads a page of alerts.
func (d *alertsView) readAlerts(v *visit) error {
	request := alert.ListRequest{StartTime: d.from, EndTime: d.to, ChannelIDs: d.channels(), AlertSeverity: d.Severity}
	request.Continue(pageSize, d.Cursor)
	switch d.Show {
	case "muted":
		request.IsActive, request.EverMuted = new(true), new(true)
	case "over":
		request.IsActive = new(false)
	case "all":
	default:
		d.Show = "firing"
		request.IsActive = new(true)
	}
	if d.Query != "" {
		request.Title = titlePattern(d.Query)
	}
	reply, err := call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	d.Alerts = alertRows(reply.Items)
	if d.Show == "muted" { // those that were muted once and are not any more
		d.Alerts = slices.DeleteFunc(d.Alerts, func(a alertRow) bool { return a.Muted == "" })
	}
	d.Total = reply.Total
	d.Next = reply.SearchAfterCtx
	return err
}

// titlePattern returns the filter of a title: what is typed is a part of it, in upper or lower case, unless it is a
// regular expression itself.
func titlePattern(typed string) string {
	if len(typed) > 1 && strings.HasPrefix(typed, "/") && strings.HasSuffix(typed, "/") {
		return typed
	}
	return "/(?i)" + regexp.QuoteMeta(typed) + "/"
}

// readDropped reads a page of events that were dropped, or that no channel takes.
func (d *alertsView) readDropped(v *visit) error {
	request := alert.EventsRequest{
		StartTime: d.from, EndTime: d.to, ChannelIDs: d.channels(), Severities: d.Severity,
		Outcomes: []string{"dropped", "discarded", "unrouted", "failed"},
	}
	request.Continue(pageSize, d.Cursor)
	reply, err := call[api.CursorPage[alert.Event]](v, "/alert-event/list", request)
	for _, e := range reply.Items {
		d.Events = append(d.Events, eventRow{e})
	}
	d.Total = reply.Total
	d.Next = reply.SearchAfterCtx
	return err
}

// misunderstood returns why a filter of the address is refused; nil when the error is another one.
func (v *visit) misunderstood(err error) *refusalWords {
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "InvalidParameter" {
		wrong := v.Refused(refused)
		return &wrong
	}
	return nil
}

type alertView struct {
	titled
	Alert   alertRow
	Labels  []pair // whose values are texts
	Links   []pair // whose values are addresses that a browser may open
	By      *alertRow
	Rule    string         // the silence rule that holds it
	Why     sentence.Words // the condition that matched
	Reached string         // the persons who were notified
	Summary sentence.Words // why no person was
	Made    []madeSilence
	Feed    feed
	Found   *ruleCard // of the alert rule that found it; nil: none did
	Missing []string
}

func (v *visit) findAlert(id string) (alertRow, error) {
	a, err := call[alert.Alert](v, "/alert/info", alert.OneRequest{AlertID: id})
	return alertRow{a}, err
}

func showAlert(v *visit) (view, error) {
	a, err := v.findAlert(v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if a.Incident != nil {
		i, err := call[incidents.View](v, "/incident/info", incidents.OneRequest{IncidentID: a.Incident.IncidentID})
		if err == nil { // else its title does
			of := *a.Incident
			of.Title = i.Headline
			a.Incident = &of
		}
	}
	d := alertView{titled: titled(a.Name()), Alert: a}
	d.Labels, d.Links = labels(a.Labels)
	if a.Muted == "inhibited" && a.MutedBy != "" {
		if by, err := v.findAlert(a.MutedBy); err == nil {
			d.By = &by
		}
	}
	if x, err := v.explainAlert(explain.AlertRequest{AlertID: a.AlertID}); err != nil {
		d.Missing = append(d.Missing, v.T("Why"))
	} else {
		d.Reached, d.Summary = x.Reached(), x.Summary
		d.Rule, d.Why = x.muting(a)
	}
	d.Made, err = v.silencesMade("/alerts/"+a.AlertID, incidents.SilencesRequest{AlertID: a.AlertID})
	if err != nil {
		d.Missing = append(d.Missing, v.T("Silences"))
	}
	d.Found, err = v.ruleCard(a)
	if err != nil {
		d.Missing = append(d.Missing, v.T("Alert rule"))
	}
	d.Feed, err = v.feed(func(page alert.FeedRequest) (api.CursorPage[alert.Entry], error) {
		request := alert.OneFeedRequest{OneRequest: alert.OneRequest{AlertID: a.AlertID}, FeedRequest: page}
		return call[api.CursorPage[alert.Entry]](v, "/alert/feed", request)
	})
	if err != nil {
		d.Missing = append(d.Missing, v.T("What happened"))
	}
	return d, nil
}

// muting returns the rule that mutes an alert, and the condition that it met: those of the latest verdict that muted it.
func (x explanation) muting(a alertRow) (rule string, why sentence.Words) {
	stage := map[string]string{"silenced": "silence", "inhibited": "inhibit", "flapping": "flapping", "channel_disabled": "channel"}[a.Muted]
	for _, w := range slices.Backward(x.Verdicts) {
		for _, s := range w.Trace {
			if s.Stage == stage && s.Matched {
				return cmp.Or(s.Name, s.Rule), s.Why
			}
		}
	}
	return "", ""
}

func closeAlert(v *visit) (string, error) {
	id := v.r.PathValue("id")
	return "/alerts/" + url.PathEscape(id) + "?done=close", do[api.Empty](v, "/alert/close", incidents.SomeAlerts{AlertIDs: []string{id}})
}

// showAlertWhy explains an alert, or an event that became none.
func showAlertWhy(v *visit) (view, error) {
	id := v.r.PathValue("id")
	name := ""
	back := ""
	request := explain.AlertRequest{EventID: id}
	if v.query("event") == "" {
		a, err := v.findAlert(id)
		if err != nil {
			return nil, err
		}
		name, back = a.Name(), "/alerts/"+a.AlertID
		request = explain.AlertRequest{AlertID: id}
	}
	x, err := v.explainAlert(request)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name, back = id, "/alerts?show=dropped"
		if len(x.Verdicts) > 0 {
			name = x.Verdicts[0].Headline
		}
	}
	return v.whyOf(x, name, back, nil), nil
}
