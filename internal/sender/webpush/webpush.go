// Package webpush sends messages to browsers by Web Push: RFC 8030, encrypted for the browser (RFC 8291), with the key of
// the server (RFC 8292).
//
// It must never send a message in clear, nor repeat an endpoint, which is a secret.
package webpush

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/go-json-experiment/json"

	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Server is who sends: the key pair in base64url, and where the operator can be found, an https URL or a mail address.
type Server struct {
	PublicKey, PrivateKey, Contact string
}

// Browser is where a message goes, with the browser's keys in base64url.
type Browser struct {
	Endpoint, P256dh, Auth string
}

// Payload is a message as the service worker of the console reads it.
type Payload struct {
	Title    string `json:"title"`
	Severity string `json:"severity"`
	Channel  string `json:"channel,omitzero"`
	Why      string `json:"why,omitzero"`  // one sentence
	Text     string `json:"text,omitzero"` // of a message that is not about one incident
	Link     string `json:"link,omitzero"`
	Ack      string `json:"ack,omitzero"`  // a POST to this address acknowledges, or answers that the person still works on the incident
	Asks     bool   `json:"asks,omitzero"` // Ack answers
	Tag      string `json:"tag,omitzero"`  // a later message with the same tag replaces this message
	Quiet    bool   `json:"quiet,omitzero"`
}

// The bounds of the parts of a payload, in bytes of JSON. All of them and the names of the members fit into maxPayload.
const (
	maxTitle   = 500
	maxChannel = 150
	maxWhy     = 600
	maxText    = 900
	maxLink    = 700
	maxPayload = 3900 // push services take 4,096 bytes, of which encryption uses 103
)

// urgency and ttl are how soon a message wakes the device (RFC 8030), and how long the push service keeps it for a device
// that is off. A message is replaced by a later one on the same incident, so an incident that is over wakes no one.
var (
	urgency = map[string]webpush.Urgency{
		"Critical": webpush.UrgencyHigh, "Warning": webpush.UrgencyHigh, "Info": webpush.UrgencyNormal, "Ok": webpush.UrgencyNormal,
	}
	ttl = map[string]time.Duration{
		"Critical": 24 * time.Hour, "Warning": 12 * time.Hour, "Info": 4 * time.Hour, "Ok": 24 * time.Hour,
	}
)

// Send sends a message to a browser.
func Send(ctx context.Context, out *egress.Client, from Server, to Browser, m sender.Message) (sender.Receipt, error) {
	body, err := json.Marshal(payload(m))
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw(err.Error())}
	}
	client := &client{out: out}
	_, err = webpush.SendNotificationWithContext(ctx, body,
		&webpush.Subscription{Endpoint: to.Endpoint, Keys: webpush.Keys{P256dh: to.P256dh, Auth: to.Auth}},
		&webpush.Options{
			HTTPClient: client, Subscriber: from.Contact, VAPIDPublicKey: from.PublicKey, VAPIDPrivateKey: from.PrivateKey,
			Topic: topic(m.Thread), TTL: int(ttl[m.Severity].Seconds()), Urgency: urgency[m.Severity],
		})
	if failure := (*egress.Failure)(nil); err != nil && !errors.As(err, &failure) {
		// A text of the library may hold the endpoint.
		return sender.Receipt{}, &sender.Error{Message: sentence.New("push_not_encrypted")}
	}
	return sender.Judge(nil, []string{to.Endpoint})(client.attempt, err)
}

// payload returns the parts of a message that a browser shows, each cut to its bound.
func payload(m sender.Message) Payload {
	cut := func(text string, size int) string { return sender.Fit(render.OneLine(text), size, sender.JSON) }
	p := Payload{
		Title: cut(m.Subject, maxTitle), Severity: m.Severity, Channel: cut(m.Channel, maxChannel), Why: cut(m.Why, maxWhy),
		Tag: topic(m.Thread), Quiet: m.Severity == "Ok",
	}
	if p.Channel == "" && p.Why == "" {
		p.Text = sender.Fit(string(m.Text), maxText, sender.JSON)
	}
	if len(m.Link) <= maxLink { // half a link leads nowhere
		p.Link = m.Link
	}
	if len(m.AckLink) <= maxLink {
		p.Ack, p.Asks = m.AckLink, m.Asks
	}
	return p
}

// topic returns the name under which a push service keeps the latest message of a thread: 32 characters of base64url.
func topic(thread string) string {
	if thread == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(thread))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}

// client makes the library's one request by the client that checks what is dialled, and keeps the reply.
type client struct {
	out     *egress.Client
	attempt egress.Attempt
}

// Do implements webpush.HTTPClient.
func (c *client) Do(r *http.Request) (reply *http.Response, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.attempt, err = c.out.Do(r.Context(), egress.Request{Method: r.Method, URL: r.URL.String(), Header: r.Header, Body: body})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: c.attempt.Status, Body: http.NoBody}, nil
}
