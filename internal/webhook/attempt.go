package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/db"
	"tocsin/internal/id"
	"tocsin/internal/outbound"
	"tocsin/internal/redact"
	"tocsin/internal/sender"
	sign "tocsin/internal/sender/webhook"
)

// attemptID names an attempt (the specification, 2.9).
func attemptID(now time.Time) string { return now.UTC().Format("20060102") + id.Short() }

// header is what an attempt is sent with. It is signed anew each time: the moment is part of what is signed.
func (f *flight) header(now time.Time) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	for name, value := range f.Headers {
		h.Set(name, value)
	}
	h.Set("Webhook-Id", f.id)
	h.Set("Webhook-Number", strconv.FormatInt(f.number, 10))
	if f.SignSecret != "" {
		stamp := strconv.FormatInt(now.Unix(), 10)
		h.Set("Webhook-Timestamp", stamp)
		h.Set("Webhook-Signature", "v1,"+sign.Sign(f.SignSecret, f.id, stamp, []byte(f.payload)))
	}
	return h
}

// fly makes one attempt and notes down what came of it.
func (r *Room) fly(f *flight) {
	began := r.Clock.Now()
	header := f.header(began)
	a, failure := r.post(f, header)
	now := r.Clock.Now()
	v := judge(a, failure, now)
	log := r.Log.With("event_id", f.id, "event_type", f.eventType, "integration_id", f.message.integration, "attempt", f.attempts, "status_code", a.Status)
	stored := r.DB.Write(context.Background(), func(tx *db.Tx) error { return r.conclude(tx, f, header, a, v, began, now) })
	switch {
	case stored != nil: // the lease ends, and it is sent again with the same id
		log.Error("what came of a webhook could not be stored", "error", stored)
	case v.status == delivered:
		log.Info("webhook delivered")
	default:
		log.Warn("webhook not delivered", "error", v.why)
	}
}

func (r *Room) post(f *flight, header http.Header) (a outbound.Attempt, failure *outbound.Failure) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("an attempt panicked", "panic", p, "stack", string(debug.Stack()))
			failure = &outbound.Failure{Phase: outbound.Other, Message: "the attempt failed; the server's log says why"}
		}
	}()
	a, err := r.Out.Do(context.Background(), outbound.Request{URL: f.Endpoint, Header: header.Clone(), Body: []byte(f.payload), Timeout: timeout,
		Insecure: f.InsecureSkipVerify != nil && *f.InsecureSkipVerify})
	if err != nil && !errors.As(err, &failure) {
		failure = &outbound.Failure{Phase: outbound.Other, Message: err.Error()}
	}
	return a, failure
}

// conclude records an attempt, says when the next one is or that there is none, and how the endpoint stands.
func (r *Room) conclude(tx *db.Tx, f *flight, header http.Header, a outbound.Attempt, v verdict, began, now time.Time) error {
	d := f.delivery(redact.URL(f.Endpoint), began)
	d.Duration, d.StatusCode = a.Took.Milliseconds(), int64(a.Status)
	if v.status == delivered {
		d.Status = "success"
	}
	said, err := f.exchange(header, a, v.why)
	if err != nil {
		return err
	}
	if err := record(tx, f.account, d, said); err != nil {
		return err
	}
	r.attempts.WithLabelValues(f.webhookType, d.Status).Inc()
	if due, ok := next(v, time.UnixMilli(f.started), now, r.spread()); ok {
		err = f.wait(tx, due, v.why)
	} else {
		if v.status == waiting {
			v.status, v.why = failed, "given up after 24 hours: "+v.why
		}
		r.settled.WithLabelValues(f.webhookType, v.status).Inc()
		err = f.settle(tx, v.status, v.why, now)
	}
	if err != nil {
		return err
	}
	held, err := answered(tx, f.key(), v.status == delivered, now)
	if err != nil || !held {
		return err
	}
	return r.giveUp(tx, f.key(), redact.URL(f.Endpoint), now)
}

// delivery is the record of an attempt that failed, unless more is known.
func (m *message) delivery(endpoint string, began time.Time) Delivery {
	return Delivery{IntegrationID: m.integration, EventID: m.attemptID, WebhookType: m.webhookType, EventType: m.eventType, ChannelID: m.channel, RefID: m.ref,
		Endpoint: endpoint, Attempt: m.attempts, Status: "failed", EventTime: Moment(began)}
}

// giveUp ends the messages to a held endpoint whose time is over, with a record, so that they are found and can be
// sent again by hand.
func (r *Room) giveUp(tx *db.Tx, e endpointKey, url string, now time.Time) error {
	old, err := db.All(tx, scanMessage, `SELECT `+messageColumns+` FROM webhook_message
		WHERE account_id = $1 AND integration_id = $2 AND settled_at = 0 AND status = 'waiting' AND started_at <= $3 ORDER BY due_at LIMIT 500`,
		e.account, e.integration, now.Add(-life).UnixMilli())
	const why = "given up after 24 hours: the endpoint has taken nothing for long"
	for i := 0; i < len(old) && err == nil; i++ {
		m := &old[i]
		if m.attemptID == "" {
			m.attemptID = attemptID(now)
		}
		if err = record(tx, m.account, m.delivery(url, now), exchange{messageID: m.id, requestHeaders: "{}", errorMessage: why, responseHeaders: "{}"}); err == nil {
			err = m.settle(tx, failed, why, now)
		}
		r.settled.WithLabelValues(m.webhookType, failed).Inc()
	}
	return err
}

// maxShown is how much of a reply is kept, in bytes.
const maxShown = 16 << 10

// exchange is what was said in an attempt, without the secrets of the webhook.
func (f *flight) exchange(header http.Header, a outbound.Attempt, why string) (x exchange, err error) {
	x = exchange{messageID: f.id, errorMessage: why}
	hide := func(text string) string { return sender.Hide(text, f.secrets()...) }
	text := strings.ReplaceAll(hide(strings.ToValidUTF8(string(a.Body), "\uFFFD")), "\x00", "\uFFFD")
	x.responseBody = strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	if x.requestHeaders, err = shown(header, func(name, value string) string {
		if hasFold(f.Headers, name) && name != "Content-Type" || name == "Webhook-Signature" {
			return hidden
		}
		return value
	}); err != nil {
		return x, err
	}
	x.responseHeaders, err = shown(a.Header, func(name, value string) string {
		if redact.Hides(name) {
			return hidden
		}
		return hide(value)
	})
	return x, err
}

const hidden = "***"

func hasFold(headers map[string]string, name string) bool {
	for own := range headers {
		if http.CanonicalHeaderKey(own) == name {
			return true
		}
	}
	return false
}

// shown writes headers as a JSON object.
func shown(h http.Header, show func(name, value string) string) (string, error) {
	flat := map[string]string{}
	for name, values := range h {
		flat[name] = strings.ToValidUTF8(show(name, strings.Join(values, ", ")), "\uFFFD")
	}
	b, err := json.Marshal(flat, json.Deterministic(true))
	return string(b), err
}

// secrets is what a reply may not repeat.
func (f *flight) secrets() []string {
	all := []string{f.SignSecret}
	for name, value := range f.Headers {
		if name != "Content-Type" {
			all = append(all, value)
			all = append(all, slices.DeleteFunc(strings.Fields(value), func(s string) bool { return len(s) < 8 })...)
		}
	}
	if u, err := url.Parse(f.Endpoint); err == nil {
		for name, values := range u.Query() {
			if redact.Hides(name) {
				all = append(all, values...)
			}
		}
	}
	return all
}
