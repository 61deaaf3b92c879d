package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/redact"
	"tocsin/internal/sender"
	sign "tocsin/internal/sender/webhook"
)

// attemptID returns a new id of an attempt, which begins with its day (the specification, 2.9).
func attemptID(now time.Time) string { return now.UTC().Format("20060102") + id.ShortAt(now) }

// header returns the headers of an attempt. Each attempt has a signature of its own, because the time is signed too.
func (f *attempt) header(now time.Time) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	for name, value := range f.Headers {
		h.Set(name, value)
	}
	h.Set("Webhook-Id", f.id)
	h.Set("Webhook-Number", strconv.FormatInt(f.number, 10))
	if f.origin != "" {
		h.Set("Webhook-Origin", f.origin)
	}
	var signatures []string
	stamp := strconv.FormatInt(now.Unix(), 10)
	for _, secret := range f.SignSecrets(now) {
		signatures = append(signatures, "v1,"+sign.Sign(secret, f.id, stamp, []byte(f.payload)))
	}
	if len(signatures) > 0 {
		h.Set("Webhook-Timestamp", stamp)
		h.Set("Webhook-Signature", strings.Join(signatures, " "))
	}
	return h
}

// outcome is the result of an attempt, or why none was made.
type outcome struct {
	conclusion
	exchange
	took       time.Duration
	statusCode int
	endpoint   string         // without secrets
	cancelled  sentence.Value // why the endpoint must not be called any more
	deleted    bool           // the integration was deleted
	closed     error          // why its secrets cannot be opened
}

// Attempt makes one attempt, with the settings of the integration as they were when it was claimed, or as they are now.
func (s store) Attempt(ctx context.Context, f *attempt) (o outcome, err error) {
	var t target
	if err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		tx.AtVersion(f.account, f.revision)
		t, err = s.target(tx, f.key())
		return err
	}); err != nil {
		return outcome{closed: err}, nil
	}
	if t.settings == nil {
		return outcome{cancelled: t.why, endpoint: t.endpoint, deleted: t.deleted, closed: t.closed}, nil
	}
	f.Settings = *t.settings
	began := s.Clock.Now()
	header := f.header(began)
	a, failure := s.post(ctx, f, header)
	o = outcome{conclusion: classify(a, failure, s.Clock.Now()), took: a.Took, statusCode: a.Status, endpoint: redact.URL(f.Endpoint)}
	o.exchange, err = f.exchange(header, a, o.why)
	if err != nil {
		return o, err
	}
	if failure != nil && ctx.Err() != nil {
		err = failure // the program stops
	}
	return o, err
}

// post sends the request of an attempt. Every error becomes a Failure.
func (s store) post(ctx context.Context, f *attempt, header http.Header) (a egress.Attempt, failure *egress.Failure) {
	a, err := s.Out.Do(ctx, egress.Request{URL: f.Endpoint, Header: header.Clone(), Body: []byte(f.payload), Timeout: timeout,
		Insecure: f.InsecureSkipVerify != nil && *f.InsecureSkipVerify})
	if err != nil && !errors.As(err, &failure) {
		failure = &egress.Failure{Phase: egress.Other, Why: sentence.Raw(err.Error())}
	}
	return a, failure
}

// delivery returns the record of an attempt, as failed; the caller sets the status of one that succeeded.
func (m *message) delivery(endpoint string, began time.Time) Delivery {
	return Delivery{
		IntegrationID: m.integration,
		EventID:       m.attemptID,
		WebhookType:   m.webhookType,
		EventType:     m.eventType,
		ChannelID:     m.channel,
		RefID:         m.ref,
		Endpoint:      endpoint,
		Attempt:       m.attempts,
		Status:        "failed",
		EventTime:     MomentOf(began),
		Origin:        m.origin,
	}
}

// maxShown is how much of a response is stored, in bytes.
const maxShown = 16 << 10

// exchange returns the request and the response of an attempt without the secrets of the webhook.
func (f *attempt) exchange(header http.Header, a egress.Attempt, why sentence.Value) (x exchange, err error) {
	x = exchange{messageID: f.id, errorMessage: why}
	hide := func(text string) string { return sender.Hide(text, f.secrets()...) }
	text := strings.ReplaceAll(hide(strings.ToValidUTF8(string(a.Body), "\uFFFD")), "\x00", "\uFFFD")
	x.responseBody = strings.ToValidUTF8(text[:min(len(text), maxShown)], "")
	x.requestHeaders, err = shown(header, func(name, value string) string {
		if hasFold(f.Headers, name) && name != "Content-Type" || name == "Webhook-Signature" {
			return hidden
		}
		return value
	})
	if err != nil {
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

// hasFold reports whether headers have a name, whatever its case.
func hasFold(headers map[string]string, name string) bool {
	for own := range headers {
		if http.CanonicalHeaderKey(own) == name {
			return true
		}
	}
	return false
}

// shown encodes headers as a JSON object.
func shown(h http.Header, show func(name, value string) string) (string, error) {
	flat := map[string]string{}
	for name, values := range h {
		flat[name] = strings.ToValidUTF8(show(name, strings.Join(values, ", ")), "\uFFFD")
	}
	b, err := json.Marshal(flat, json.Deterministic(true))
	return string(b), err
}

// secrets returns the values that must not be stored when a response repeats them.
func (f *attempt) secrets() []string {
	all := []string{f.SignSecret, f.PreviousSignSecret}
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
