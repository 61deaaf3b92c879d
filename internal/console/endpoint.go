package console

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tocsin/internal/api"
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
	{path: "/endpoints/{id}/expire", do: onEndpoint("/integration/secret/expire"), show: showEndpoint, page: "endpoint",
		needs: manageIntegrations},
	{path: "/endpoints/{id}/enable", do: onEndpoint("/integration/enable"), show: showEndpoint, page: "endpoint", needs: manageIntegrations},
	{path: "/endpoints/{id}/disable", do: onEndpoint("/integration/disable"), show: showEndpoint, page: "endpoint", needs: manageIntegrations},
}

// breaker is how the endpoint of a webhook is.
type breaker struct {
	State    string `json:"state"` // closed, open or half-open
	Failures int64  `json:"failures"`
	Since    int64  `json:"failing_since"` // Unix milliseconds, as the next
	Until    int64  `json:"held_until"`
	Error    string `json:"last_error"`
	Waiting  int64  `json:"waiting"`
}

// FailingSince returns the first of the failures in a row, in Unix seconds.
func (b breaker) FailingSince() int64 { return b.Since / 1000 }

// HeldUntil returns when the next attempt is made, in Unix seconds.
func (b breaker) HeldUntil() int64 { return b.Until / 1000 }

func (v *visit) breaker(hook int64) (b breaker, err error) {
	return b, v.call("/webhook/endpoint/info", map[string]any{"integration_id": hook}, &b)
}

type endpointRow struct {
	webhook
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
		state, err := v.breaker(hook.ID)
		if err != nil {
			return d, err
		}
		d.Endpoints = append(d.Endpoints, endpointRow{webhook: hook, breaker: state})
	}
	return d, nil
}

// endpointView is the page of one endpoint. After a form was sent it has what came of it.
type endpointView struct {
	titled
	Hook     webhook
	Breaker  breaker
	Attempts []attempt
	Replays  []replayRow
	Days     []endpointDay // the last days, the oldest first
	Failed   *chart        // of the days
	Count    *replayWindow // that was counted; nil: none was
	Test     *testResult   // nil: none was sent
	Secret   string        // shown this once; empty: none was made
	From, To string        // of the form, for input fields
	Status   string
	Types    []string // of the form of the test
}

type replayRow struct {
	ID        string `json:"replay_id"`
	Status    string `json:"status"`
	Reason    string `json:"reason"`
	Count     int64  `json:"count"`
	Sent      int64  `json:"sent"`
	From      int64  `json:"start_time"` // Unix milliseconds, as the next
	To        int64  `json:"end_time"`
	CreatedAt int64  `json:"created_at"`
}

// Start and End return the window of the replay in Unix seconds.
func (r replayRow) Start() int64 { return r.From / 1000 }

// End returns the end of the window.
func (r replayRow) End() int64 { return r.To / 1000 }

// replayWindow is what a replay would send again.
type replayWindow struct {
	From, To int64 // Unix milliseconds
	Status   string
	Count    int64 `json:"count"`
}

type testResult struct {
	EventID  string `json:"event_id"`
	Status   string `json:"status"`
	Code     int64  `json:"status_code"`
	Duration int64  `json:"duration"`
	Error    string `json:"error_message"`
}

func showEndpoint(v *visit) (view, error) {
	var d endpointView
	hook := v.pathID()
	if err := v.call("/integration/info", map[string]any{"integration_id": hook}, &d.Hook); err != nil {
		return nil, err
	}
	d.titled = titled(d.Hook.Name)
	if !d.Hook.Sends() {
		return nil, &api.Refusal{Status: http.StatusNotFound, Code: "ResourceNotFound", Message: v.T("This integration is no webhook.")}
	}
	var err error
	d.Breaker, err = v.breaker(hook)
	if err != nil {
		return nil, err
	}
	d.Count, _ = v.made.(*replayWindow)
	d.Test, _ = v.made.(*testResult)
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

// endpointDay is how many attempts were made on a day.
type endpointDay struct {
	Start     int64 `json:"start_time"`
	Succeeded int64 `json:"succeeded"`
	Failed    int64 `json:"failed"`
}

// DayOf names the day that begins at a moment, by the clock of the account.
func (v *visit) DayOf(at int64) string { return v.partOf(at, "day") }

// failedAttempts is the figure of the graph.
var failedAttempts = measure{"Failed attempts by day", count, true, counted(func(f figures) int64 { return f.TotalIncidentCnt })}

// endpointDays adds the failures of the last days as a graph.
func (v *visit) endpointDays(d *endpointView) error {
	var reply struct {
		Items []endpointDay `json:"items"`
	}
	if err := v.call("/webhook/endpoint/days", map[string]any{"integration_id": d.Hook.ID}, &reply); err != nil {
		return err
	}
	d.Days = reply.Items
	parts := make([]figures, len(d.Days))
	for i, day := range d.Days {
		parts[i].TS, parts[i].TotalIncidentCnt = day.Start, day.Failed
	}
	c := v.chart(failedAttempts, parts, "day")
	c.ID = "failures"
	d.Failed = &c
	return nil
}

// endpointHistory adds the latest attempts and replays.
func (v *visit) endpointHistory(d *endpointView) error {
	var history struct {
		Items []attempt `json:"items"`
	}
	now := v.Now.UnixMilli() + 1
	request := map[string]any{"limit": 10, "start_time": now - deliveryDays*86_400_000, "end_time": now, "integration_id": d.Hook.ID}
	if err := v.call("/webhook/history/list", request, &history); err != nil {
		return err
	}
	var replays struct {
		Items []replayRow `json:"items"`
	}
	err := v.call("/webhook/replay/list", map[string]any{"integration_id": d.Hook.ID}, &replays)
	d.Attempts, d.Replays = history.Items, replays.Items[:min(5, len(replays.Items))]
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

// onEndpoint returns an action that calls an operation on the webhook of the address.
func onEndpoint(path string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		return v.endpointPath("saved"), v.call(path, map[string]any{"integration_id": v.pathID()}, nil)
	}
}

// testEndpoint sends a sample event and shows what came of it.
func testEndpoint(v *visit) (string, error) {
	request := map[string]any{"integration_id": v.pathID()}
	if kind := v.field("event_type"); kind != "" {
		request["event_type"] = kind
	}
	var result testResult
	err := v.call("/webhook/test", request, &result)
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
	request["dry_run"] = true
	err = v.call("/webhook/replay", request, &w)
	v.made = &w
	return "", err
}

// replayEndpoint begins the replay that was counted.
func replayEndpoint(v *visit) (string, error) {
	w, err := v.replayForm()
	if err != nil {
		return "", err
	}
	request := w.request(v.pathID())
	request["count"], err = strconv.ParseInt(v.field("count"), 10, 64)
	if err != nil {
		return countReplay(v)
	}
	return v.endpointPath("replay"), v.call("/webhook/replay", request, nil)
}

func cancelReplay(v *visit) (string, error) {
	return v.endpointPath("cancel"), v.call("/webhook/replay/cancel", map[string]any{"replay_id": v.field("replay_id")}, nil)
}

// rotateSecret makes a new secret and shows it, this once.
func rotateSecret(v *visit) (string, error) {
	hours, err := strconv.ParseInt(v.field("hours"), 10, 64)
	if err != nil {
		return "", refused(v.T("The number of hours must be a whole number, such as 24."))
	}
	var reply struct {
		Secret string `json:"sign_secret"`
	}
	err = v.call("/integration/secret/rotate", map[string]any{"integration_id": v.pathID(), "grace_seconds": hours * 3600}, &reply)
	v.made = reply.Secret
	return "", err
}

func (w replayWindow) request(hook int64) map[string]any {
	request := map[string]any{"integration_ids": []int64{hook}, "start_time": w.From, "end_time": w.To}
	if w.Status != "" {
		request["status"] = w.Status
	}
	return request
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
