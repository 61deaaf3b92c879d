package twilio

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/sender"
)

// Verify reports whether Twilio sent a request to an address, and returns its parameters. The address is the public one
// that Twilio was given, with its query. A form is part of what is signed; of any other body the query holds the hash.
func (a Account) Verify(address string, body []byte, signature string) (params url.Values, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, false
	}
	hash, signed := u.Query().Get("bodySHA256"), ""
	if hash == "" {
		params = (&url.URL{RawQuery: string(body)}).Query() // leaves out what is malformed, so that the signature differs
		signed = joined(params)
	} else {
		params, ok = hashed(body, hash)
		if !ok {
			return nil, false
		}
	}
	ok = false
	for _, form := range portForms(*u) { // Twilio has signed addresses with and without the standard port
		ok = hmac.Equal([]byte(a.sign(form+signed)), []byte(signature)) || ok
	}
	if !ok || params.Get("AccountSid") != a.SID {
		return nil, false
	}
	return params, true
}

// joined returns the parameters of a form as they are signed: sorted by name, without anything between.
func joined(params url.Values) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(params)) {
		values := slices.Clone(params[name])
		slices.Sort(values)
		for _, value := range slices.Compact(values) {
			b.WriteString(name + value)
		}
	}
	return b.String()
}

// hashed returns the members of a JSON body that are texts, if the body has this hash.
func hashed(body []byte, hash string) (params url.Values, ok bool) {
	sum := sha256.Sum256(body)
	if !hmac.Equal([]byte(hex.EncodeToString(sum[:])), []byte(strings.ToLower(hash))) {
		return nil, false
	}
	members := map[string]any{}
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, false
	}
	params = url.Values{}
	for name, value := range members {
		if text, ok := value.(string); ok {
			params.Set(name, text)
		}
	}
	return params, true
}

// portForms returns an address with and without the standard port of its scheme.
func portForms(u url.URL) []string {
	port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	bare := strings.TrimSuffix(u.Host, port)
	if u.Port() != "" && bare == u.Host { // another port
		return []string{u.String()}
	}
	with := u
	u.Host, with.Host = bare, bare+port
	return []string{u.String(), with.String()}
}

func (a Account) sign(text string) string {
	mac := hmac.New(sha1.New, []byte(a.Token))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// DeliveryOf returns the delivery state that a callback reports; ok is false if it reports none that is known.
func DeliveryOf(params url.Values) (d sender.Delivery, ok bool) {
	if sid := params.Get("CallSid"); sid != "" {
		return ofCall(sid, params)
	}
	d.ID = params.Get("MessageSid")
	if d.ID == "" {
		return d, false
	}
	switch d.State = params.Get("MessageStatus"); d.State {
	case "accepted", "scheduled", "queued", "sending":
		d.State, d.Stage = "queued", sender.StageQueued
	case "sent":
		d.Stage = sender.StageSent
	case "delivered", "read":
		d.Stage = sender.StageEnded
	case "undelivered", "failed", "canceled":
		d.Stage, d.Failed = sender.StageEnded, reason("the text message was not delivered", params)
	default:
		return d, false
	}
	return d, true
}

// ofCall returns the state of a call. A call that no person answers has not failed: the phone rang, and the steps of the
// escalation go on as they are configured.
func ofCall(sid string, params url.Values) (d sender.Delivery, ok bool) {
	d = sender.Delivery{ID: sid, Stage: sender.StageEnded}
	switch status := params.Get("CallStatus"); status {
	case "queued", "initiated":
		d.State, d.Stage = "queued", sender.StageQueued
	case "ringing", "in-progress":
		d.State, d.Stage = status, sender.StageSent
	case "completed":
		d.State = "answered"
		if by := params.Get("AnsweredBy"); strings.HasPrefix(by, "machine") || by == "fax" {
			d.State = "answered by a machine"
		}
	case "busy":
		d.State = "busy"
	case "no-answer":
		d.State = "no answer"
	case "failed", "canceled":
		d.State, d.Failed = "failed", reason("the call could not be made", params)
	default:
		return d, false
	}
	return d, true
}

// known describes the error codes that persons meet.
var known = map[string]string{
	"21610": "the person has unsubscribed",
	"30003": "the phone is off or out of reach",
	"30004": "the number does not accept it",
	"30005": "the number is unknown",
	"30006": "the number is a landline or cannot be reached",
	"30007": "the carrier held it for spam",
}

// reason returns what happened with Twilio's error code.
func reason(what string, params url.Values) string {
	code := params.Get("ErrorCode")
	if code == "" || code == "0" {
		return what
	}
	if text := known[code]; text != "" {
		return fmt.Sprintf("%s: %s (Twilio's error %s)", what, text, sender.Line(code, 10))
	}
	return fmt.Sprintf("%s: Twilio's error %s", what, sender.Line(code, 10))
}
