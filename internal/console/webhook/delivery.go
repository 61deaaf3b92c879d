package webhook

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/core/sentence"
	webhooks "tocsin/internal/engine/webhook"
	"tocsin/internal/incident"
	integrations "tocsin/internal/integration"
)

var deliveryPages = []page.Page{
	{Path: "/deliveries", Template: "deliveries", Tab: "messages", Show: showDeliveries},
	{Path: "/deliveries/{id}", Template: "delivery", Tab: "messages", Show: showDelivery},
}

var deliveryActions = []page.Action{
	{Path: "/deliveries/replay", Do: replayFailed, Show: showDeliveries, Template: "deliveries", Needs: page.ManageIntegrations},
	{Path: "/deliveries/{id}/replay", Do: replayDelivery, Show: showDelivery, Template: "delivery"},
}

// attempt is one attempt to deliver a webhook.
type attempt struct {
	webhooks.Delivery
	MessageID    string
	ErrorMessage sentence.Words
}

// At returns when the attempt was made, in Unix seconds.
func (a attempt) At() int64 { return time.Time(a.EventTime).Unix() }

// Path returns the address of the attempt's page; empty when it is private to others, who alone know what it is about.
func (a attempt) Path() string {
	if a.RefID == "" && a.Origin != "test" {
		return ""
	}
	return "/deliveries/" + url.PathEscape(a.EventID) + "?hook=" + strconv.FormatInt(a.IntegrationID, 10)
}

// Object returns the address of the incident or alert; empty when the visitor may not know it.
func (a attempt) Object() string {
	if a.RefID == "" {
		return ""
	}
	return "/" + a.WebhookType + "s/" + url.PathEscape(a.RefID)
}

// readWebhooks returns the account's webhooks, newest first.
func readWebhooks(v *page.Visit) (hooks []integrations.Integration, err error) {
	request := integrations.ListRequest{}
	err = page.ByPage[api.CursorPage[integrations.Integration]](v, "/integration/list", request, func(items []integrations.Integration) bool {
		for _, i := range items {
			if i.IsWebhook() && i.Settings != nil {
				hooks = append(hooks, i)
			}
		}
		return true
	})
	return hooks, err
}

// message is the attempts of one message that stand on a page, the newest first.
type message struct {
	attempt // the newest
	Hook    string
	Name    string // of the incident or alert; empty: it was deleted, or the visitor may not read it
	Earlier []attempt
}

type deliveriesView struct {
	page.Titled
	Hooks    []integrations.Integration
	Messages []message
	Total    int64
	Days     int
	Failed   int64         // attempts in the window that failed
	Count    *replayWindow // messages that a replay would send; nil: they were not counted
	Next     string        // the address of the next page; empty: this is the last
}

// deliveryDays is the window of the ledger's page, and its greatest.
const deliveryDays, maxDeliveryDays = 7, 90

func showDeliveries(v *page.Visit) (page.View, error) {
	d := deliveriesView{Titled: page.Titled(v.T("Webhook deliveries"))}
	var err error
	d.Hooks, err = readWebhooks(v)
	if err != nil {
		return nil, err
	}
	d.Days, err = strconv.Atoi(v.Query("days"))
	if err != nil || d.Days < 1 || d.Days > maxDeliveryDays {
		d.Days = deliveryDays
	}
	end, err := strconv.ParseInt(v.Query("end"), 10, 64) // stays the same from page to page
	if err != nil {
		end = v.Now.UnixMilli() + 1
	}
	hook, _ := strconv.ParseInt(v.Query("hook"), 10, 64)
	request := webhooks.HistoryListRequest{
		Limit: 50, StartTime: end - int64(d.Days)*86_400_000, EndTime: end, IntegrationID: hook, RefID: v.Query("ref"),
		Status: v.Query("status"), SearchAfterCtx: v.Query("after"),
	}
	reply, err := page.Call[webhooks.HistoryPage](v, "/webhook/history/list", request)
	if err != nil {
		return nil, err
	}
	d.Messages, d.Total = d.group(attemptsOf(reply)), reply.Total
	if err := nameObjects(v, d.Messages); err != nil {
		return nil, err
	}
	if request.SearchAfterCtx == "" {
		request.Limit, request.Status = 1, "failed"
		failed, err := page.Call[webhooks.HistoryPage](v, "/webhook/history/list", request)
		if err != nil {
			return nil, err
		}
		d.Failed = failed.Total
	}
	d.Count, _ = v.Made.(*replayWindow)
	if reply.SearchAfterCtx != "" {
		next := v.Request.URL.Query()
		next.Set("after", reply.SearchAfterCtx)
		next.Set("end", strconv.FormatInt(end, 10))
		d.Next = "/deliveries?" + next.Encode()
	}
	return d, nil
}

// attemptsOf returns the attempts of a page.
func attemptsOf(page webhooks.HistoryPage) (all []attempt) {
	for _, one := range page.Items {
		all = append(all, attempt{Delivery: one.Delivery, MessageID: one.MessageID})
	}
	return all
}

// group puts attempts of the same message together, where the newest of them stands.
func (d *deliveriesView) group(attempts []attempt) (messages []message) {
	names := map[int64]string{}
	for _, w := range d.Hooks {
		names[w.IntegrationID] = w.IntegrationName
	}
	seen := map[string]int{}
	for _, a := range attempts {
		if at, found := seen[a.MessageID]; found && a.MessageID != "" {
			messages[at].Earlier = append(messages[at].Earlier, a)
			continue
		}
		seen[a.MessageID] = len(messages)
		messages = append(messages, message{attempt: a, Hook: names[a.IntegrationID]})
	}
	return messages
}

// nameObjects fills in the names of the incidents and alerts that messages are about. Each list fails as a whole when one of its
// objects was deleted; then the messages go without names.
func nameObjects(v *page.Visit, messages []message) error {
	ids := map[string][]string{}
	for _, m := range messages {
		if m.RefID != "" && !slices.Contains(ids[m.WebhookType], m.RefID) {
			ids[m.WebhookType] = append(ids[m.WebhookType], m.RefID)
		}
	}
	names := map[string]string{}
	if of := ids["incident"]; of != nil {
		found, err := page.Call[api.Paged[incident.View]](v, "/incident/list-by-ids", incident.Some{IncidentIDs: of})
		if err := ignoreHidden(err); err != nil {
			return err
		}
		for _, i := range found.Items {
			names[i.IncidentID] = i.Headline
		}
	}
	if of := ids["alert"]; of != nil {
		found, err := page.Call[api.Items[alert.Alert]](v, "/alert/list-by-ids", alert.Some{AlertIDs: of})
		if err := ignoreHidden(err); err != nil {
			return err
		}
		for _, a := range page.AlertRows(found.Items) {
			names[a.AlertID] = a.Name()
		}
	}
	for n := range messages {
		messages[n].Name = names[messages[n].RefID]
	}
	return nil
}

// Named returns the name of a webhook, or its number when it was deleted.
func (m message) Named() string {
	if m.Hook == "" {
		return strconv.FormatInt(m.IntegrationID, 10)
	}
	return m.Hook
}

// deliveryView is an attempt, and the message that it belongs to.
type deliveryView struct {
	page.Titled
	Attempt attempt
	Detail  webhooks.HistoryDetail
	Message *deliveredMessage // nil: the attempt came with an account file
	Hook    string
}

type deliveredMessage struct {
	webhooks.MessageInfo
	Attempts []attempt
}

// Due returns when the next attempt is made, in Unix seconds.
func (m deliveredMessage) Due() int64 { return m.NextAt / 1000 }

// At returns when the event of the message happened, in Unix seconds.
func (m deliveredMessage) At() int64 { return m.HappenedAt / 1000 }

func showDelivery(v *page.Visit) (page.View, error) {
	d := deliveryView{Titled: page.Titled(v.T("Webhook delivery"))}
	hook, _ := strconv.ParseInt(v.Query("hook"), 10, 64)
	event := v.Request.PathValue("id")
	var err error
	request := webhooks.HistoryDetailRequest{EventID: event, IntegrationID: hook}
	d.Detail, err = page.Call[webhooks.HistoryDetail](v, "/webhook/history/detail", request)
	if err != nil {
		return nil, err
	}
	d.Attempt = attempt{Delivery: d.Detail.Delivery, ErrorMessage: d.Detail.ErrorMessage}
	d.Detail.RequestHeaders, d.Detail.RequestBody = page.Indented(d.Detail.RequestHeaders), page.Indented(d.Detail.RequestBody)
	d.Detail.ResponseHeaders, d.Detail.ResponseBody = page.Indented(d.Detail.ResponseHeaders), page.Indented(d.Detail.ResponseBody)
	w, err := page.Call[integrations.Info](v, "/integration/info", integrations.OneRequest{IntegrationID: hook})
	if err := ignoreHidden(err); err != nil {
		return nil, err
	}
	d.Hook = w.IntegrationName
	m, err := page.Call[webhooks.MessageInfo](v, "/webhook/message/info", webhooks.MessageInfoRequest{EventID: event})
	if err := ignoreHidden(err); err != nil || m.MessageID == "" {
		return d, err
	}
	d.Message = &deliveredMessage{MessageInfo: m}
	for _, one := range m.Attempts {
		d.Message.Attempts = append(d.Message.Attempts, attempt{Delivery: one.Delivery, ErrorMessage: one.ErrorMessage})
	}
	return d, nil
}

// replayDelivery sends a message again and shows its page, where the new attempt appears.
func replayDelivery(v *page.Visit) (string, error) {
	hook := url.Values{"hook": {v.Query("hook")}, "done": {"replay"}}
	request := webhooks.HistoryReplayRequest{EventID: v.Request.PathValue("id")}
	return "/deliveries/" + url.PathEscape(request.EventID) + "?" + hook.Encode(),
		page.Do[webhooks.Replayed](v, "/webhook/history/replay", request)
}
