package webhook

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	webhooks "tocsin/internal/engine/webhook"
	integrations "tocsin/internal/integration"
)

var endpointPages = []page.Page{
	{Path: "/endpoints", Template: "endpoints", Tab: "messages", Show: showEndpoints},
	{Path: "/endpoints/{id}", Template: "endpoint", Tab: "messages", Show: showEndpoint},
}

var endpointActions = []page.Action{
	{Path: "/endpoints/{id}/test", Do: testEndpoint, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/count", Do: countReplay, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/replay", Do: replayEndpoint, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/cancel", Do: cancelReplay, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/rotate", Do: rotateSecret, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/expire", Do: expireSecret, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/enable", Do: enableEndpoint, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
	{Path: "/endpoints/{id}/disable", Do: disableEndpoint, Show: showEndpoint, Template: "endpoint", Needs: page.ManageIntegrations},
}

// breaker is how the endpoint of a webhook is. Its times are in Unix seconds.
type breaker struct{ webhooks.EndpointInfo }

// FailingSince returns the first of the failures in a row.
func (b breaker) FailingSince() int64 { return b.EndpointInfo.FailingSince / 1000 }

// HeldUntil returns when the next attempt is made.
func (b breaker) HeldUntil() int64 { return b.EndpointInfo.HeldUntil / 1000 }

func readBreaker(v *page.Visit, hook int64) (breaker, error) {
	reply, err := page.Call[webhooks.EndpointInfo](v, "/webhook/endpoint/info", webhooks.EndpointInfoRequest{IntegrationID: hook})
	return breaker{reply}, err
}

type endpointRow struct {
	integrations.Integration
	breaker
}

type endpointsView struct {
	page.Titled
	Endpoints []endpointRow
}

func showEndpoints(v *page.Visit) (page.View, error) {
	d := endpointsView{Titled: page.Titled(v.T("Endpoints"))}
	hooks, err := readWebhooks(v)
	if err != nil {
		return d, err
	}
	for _, hook := range hooks {
		state, err := readBreaker(v, hook.IntegrationID)
		if err != nil {
			return d, err
		}
		d.Endpoints = append(d.Endpoints, endpointRow{Integration: hook, breaker: state})
	}
	return d, nil
}

// endpointView is the page of one endpoint. After a form was sent it has what came of it.
type endpointView struct {
	page.Titled
	Hook     integrations.Info
	Breaker  breaker
	Attempts []attempt
	Replays  []replayRow
	Days     []webhooks.EndpointDay // the last days, the oldest first
	Failed   *picture.Chart         // of the days
	Count    *replayWindow          // that was counted; nil: none was
	Test     *webhooks.Tested       // nil: none was sent
	Secret   string                 // shown this once; empty: none was made
	From, To string                 // of the form, for input fields
	Status   string
	Types    []string // of the form of the test
	only     []string // of the form of the replay
}

// replayRow is a replay. Its times are in Unix seconds.
type replayRow struct{ webhooks.Replay }

// Start returns the beginning of the window.
func (r replayRow) Start() int64 { return r.StartTime / 1000 }

// End returns the end of the window.
func (r replayRow) End() int64 { return r.EndTime / 1000 }

// replayWindow is what a replay would send again.
type replayWindow struct {
	From, To int64 // Unix milliseconds
	Status   string
	Types    []string // none: all
	About    string   // the incident or alert; empty: any
	Count    int64
}

// Only reports whether an event is chosen in the form.
func (d endpointView) Only(event string) bool { return slices.Contains(d.only, event) }

func showEndpoint(v *page.Visit) (page.View, error) {
	var d endpointView
	var err error
	hook := v.ID()
	d.Hook, err = page.Call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: hook})
	if err != nil {
		return nil, err
	}
	d.Titled = page.Titled(d.Hook.IntegrationName)
	if !d.Hook.IsWebhook() || d.Hook.Settings == nil {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("This integration is no webhook.")}
	}
	d.Breaker, err = readBreaker(v, hook)
	if err != nil {
		return nil, err
	}
	d.Count, _ = v.Made.(*replayWindow)
	d.Test, _ = v.Made.(*webhooks.Tested)
	d.Secret, _ = v.Made.(string)
	d.Types = d.Hook.Settings.EventTypes
	d.only = v.Request.PostForm["type"]
	d.From = v.Field("from")
	d.To = v.Field("to")
	d.Status = v.Field("status")
	if d.From == "" {
		d.From = v.Local(v.Now.Add(-24 * time.Hour))
		d.To = v.Local(v.Now)
		d.Status = "failed"
	}
	if err := endpointDays(v, &d); err != nil {
		return nil, err
	}
	return d, endpointHistory(v, &d)
}

// endpointDays adds the failures of the last days as a graph.
func endpointDays(v *page.Visit, d *endpointView) error {
	request := webhooks.EndpointDaysRequest{IntegrationID: d.Hook.IntegrationID}
	reply, err := page.Call[webhooks.EndpointDays](v, "/webhook/endpoint/days", request)
	if err != nil {
		return err
	}
	d.Days = reply.Items
	points := make([]picture.Point, len(d.Days))
	for i, day := range d.Days {
		points[i] = picture.Point{When: v.PartOf(day.StartTime, "day"), Value: float64(day.Failed), Known: true}
	}
	c := picture.ChartOfPoints(v.Setting, v.T("Failed attempts by day"), picture.Count, points)
	c.ID = "failures"
	d.Failed = &c
	return nil
}

// endpointHistory adds the latest attempts and replays.
func endpointHistory(v *page.Visit, d *endpointView) error {
	now := v.Now.UnixMilli() + 1
	history, err := page.Call[webhooks.HistoryPage](v, "/webhook/history/list", webhooks.HistoryListRequest{
		Limit: 10, StartTime: now - deliveryDays*86_400_000, EndTime: now, IntegrationID: d.Hook.IntegrationID,
	})
	if err != nil {
		return err
	}
	d.Attempts = attemptsOf(history)
	request := webhooks.ReplayListRequest{IntegrationID: d.Hook.IntegrationID}
	replays, err := page.Call[api.Items[webhooks.Replay]](v, "/webhook/replay/list", request)
	for _, r := range replays.Items[:min(5, len(replays.Items))] {
		d.Replays = append(d.Replays, replayRow{r})
	}
	return err
}

func endpointPath(v *page.Visit, done string) string {
	return "/endpoints/" + url.PathEscape(v.Request.PathValue("id")) + "?done=" + done
}

func enableEndpoint(v *page.Visit) (string, error) {
	return endpointPath(v, "saved"), page.Do[api.Empty](v, "/integration/enable", integrations.OneRequest{IntegrationID: v.ID()})
}

func disableEndpoint(v *page.Visit) (string, error) {
	return endpointPath(v, "saved"), page.Do[api.Empty](v, "/integration/disable", integrations.OneRequest{IntegrationID: v.ID()})
}

// expireSecret ends the old secret.
func expireSecret(v *page.Visit) (string, error) {
	return endpointPath(v, "saved"), page.Do[api.Empty](v, "/integration/secret/expire", integrations.OneRequest{IntegrationID: v.ID()})
}

// testEndpoint sends a sample event and shows what came of it.
func testEndpoint(v *page.Visit) (string, error) {
	request := webhooks.TestRequest{IntegrationID: v.ID(), EventType: v.Field("event_type")}
	result, err := page.Call[webhooks.Tested](v, "/webhook/test", request)
	v.Made = &result
	return "", err
}

// countReplay shows how many messages a replay would send again.
func countReplay(v *page.Visit) (string, error) {
	w, err := replayForm(v)
	if err != nil {
		return "", err
	}
	request := w.request(v.ID())
	request.DryRun = page.DryRun
	reply, err := page.Call[webhooks.ReplayStarted](v, "/webhook/replay", request)
	w.Count = reply.Count
	v.Made = &w
	return "", err
}

// replayEndpoint begins the replay that was counted.
func replayEndpoint(v *page.Visit) (string, error) {
	w, err := replayForm(v)
	if err != nil {
		return "", err
	}
	count, err := strconv.ParseInt(v.Field("count"), 10, 64)
	if err != nil {
		return countReplay(v)
	}
	request := w.request(v.ID())
	request.Count = &count
	return endpointPath(v, "replay"), page.Do[webhooks.ReplayStarted](v, "/webhook/replay", request)
}

func cancelReplay(v *page.Visit) (string, error) {
	request := webhooks.ReplayCancelRequest{ReplayID: v.Field("replay_id")}
	return endpointPath(v, "cancel"), page.Do[api.Empty](v, "/webhook/replay/cancel", request)
}

// rotateSecret makes a new secret and shows it, this once.
func rotateSecret(v *page.Visit) (string, error) {
	hours, err := strconv.ParseInt(v.Field("hours"), 10, 64)
	if err != nil {
		return "", page.Wrong(v.T("The number of hours must be a whole number, such as 24."))
	}
	request := integrations.RotateSecretRequest{IntegrationID: v.ID(), GraceSeconds: hours * 3600}
	reply, err := page.Call[integrations.RotatedSecret](v, "/integration/secret/rotate", request)
	v.Made = reply.SignSecret
	return "", err
}

func (w replayWindow) request(hook int64) webhooks.ReplayRequest {
	return webhooks.ReplayRequest{IntegrationIDs: []int64{hook}, StartTime: w.From, EndTime: w.To, Status: w.Status,
		EventTypes: w.Types, RefID: w.About}
}

// replayForm reads the window of a replay, in the visitor's time zone.
func replayForm(v *page.Visit) (w replayWindow, err error) {
	from, err1 := page.ParseLocal(v.Field("from"), v.Zone)
	to, err2 := page.ParseLocal(v.Field("to"), v.Zone)
	if err1 != nil || err2 != nil {
		return w, page.Wrong(v.T("Enter the beginning and the end of the window as date and time."))
	}
	return replayWindow{From: from.UnixMilli(), To: to.Add(time.Minute).UnixMilli(), Status: v.Field("status"),
		Types: v.Request.PostForm["type"], About: v.Field("about")}, nil
}

// ignoreHidden is ignoreMissing that leaves out what the visitor may not read, too.
func ignoreHidden(err error) error {
	if r := api.RefusalOf(err); r != nil && r.Status == http.StatusForbidden {
		return nil
	}
	return page.IgnoreMissing(err)
}
