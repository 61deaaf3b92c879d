package console

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/api"
	webhooks "tocsin/internal/engine/webhook"
	integrations "tocsin/internal/integration"
)

var endpointPages = []page{
	{path: "/endpoints", template: "endpoints", tab: "deliveries", show: showEndpoints},
	{path: "/endpoints/{id}", template: "endpoint", tab: "deliveries", show: showEndpoint},
}

var endpointActions = []action{
	{path: "/endpoints/{id}/test", do: testEndpoint, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/count", do: countReplay, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/replay", do: replayEndpoint, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/cancel", do: cancelReplay, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/rotate", do: rotateSecret, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/expire", do: expireSecret, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/enable", do: enableEndpoint, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/disable", do: disableEndpoint, show: showEndpoint, page: "endpoint", needs: manageIntegrations},
}

// breaker is how the endpoint of a webhook is. Its times are in Unix seconds.
type breaker struct{ webhooks.EndpointInfo }

// FailingSince returns the first of the failures in a row.
func (b breaker) FailingSince() int64 { return b.EndpointInfo.FailingSince / 1000 }

// HeldUntil returns when the next attempt is made.
func (b breaker) HeldUntil() int64 { return b.EndpointInfo.HeldUntil / 1000 }

func (v *visit) breaker(hook int64) (breaker, error) {
	reply, err := call[webhooks.EndpointInfo](v, "/webhook/endpoint/info", webhooks.EndpointInfoRequest{IntegrationID: hook})
	return breaker{reply}, err
}

type endpointRow struct {
	integrations.Integration
	breaker
}

type endpointsView struct {
	titled
	Endpoints []endpointRow
}

func showEndpoints(v *visit) (view, error) {
	d := endpointsView{titled: titled(v.T("Endpoints"))}
	hooks, err := v.webhooks()
	if err != nil {
		return d, err
	}
	for _, hook := range hooks {
		state, err := v.breaker(hook.IntegrationID)
		if err != nil {
			return d, err
		}
		d.Endpoints = append(d.Endpoints, endpointRow{Integration: hook, breaker: state})
	}
	return d, nil
}

// endpointView is the page of one endpoint. After a form was sent it has what came of it.
type endpointView struct {
	titled
	Hook     integrations.Info
	Breaker  breaker
	Attempts []attempt
	Replays  []replayRow
	Days     []webhooks.EndpointDay // the last days, the oldest first
	Failed   *chart                 // of the days
	Count    *replayWindow          // that was counted; nil: none was
	Test     *webhooks.Tested       // nil: none was sent
	Secret   string                 // shown this once; empty: none was made
	From, To string                 // of the form, for input fields
	Status   string
	Types    []string // of the form of the test
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
	Count    int64
}

func showEndpoint(v *visit) (view, error) {
	var d endpointView
	var err error
	hook := v.pathID()
	d.Hook, err = call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: hook})
	if err != nil {
		return nil, err
	}
	d.titled = titled(d.Hook.IntegrationName)
	if !d.Hook.IsWebhook() || d.Hook.Settings == nil {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("This integration is no webhook.")}
	}
	d.Breaker, err = v.breaker(hook)
	if err != nil {
		return nil, err
	}
	d.Count, _ = v.made.(*replayWindow)
	d.Test, _ = v.made.(*webhooks.Tested)
	d.Secret, _ = v.made.(string)
	d.Types = d.Hook.Settings.EventTypes
	d.From = v.field("from")
	d.To = v.field("to")
	d.Status = v.field("status")
	if d.From == "" {
		d.From = v.local(v.Now.Add(-24 * time.Hour))
		d.To = v.local(v.Now)
		d.Status = "failed"
	}
	if err := v.endpointDays(&d); err != nil {
		return nil, err
	}
	return d, v.endpointHistory(&d)
}

// DayOf names the day that begins at a moment, by the clock of the account.
func (v *visit) DayOf(at int64) string { return v.partOf(at, "day") }

// failedAttempts is the figure of the graph.
var failedAttempts = measure{"Failed attempts by day", count, true, counted(func(f figures) int64 { return f.TotalIncidentCnt })}

// endpointDays adds the failures of the last days as a graph.
func (v *visit) endpointDays(d *endpointView) error {
	request := webhooks.EndpointDaysRequest{IntegrationID: d.Hook.IntegrationID}
	reply, err := call[webhooks.EndpointDays](v, "/webhook/endpoint/days", request)
	if err != nil {
		return err
	}
	d.Days = reply.Items
	parts := make([]figures, len(d.Days))
	for i, day := range d.Days {
		parts[i].TS, parts[i].TotalIncidentCnt = day.StartTime, day.Failed
	}
	c := v.chart(failedAttempts, parts, "day")
	c.ID = "failures"
	d.Failed = &c
	return nil
}

// endpointHistory adds the latest attempts and replays.
func (v *visit) endpointHistory(d *endpointView) error {
	now := v.Now.UnixMilli() + 1
	history, err := call[webhooks.HistoryPage](v, "/webhook/history/list", webhooks.HistoryListRequest{
		Limit: 10, StartTime: now - deliveryDays*86_400_000, EndTime: now, IntegrationID: d.Hook.IntegrationID,
	})
	if err != nil {
		return err
	}
	d.Attempts = attemptsOf(history)
	request := webhooks.ReplayListRequest{IntegrationID: d.Hook.IntegrationID}
	replays, err := call[api.Items[webhooks.Replay]](v, "/webhook/replay/list", request)
	for _, r := range replays.Items[:min(5, len(replays.Items))] {
		d.Replays = append(d.Replays, replayRow{r})
	}
	return err
}

// pathID returns the identifier in the address; 0 for what is none.
func (v *visit) pathID() int64 {
	n, _ := strconv.ParseInt(v.r.PathValue("id"), 10, 64)
	return n
}

func (v *visit) endpointPath(done string) string {
	return "/endpoints/" + url.PathEscape(v.r.PathValue("id")) + "?done=" + done
}

func enableEndpoint(v *visit) (string, error) {
	return v.endpointPath("saved"), do[api.Empty](v, "/integration/enable", integrations.OneRequest{IntegrationID: v.pathID()})
}

func disableEndpoint(v *visit) (string, error) {
	return v.endpointPath("saved"), do[api.Empty](v, "/integration/disable", integrations.OneRequest{IntegrationID: v.pathID()})
}

// expireSecret ends the old secret.
func expireSecret(v *visit) (string, error) {
	return v.endpointPath("saved"), do[api.Empty](v, "/integration/secret/expire", integrations.OneRequest{IntegrationID: v.pathID()})
}

// testEndpoint sends a sample event and shows what came of it.
func testEndpoint(v *visit) (string, error) {
	request := webhooks.TestRequest{IntegrationID: v.pathID(), EventType: v.field("event_type")}
	result, err := call[webhooks.Tested](v, "/webhook/test", request)
	v.made = &result
	return "", err
}

// countReplay shows how many messages a replay would send again.
func countReplay(v *visit) (string, error) {
	w, err := v.replayForm()
	if err != nil {
		return "", err
	}
	request := w.request(v.pathID())
	request.DryRun = dryRun
	reply, err := call[webhooks.ReplayStarted](v, "/webhook/replay", request)
	w.Count = reply.Count
	v.made = &w
	return "", err
}

// replayEndpoint begins the replay that was counted.
func replayEndpoint(v *visit) (string, error) {
	w, err := v.replayForm()
	if err != nil {
		return "", err
	}
	count, err := strconv.ParseInt(v.field("count"), 10, 64)
	if err != nil {
		return countReplay(v)
	}
	request := w.request(v.pathID())
	request.Count = &count
	return v.endpointPath("replay"), do[webhooks.ReplayStarted](v, "/webhook/replay", request)
}

func cancelReplay(v *visit) (string, error) {
	request := webhooks.ReplayCancelRequest{ReplayID: v.field("replay_id")}
	return v.endpointPath("cancel"), do[api.Empty](v, "/webhook/replay/cancel", request)
}

// rotateSecret makes a new secret and shows it, this once.
func rotateSecret(v *visit) (string, error) {
	hours, err := strconv.ParseInt(v.field("hours"), 10, 64)
	if err != nil {
		return "", refused(v.T("The number of hours must be a whole number, such as 24."))
	}
	request := integrations.RotateSecretRequest{IntegrationID: v.pathID(), GraceSeconds: hours * 3600}
	reply, err := call[integrations.RotatedSecret](v, "/integration/secret/rotate", request)
	v.made = reply.SignSecret
	return "", err
}

func (w replayWindow) request(hook int64) webhooks.ReplayRequest {
	return webhooks.ReplayRequest{IntegrationIDs: []int64{hook}, StartTime: w.From, EndTime: w.To, Status: w.Status}
}

// replayForm reads the window of a replay, in the visitor's time zone.
func (v *visit) replayForm() (w replayWindow, err error) {
	from, err1 := time.ParseInLocation(localTime, v.field("from"), v.Zone)
	to, err2 := time.ParseInLocation(localTime, v.field("to"), v.Zone)
	if err1 != nil || err2 != nil {
		return w, refused(v.T("Enter the beginning and the end of the window as date and time."))
	}
	return replayWindow{From: from.UnixMilli(), To: to.Add(time.Minute).UnixMilli(), Status: v.field("status")}, nil
}

// local returns a time in the visitor's time zone for an input of type datetime-local.
func (v *visit) local(t time.Time) string { return t.In(v.Zone).Format(localTime) }

// refused returns the error of a form that cannot be understood.
func refused(message string) error {
	return &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: message}
}

// ignoreMissing returns nil for the error of an object that does not exist, and every other error.
func ignoreMissing(err error) error {
	if r := api.RefusalOf(err); r != nil && r.Code == "ResourceNotFound" {
		return nil
	}
	return err
}

// ignoreHidden is ignoreMissing that leaves out what the visitor may not read, too.
func ignoreHidden(err error) error {
	if r := api.RefusalOf(err); r != nil && r.Status == http.StatusForbidden {
		return nil
	}
	return ignoreMissing(err)
}
