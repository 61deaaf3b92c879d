// Package twilio makes voice calls and sends text messages through Twilio's REST interface, and reads what Twilio calls
// back with: digits, replies and delivery states.
//
// It must never trust a callback that Twilio did not sign, or write the auth token anywhere but into a request to
// Twilio.
package twilio

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Account is an account at Twilio with the number that calls and text messages come from.
type Account struct {
	SID      string
	Token    string // the auth token
	From     string // of calls, and of text messages without a Service
	Service  string // SID of the messaging service that text messages come from; may be empty
	Machines bool   // ask Twilio to detect answering machines
	Base     string // of the interface; empty: Twilio's own
}

const ownBase = "https://api.twilio.com"

// maxText is the highest number of characters of a text message, without the line about replies: three messages or so.
const maxText = 480

// Formats of an account's settings.
var (
	accountSID = regexp.MustCompile(`^AC[0-9a-f]{32}$`)
	serviceSID = regexp.MustCompile(`^MG[0-9a-f]{32}$`)
	e164       = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
)

// Check returns what is wrong with the settings, by their flags; nil when nothing is.
func (a Account) Check() error {
	switch {
	case !accountSID.MatchString(a.SID):
		return fmt.Errorf("--twilio-account %q: want AC and 32 hexadecimal digits", a.SID)
	case a.Token == "":
		return errors.New("--twilio-account needs --twilio-token-file, a file with the account's auth token")
	case !e164.MatchString(a.From):
		return fmt.Errorf("--twilio-from %q: want the number in international form, such as +4915112345678", a.From)
	case a.Service != "" && !serviceSID.MatchString(a.Service):
		return fmt.Errorf("--twilio-messaging-service %q: want MG and 32 hexadecimal digits", a.Service)
	}
	return nil
}

// Number returns a phone number in international form, without the signs that people write between its digits; ok is
// false if it is not in that form.
func Number(phone string) (number string, ok bool) {
	number = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -.()/\u00a0", r) {
			return -1
		}
		return r
	}, phone)
	return number, e164.MatchString(number)
}

// Send makes a voice call or sends a text message (kind voice or sms) to a phone number. Twilio accepts no key: an
// attempt whose reply was lost is made again, and the person is called twice.
func (a Account) Send(ctx context.Context, out *egress.Client, kind, to string, m sender.Message) (sender.Receipt, error) {
	number, ok := Number(to)
	if !ok {
		return sender.Receipt{}, &sender.Error{Message: sentence.New("number_form")}
	}
	resource, form := "Messages", a.message(m)
	if kind == "voice" {
		resource, form = "Calls", a.call(m)
	}
	form.Set("To", number)
	credentials := base64.StdEncoding.EncodeToString([]byte(a.SID + ":" + a.Token))
	call := sender.Call{
		URL:     sender.Base(a.Base, ownBase) + "/2010-04-01/Accounts/" + a.SID + "/" + resource + ".json",
		Header:  http.Header{"Authorization": {"Basic " + credentials}},
		Form:    form,
		Secrets: []string{a.Token, credentials, cmp.Or(m.Phone, &sender.Phone{}).Callback},
	}
	var r reply
	receipt, err := call.Do(ctx, out, &r)
	receipt.ID = r.SID
	return receipt, r.explain(err, call.Secrets)
}

// message returns the form of a text message.
func (a Account) message(m sender.Message) url.Values {
	form := url.Values{"Body": {sender.Cut(string(m.Text), maxText) + invitation(m.Phone)}}
	if a.Service != "" {
		form.Set("MessagingServiceSid", a.Service)
	} else {
		form.Set("From", a.From)
	}
	if m.Phone != nil {
		form.Set("StatusCallback", m.Phone.Callback+StatusPath)
	}
	return form
}

// invitation returns the line that describes how to reply to a text message; empty when a reply has no effect.
func invitation(p *sender.Phone) string {
	switch {
	case p == nil || !p.Ack:
		return ""
	case p.Asks:
		return fmt.Sprintf("\nReply %[2]s %[1]s: still on it, %[3]s %[1]s: ask again in 4 hours, "+
			"%[4]s %[1]s: not again, %[5]s %[1]s: give it back.",
			p.Code, sender.DigitAck, sender.DigitLater, sender.DigitNever, sender.DigitBack)
	case p.Escalate:
		return fmt.Sprintf("\nReply %s %s to acknowledge, %s %s to escalate.", sender.DigitAck, p.Code, sender.DigitEscalate, p.Code)
	}
	return fmt.Sprintf("\nReply %s %s to acknowledge.", sender.DigitAck, p.Code)
}

// call returns the form of a voice call.
func (a Account) call(m sender.Message) url.Values {
	form := url.Values{"From": {a.From}, "Twiml": {Page(string(m.Text), m.Phone)}}
	if m.Phone != nil {
		form.Set("StatusCallback", m.Phone.Callback+StatusPath)
		form.Set("StatusCallbackEvent", "completed")
	}
	if a.Machines {
		form.Set("MachineDetection", "Enable")
	}
	return form
}

// The paths that follow a callback URL.
const (
	DigitPath  = "/twilio/digit"
	StatusPath = "/twilio/status"
)

// reply is Twilio's reply: the call or message, or an error.
type reply struct {
	SID     string `json:"sid"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// busy lists the error codes, sent with status 400, after which a retry may succeed.
var busy = map[int]bool{
	21611: true, // the number has too many messages waiting
}

// Err returns the error that the reply reports.
func (r *reply) Err() *sender.Error {
	switch {
	case r.Code != 0:
		return sender.Refused(r.Code, r.Message, busy[r.Code])
	case r.SID == "":
		return sender.Unreadable()
	}
	return nil
}

// explain puts Twilio's own words in place of the reply's JSON in an error.
func (r *reply) explain(err error, secrets []string) error {
	var failed *sender.Error
	if r.Code != 0 && errors.As(err, &failed) {
		failed.Message = sender.Refused(r.Code, sender.Line(sender.Hide(r.Message, secrets...), 300), false).Message
	}
	return err
}
