// Package webhook sends notifications to programs: it posts the incident as JSON, signed as in Standard Webhooks if
// there is a secret.
//
// It must never sign once and send later: the moment is part of the signed text.
package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Sender posts to webhooks. Now returns the moment of a signature.
type Sender struct{ Now func() time.Time }

// Send posts m.Data to the chat's URL. The header webhook-id is the message's key, the same for every attempt.
func (s Sender) Send(ctx context.Context, out *egress.Client, chat sender.Chat, m sender.Message) (sender.Receipt, error) {
	h := http.Header{"Content-Type": {"application/json"}, "Webhook-Id": {m.Key}}
	if chat.SignSecret != "" {
		stamp := strconv.FormatInt(s.Now().Unix(), 10)
		h["Webhook-Timestamp"] = []string{stamp}
		h["Webhook-Signature"] = []string{"v1," + Sign(chat.SignSecret, m.Key, stamp, m.Data)}
	}
	return sender.Judge(nil, chat.Secrets())(out.Do(ctx, egress.Request{URL: chat.Address(""), Header: h, Body: m.Data}))
}

// Sign returns the signature of a body that is sent at a moment (Unix seconds) under an ID: HMAC-SHA256 in base64 of
// "id.moment.body". A secret that begins with whsec_ is base64 after that prefix, as in Standard Webhooks; any other
// secret is used as it is.
func Sign(secret, id, moment string, body []byte) string {
	key := []byte(secret)
	if len(secret) > 6 && secret[:6] == "whsec_" {
		if raw, err := base64.StdEncoding.DecodeString(secret[6:]); err == nil {
			key = raw
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + moment + "."))
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
