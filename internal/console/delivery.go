package console

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"
)

var deliveryPages = []page{
	{path: "/deliveries", template: "deliveries", tab: "deliveries", show: showDeliveries},
	{path: "/deliveries/{id}", template: "delivery", tab: "deliveries", show: showDelivery},
}

var deliveryActions = []action{
	{path: "/deliveries/{id}/replay", do: replayDelivery, show: showDelivery, page: "delivery"},
}

// attempt is one attempt to deliver a webhook.
type attempt struct {
	ID        string    `json:"event_id"`
	MessageID string    `json:"message_id"`
	Hook      int64     `json:"integration_id"`
	Type      string    `json:"event_type"`
	Kind      string    `json:"webhook_type"`
	RefID     string    `json:"ref_id"`
	Endpoint  string    `json:"endpoint"`
	Number    int64     `json:"attempt"`
	Duration  int64     `json:"duration"` // milliseconds
	Status    string    `json:"status"`
	Code      int64     `json:"status_code"`
	Time      time.Time `json:"event_time"`
	Origin    string    `json:"origin"`
	Error     string    `json:"error_message"`
}

// At returns when the attempt was made, in Unix seconds.
func (a attempt) At() int64 { return a.Time.Unix() }

// Path returns the address of the attempt's page; empty when it is private to others, who alone know what it is about.
func (a attempt) Path() string {
	if a.RefID == "" && a.Origin != "test" {
		return ""
	}
	return "/deliveries/" + url.PathEscape(a.ID) + "?hook=" + strconv.FormatInt(a.Hook, 10)
}

// Object returns the address of the incident or alert; empty when the visitor may not know it.
func (a attempt) Object() string {
	if a.RefID == "" {
		return ""
	}
	return "/" + a.Kind + "s/" + url.PathEscape(a.RefID)
}

// webhook is an integration that sends webhooks.
type webhook struct {
	ID       int64  `json:"integration_id"`
	Name     string `json:"integration_name"`
	Type     string `json:"integration_type"`
	Status   string `json:"status"`
	Settings *struct {
		Endpoint   string   `json:"endpoint"`
		EventTypes []string `json:"event_types"`
		Secret     string   `json:"sign_secret"`
		RotatedAt  int64    `json:"sign_secret_rotated_at"`
		OldEndsAt  int64    `json:"previous_sign_secret_expires_at"`
	} `json:"settings"`
}

// Sends reports whether the integration is a webhook.
func (w webhook) Sends() bool { return strings.HasPrefix(w.Type, "webhook_") && w.Settings != nil }

// webhooks returns the account's webhooks, newest first.
func (v *visit) webhooks() (hooks []webhook, err error) {
	err = eachPage(v, "/integration/list", map[string]any{}, func(items []webhook) bool {
		for _, w := range items {
			if w.Sends() {
				hooks = append(hooks, w)
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
	Earlier []attempt
}

type deliveriesView struct {
	titled
	Hooks    []webhook
	Messages []message
	Total    int64
	Next     string // the address of the next page; empty: this is the last
	Failures []webhook
}

// deliveryDays is the window of the ledger's page, and its greatest.
const deliveryDays, maxDeliveryDays = 7, 90

func showDeliveries(v *visit) (view, error) {
	d := deliveriesView{titled: titled(v.T("Webhook deliveries"))}
	var err error
	d.Hooks, err = v.webhooks()
	if err != nil {
		return nil, err
	}
	days, err := strconv.Atoi(v.query("days"))
	if err != nil || days < 1 || days > maxDeliveryDays {
		days = deliveryDays
	}
	end, err := strconv.ParseInt(v.query("end"), 10, 64) // stays the same from page to page
	if err != nil {
		end = v.Now.UnixMilli() + 1
	}
	hook, _ := strconv.ParseInt(v.query("hook"), 10, 64)
	request := map[string]any{
		"limit": 50, "start_time": end - int64(days)*86_400_000, "end_time": end, "integration_id": hook, "ref_id": v.query("ref"),
		"status": v.query("status"), "search_after_ctx": v.query("after"),
	}
	for _, name := range []string{"status", "search_after_ctx"} {
		if request[name] == "" {
			delete(request, name)
		}
	}
	var reply struct {
		Items []attempt `json:"items"`
		Total int64     `json:"total"`
		After string    `json:"search_after_ctx"`
	}
	if err := v.call("/webhook/history/list", request, &reply); err != nil {
		return nil, err
	}
	d.Messages, d.Total = d.group(reply.Items), reply.Total
	if reply.After != "" {
		next := v.r.URL.Query()
		next.Set("after", reply.After)
		next.Set("end", strconv.FormatInt(end, 10))
		d.Next = "/deliveries?" + next.Encode()
	}
	return d, nil
}

// group puts attempts of the same message together, where the newest of them stands.
func (d *deliveriesView) group(attempts []attempt) (messages []message) {
	names := map[int64]string{}
	for _, w := range d.Hooks {
		names[w.ID] = w.Name
	}
	seen := map[string]int{}
	for _, a := range attempts {
		if at, found := seen[a.MessageID]; found && a.MessageID != "" {
			messages[at].Earlier = append(messages[at].Earlier, a)
			continue
		}
		seen[a.MessageID] = len(messages)
		messages = append(messages, message{attempt: a, Hook: names[a.Hook]})
	}
	return messages
}

// Named returns the name of a webhook, or its number when it was deleted.
func (m message) Named() string {
	if m.Hook == "" {
		return strconv.FormatInt(m.attempt.Hook, 10)
	}
	return m.Hook
}

// deliveryView is an attempt, and the message that it belongs to.
type deliveryView struct {
	titled
	Attempt struct {
		attempt
		RequestHeaders  string `json:"request_headers"`
		RequestBody     string `json:"request_body"`
		ResponseHeaders string `json:"response_headers"`
		ResponseBody    string `json:"response_body"`
		RefTitle        string `json:"ref_headline"`
		Channel         string `json:"channel_name"`
	}
	Message *deliveredMessage // nil: the attempt came with an account file
	Hook    string
}

type deliveredMessage struct {
	ID        string    `json:"message_id"`
	Status    string    `json:"status"`
	Happened  int64     `json:"happened_at"` // Unix milliseconds, as the next two
	NextAt    int64     `json:"next_at"`
	SettledAt int64     `json:"settled_at"`
	Reason    string    `json:"reason"`
	Attempts  []attempt `json:"attempts"`
}

// Due returns when the next attempt is made, in Unix seconds.
func (m deliveredMessage) Due() int64 { return m.NextAt / 1000 }

// At returns when the event of the message happened, in Unix seconds.
func (m deliveredMessage) At() int64 { return m.Happened / 1000 }

func showDelivery(v *visit) (view, error) {
	d := deliveryView{titled: titled(v.T("Webhook delivery"))}
	hook, _ := strconv.ParseInt(v.query("hook"), 10, 64)
	event := v.r.PathValue("id")
	if err := v.call("/webhook/history/detail", map[string]any{"event_id": event, "integration_id": hook}, &d.Attempt); err != nil {
		return nil, err
	}
	d.Attempt.RequestHeaders, d.Attempt.RequestBody = indented(d.Attempt.RequestHeaders), indented(d.Attempt.RequestBody)
	d.Attempt.ResponseHeaders, d.Attempt.ResponseBody = indented(d.Attempt.ResponseHeaders), indented(d.Attempt.ResponseBody)
	var w webhook
	if err := ignoreHidden(v.call("/integration/info", map[string]any{"integration_id": hook}, &w)); err != nil {
		return nil, err
	}
	d.Hook = w.Name
	var m deliveredMessage
	if err := ignoreHidden(v.call("/webhook/message/info", map[string]any{"event_id": event}, &m)); err != nil || m.ID == "" {
		return d, err
	}
	d.Message = &m
	return d, nil
}

// indented returns a JSON text for people, and any other text as it is.
func indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}

// replayDelivery sends a message again and shows its page, where the new attempt appears.
func replayDelivery(v *visit) (string, error) {
	hook := url.Values{"hook": {v.query("hook")}, "done": {"replay"}}
	return "/deliveries/" + url.PathEscape(v.r.PathValue("id")) + "?" + hook.Encode(),
		v.call("/webhook/history/replay", map[string]any{"event_id": v.r.PathValue("id")}, nil)
}
