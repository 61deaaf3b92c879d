package incident

import (
	"cmp"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
)

var alertPages = []page.Page{
	{Path: "/alerts", Template: "alerts", Tab: "alerts", Show: showAlerts},
	{Path: "/alerts/{id}", Template: "alert", Tab: "alerts", Show: showAlert},
	{Path: "/alerts/{id}/why", Template: "why", Tab: "alerts", Show: showAlertWhy},
}

var alertActions = []page.Action{
	{Path: "/alerts/{id}/close", Do: closeAlert, Show: showAlert, Template: "alert"},
}

// alertTabs names what the list of alerts can show.
var alertTabs = map[string]string{"firing": "Firing", "muted": "Muted", "over": "Ended", "all": "All", "dropped": "Discarded"}

// alertTab names what the list of alerts can show.
func alertTab(v *page.Visit, show string) string { return v.T(alertTabs[show]) }

type alertsView struct {
	page.Titled
	listFilter
	Show     string // firing, muted, over, dropped or all
	Severity string
	Alerts   []page.AlertRow
	Events   []eventRow // of Show dropped
	Total    int64
	Next     string
	Channels []named
	Wrong    *page.RefusalWords
}

// eventRow is an event that became no part of an alert.
type eventRow struct{ alert.Event }

// Name returns what is wrong, as messages would call it.
func (e eventRow) Name() string { return render.AlertName(e.Title, e.Labels) }

func showAlerts(v *page.Visit) (page.View, error) {
	d := alertsView{Titled: page.Titled(v.T("Alerts")), listFilter: readListFilter(v, v.Request.URL.Query()), Show: v.Query("show"),
		Severity: v.Query("severity")}
	var err error
	if d.Show == "dropped" {
		err = d.readDropped(v)
	} else {
		err = d.readAlerts(v)
	}
	if err != nil {
		d.Wrong = misunderstood(v, err)
		if d.Wrong == nil {
			return nil, err
		}
	}
	d.Channels, err = channels(v)
	return d, err
}

// readAlerts reads a page of alerts.
func (d *alertsView) readAlerts(v *page.Visit) error {
	request := alert.ListRequest{StartTime: d.from, EndTime: d.to, ChannelIDs: d.channels(), AlertSeverity: d.Severity}
	request.Continue(page.PageSize, d.Cursor)
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
	reply, err := page.Call[api.CursorPage[alert.Alert]](v, "/alert/list", request)
	d.Alerts = page.AlertRows(reply.Items)
	if d.Show == "muted" { // those that were muted once and are not any more
		d.Alerts = slices.DeleteFunc(d.Alerts, func(a page.AlertRow) bool { return a.Muted == "" })
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
func (d *alertsView) readDropped(v *page.Visit) error {
	request := alert.EventsRequest{
		StartTime: d.from, EndTime: d.to, ChannelIDs: d.channels(), Severities: d.Severity,
		Outcomes: []string{"dropped", "discarded", "unrouted", "failed"},
	}
	request.Continue(page.PageSize, d.Cursor)
	reply, err := page.Call[api.CursorPage[alert.Event]](v, "/alert-event/list", request)
	for _, e := range reply.Items {
		d.Events = append(d.Events, eventRow{e})
	}
	d.Total = reply.Total
	d.Next = reply.SearchAfterCtx
	return err
}

// misunderstood returns why a filter of the address is refused; nil when the error is another one.
func misunderstood(v *page.Visit, err error) *page.RefusalWords {
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "InvalidParameter" {
		wrong := v.Refused(refused)
		return &wrong
	}
	return nil
}

type alertView struct {
	page.Titled
	Alert   page.AlertRow
	Labels  []pair // whose values are texts
	Links   []pair // whose values are addresses that a browser may open
	By      *page.AlertRow
	Rule    string         // the silence rule that holds it
	Why     sentence.Words // the condition that matched
	Reached string         // the persons who were notified
	Summary sentence.Words // why no person was
	Made    []madeSilence
	Feed    feed
	Found   *page.RuleCard // of the alert rule that found it; nil: none did
	Missing []string
}

func findAlert(v *page.Visit, id string) (page.AlertRow, error) {
	a, err := page.Call[alert.Alert](v, "/alert/info", alert.OneRequest{AlertID: id})
	return page.AlertRow{Alert: a}, err
}

func showAlert(v *page.Visit) (page.View, error) {
	a, err := findAlert(v, v.Request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if a.Incident != nil {
		i, err := page.Call[incidents.View](v, "/incident/info", incidents.OneRequest{IncidentID: a.Incident.IncidentID})
		if err == nil { // else its title does
			of := *a.Incident
			of.Title = i.Headline
			a.Incident = &of
		}
	}
	d := alertView{Titled: page.Titled(a.Name()), Alert: a}
	d.Labels, d.Links = labels(a.Labels)
	if a.Muted == "inhibited" && a.MutedBy != "" {
		if by, err := findAlert(v, a.MutedBy); err == nil {
			d.By = &by
		}
	}
	if x, err := explainAlert(v, explain.AlertRequest{AlertID: a.AlertID}); err != nil {
		d.Missing = append(d.Missing, v.T("Why"))
	} else {
		d.Reached, d.Summary = x.Reached(), x.Summary
		d.Rule, d.Why = x.muting(a)
	}
	d.Made, err = silencesMade(v, "/alerts/"+a.AlertID, incidents.SilencesRequest{AlertID: a.AlertID})
	if err != nil {
		d.Missing = append(d.Missing, v.T("Silences"))
	}
	d.Found, err = v.RuleCard(a)
	if err != nil {
		d.Missing = append(d.Missing, v.T("Alert rule"))
	}
	d.Feed, err = readFeed(v, func(part alert.FeedRequest) (api.CursorPage[alert.Entry], error) {
		request := alert.OneFeedRequest{OneRequest: alert.OneRequest{AlertID: a.AlertID}, FeedRequest: part}
		return page.Call[api.CursorPage[alert.Entry]](v, "/alert/feed", request)
	})
	if err != nil {
		d.Missing = append(d.Missing, v.T("What happened"))
	}
	return d, nil
}

// muting returns the rule that mutes an alert, and the condition that it met: those of the latest verdict that muted it.
func (x explanation) muting(a page.AlertRow) (rule string, why sentence.Words) {
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

func closeAlert(v *page.Visit) (string, error) {
	id := v.Request.PathValue("id")
	return "/alerts/" + url.PathEscape(id) + "?done=close", page.Do[api.Empty](v, "/alert/close", incidents.SomeAlerts{AlertIDs: []string{id}})
}

// showAlertWhy explains an alert, or an event that became none.
func showAlertWhy(v *page.Visit) (page.View, error) {
	id := v.Request.PathValue("id")
	name := ""
	back := ""
	request := explain.AlertRequest{EventID: id}
	if v.Query("event") == "" {
		a, err := findAlert(v, id)
		if err != nil {
			return nil, err
		}
		name, back = a.Name(), "/alerts/"+a.AlertID
		request = explain.AlertRequest{AlertID: id}
	}
	x, err := explainAlert(v, request)
	if err != nil {
		return nil, err
	}
	if name == "" {
		name, back = id, "/alerts?show=dropped"
		if len(x.Verdicts) > 0 {
			name = x.Verdicts[0].Headline
		}
	}
	return whyOf(v, x, name, back, nil), nil
}
