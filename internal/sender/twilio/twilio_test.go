package twilio_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/twilio"
	"tocsin/internal/sender/twiliotest"
)

const public = "https://tocsin.example.com/a"

var account = twilio.Account{SID: twiliotest.SID, Token: twiliotest.Token, From: twiliotest.From}

func paged() sender.Message {
	m := sendertest.Message
	m.Phone = &sender.Phone{Callback: public + "/phone/secret-token-of-the-page", Code: "0815", Ack: true, Escalate: true}
	return m
}

func out() *egress.Client {
	return egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
}

func TestSend(t *testing.T) {
	s := twiliotest.New(t, public)
	a := account
	a.Base = s.URL
	ctx, to := context.Background(), out()
	for _, kind := range []string{"voice", "sms"} {
		receipt, err := a.Send(ctx, to, kind, "+49 (151) 123-456.78", paged())
		calls := s.Taken()
		if err != nil || len(calls) != 1 || receipt.ID != calls[0].SID || calls[0].To != "+4915112345678" || calls[0].Status != public+"/phone/secret-token-of-the-page/twilio/status" {
			t.Fatalf("%s: %+v %v %+v", kind, receipt, err, calls)
		}
		c := calls[0]
		if kind == "sms" && !strings.HasSuffix(c.Text, "\nReply 4 0815 to acknowledge, 6 0815 to escalate.") {
			t.Errorf("text %q", c.Text)
		}
		if kind == "voice" && (c.Action != public+"/phone/secret-token-of-the-page/twilio/digit" || len(c.Said) != 5 || c.Said[0] != c.Said[2] || !strings.Contains(c.Said[0], `Disk "/" is full`) || c.Form.Get("MachineDetection") != "") {
			t.Errorf("said %q, action %s", c.Said, c.Action)
		}
	}
	a.Service, a.Machines = twiliotest.Service, true
	if _, err := a.Send(ctx, to, "sms", "+4915112345678", sendertest.Message); err != nil {
		t.Error(err)
	}
	if _, err := a.Send(ctx, to, "voice", "+4915112345678", sendertest.Message); err != nil {
		t.Error(err)
	}
	calls := s.Taken()
	if form := calls[0].Form; form.Get("MessagingServiceSid") != twiliotest.Service || form.Has("From") || form.Has("StatusCallback") || strings.Contains(calls[0].Text, "Reply") {
		t.Errorf("%v", form)
	}
	if c := calls[1]; c.Form.Get("MachineDetection") != "Enable" || c.Action != "" || len(c.Said) != 2 {
		t.Errorf("%+v", c)
	}
}

func TestRefusals(t *testing.T) {
	s := twiliotest.New(t, public)
	a := account
	a.Base = s.URL
	send := func(a twilio.Account, number string) *sender.Error {
		_, err := a.Send(context.Background(), out(), "sms", number, paged())
		var failed *sender.Error
		if !errors.As(err, &failed) {
			t.Fatalf("%s: %v", number, err)
		}
		if strings.Contains(failed.Error(), twiliotest.Token) || strings.Contains(failed.Error(), "secret-token") {
			t.Errorf("a secret is shown: %s", failed.Error())
		}
		return failed
	}
	for _, number := range []string{"", "0151 1234567", "15550100", "+0123456789", "+12", "+1234567890123456", "client:ann", "+1555010a"} {
		if failed := send(a, number); failed.Retry || !strings.Contains(failed.Error(), "international form") {
			t.Errorf("%q: %+v", number, failed)
		}
	}
	if calls := s.Taken(); len(calls) != 0 {
		t.Errorf("sent: %+v", calls)
	}
	for _, c := range []struct {
		refusal twiliotest.Refusal
		want    sender.Error
	}{
		{twiliotest.Refusal{Status: 400, Code: 21610, Message: "Attempt to send to unsubscribed recipient"}, sender.Error{Message: sentence.New("refused_with", 21610, "Attempt to send to unsubscribed recipient")}},
		{twiliotest.Refusal{Status: 400, Code: 21611, Message: "Queue is full"}, sender.Error{Retry: true, Message: sentence.New("refused_with", 21611, "Queue is full")}},
		{twiliotest.Refusal{Status: 429, Code: 20429, Message: "Too Many Requests", RetryAfter: "9"}, sender.Error{Retry: true, After: 9 * time.Second, Message: sentence.New("refused_with", 20429, "Too Many Requests")}},
		{twiliotest.Refusal{Status: 503, Code: 20503, Message: "auth-token-of-the-account Service unavailable"}, sender.Error{Retry: true, Message: sentence.New("refused_with", 20503, "*** Service unavailable")}},
	} {
		s.Refuse("+15550100", c.refusal)
		if failed := send(a, "+15550100"); *failed != c.want {
			t.Errorf("%+v, want %+v", *failed, c.want)
		}
	}
	s.Refuse("+15550100", twiliotest.Refusal{})
	wrong := a
	wrong.Token = "another"
	if failed := send(wrong, "+15550100"); failed.Retry || failed.Error() != "it refused with 20003: Authenticate" {
		t.Errorf("%+v", failed)
	}
	wrong = a
	wrong.From = "+15550198"
	if failed := send(wrong, "+15550100"); failed.Retry || !strings.Contains(failed.Error(), "21212") {
		t.Errorf("%+v", failed)
	}
}

// The table of all senders, with its secrets in place of the account's.
func TestFailures(t *testing.T) {
	s := sendertest.New(t)
	a := twilio.Account{SID: twiliotest.SID, Token: sendertest.Secret, From: twiliotest.From, Base: s.URL}
	m := paged()
	m.Phone.Callback = public + "/phone/" + sendertest.Token
	send := func(ctx context.Context) (sender.Receipt, error) { return a.Send(ctx, s.Out, "voice", "+15550100", m) }
	s.GivenUp(t, send)
	s.Table(t, func() (sender.Receipt, error) { return send(context.Background()) }, sendertest.Fails{Answer: sendertest.Answer{Status: 200, Body: "<html>hello</html>"}})
}

// TwiML stays within its limit and is well formed whatever the text is, and holds as much of it as there is room for.
func TestTwiML(t *testing.T) {
	s := twiliotest.New(t, public)
	a := account
	a.Base = s.URL
	for _, text := range []string{strings.Repeat("&", 5000), strings.Repeat("火", 5000), strings.Repeat(`"<>'`, 2000), "\x00\x01\xff\ufffe]]></Say><Hangup/>", strings.Repeat("\n\t", 3000), strings.Repeat("\x02", 4000), ""} {
		m := paged()
		m.Text = render.Markup(text)
		if _, err := a.Send(context.Background(), out(), "voice", "+15550100", m); err != nil {
			t.Errorf("%.20q: %v", text, err)
		}
		twiml := s.Taken()[0].Form.Get("Twiml")
		if n := len(twiml); n > 4000 || len(text) > 4000 && n < 3900 {
			t.Errorf("%.20q: %d bytes", text, n)
		}
	}
}

func FuzzTwiML(f *testing.F) {
	f.Add("a & b", "https://tocsin.example.com/phone/x", true)
	f.Fuzz(func(t *testing.T, text, callback string, escalate bool) {
		if len(callback) > 1000 {
			return
		}
		twiml := twilio.Page(text, &sender.Phone{Callback: callback, Ack: true, Escalate: escalate})
		if len(twiml) > 4000 && len(callback) < 200 || !utf8.ValidString(twiml) {
			t.Errorf("%d bytes: %s", len(twiml), twiml)
		}
		var parsed struct {
			Gather struct {
				Action string `xml:"action,attr"`
				Say    []string
			}
		}
		if err := xml.Unmarshal([]byte(twiml), &parsed); err != nil || len(parsed.Gather.Say) != 4 {
			t.Errorf("%v: %s", err, twiml)
		}
	})
}

// The example of Twilio's documentation.
func TestVerify(t *testing.T) {
	example := url.Values{"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+12349013030"}, "Digits": {"1234"}, "From": {"+12349013030"}, "To": {"+18005551212"}}
	if got := twiliotest.Sign("https://mycompany.com/myapp.php?foo=1&bar=2", example, "12345"); got != "0/KCTR6DLpKmkAf8muzZqo1nDgQ=" {
		t.Fatalf("the service of the tests signs with %s", got)
	}
	params := url.Values{"AccountSid": {twiliotest.SID}, "Digits": {"4"}, "CallSid": {"CA1"}}
	other := url.Values{"AccountSid": {"AC" + strings.Repeat("0", 32)}, "Digits": {"4"}}
	sign := func(address string, p url.Values) string { return twiliotest.Sign(address, p, twiliotest.Token) }
	const at = public + "/phone/x?a=b"
	json := `{"AccountSid":"` + twiliotest.SID + `","Digits":"4","n":1}`
	sum := sha256.Sum256([]byte(json))
	hashed := at + "&bodySHA256=" + hex.EncodeToString(sum[:])
	flipped, _ := base64.StdEncoding.DecodeString(sign(at, params))
	flipped[0] ^= 1
	for name, c := range map[string]struct {
		address, body, signature string
		ok                       bool
	}{
		"signed":                  {at, params.Encode(), sign(at, params), true},
		"signed with the port":    {at, params.Encode(), sign(strings.Replace(at, ".com/", ".com:443/", 1), params), true},
		"public with the port":    {strings.Replace(at, ".com/", ".com:443/", 1), params.Encode(), sign(at, params), true},
		"another port":            {at, params.Encode(), sign(strings.Replace(at, ".com/", ".com:8443/", 1), params), false},
		"JSON":                    {hashed, json, sign(hashed, nil), true},
		"JSON of another hash":    {hashed, json + " ", sign(hashed, nil), false},
		"a hash, not signed":      {hashed, json, sign(at, nil), false},
		"no JSON":                 {at + "&bodySHA256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", sign(at+"&bodySHA256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", nil), false},
		"another account":         {at, other.Encode(), sign(at, other), false},
		"no account":              {at, "", sign(at, nil), false},
		"no signature":            {at, params.Encode(), "", false},
		"one bit":                 {at, params.Encode(), base64.StdEncoding.EncodeToString(flipped), false},
		"another token":           {at, params.Encode(), twiliotest.Sign(at, params, "other"), false},
		"another path":            {public + "/phone/y?a=b", params.Encode(), sign(at, params), false},
		"without the query":       {public + "/phone/x", params.Encode(), sign(at, params), false},
		"another digit":           {at, strings.Replace(params.Encode(), "Digits=4", "Digits=6", 1), sign(at, params), false},
		"a parameter more":        {at, params.Encode() + "&Z=1", sign(at, params), false},
		"the same twice is once":  {at, params.Encode() + "&Digits=4", sign(at, params), true},
		"a body that is no form":  {at, "%zz=;", sign(at, params), false},
		"an address that is none": {"http://[::1", params.Encode(), sign(at, params), false},
	} {
		got, ok := account.Verify(c.address, []byte(c.body), c.signature)
		if ok != c.ok || ok && got.Get("Digits") != "4" || !ok && got != nil {
			t.Errorf("%s: %t %v", name, ok, got)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add("https://tocsin.example.com/phone/x", "AccountSid="+twiliotest.SID, "x")
	f.Fuzz(func(t *testing.T, address, body, signature string) {
		if params, ok := account.Verify(address, []byte(body), signature); ok {
			t.Errorf("%v is accepted", params)
		}
	})
}

func TestDeliveryOf(t *testing.T) {
	for query, want := range map[string]sender.Delivery{
		"MessageSid=SM1&MessageStatus=queued":                       {ID: "SM1", State: "queued", Stage: sender.StageQueued},
		"MessageSid=SM1&MessageStatus=sending":                      {ID: "SM1", State: "queued", Stage: sender.StageQueued},
		"MessageSid=SM1&MessageStatus=sent":                         {ID: "SM1", State: "sent", Stage: sender.StageSent},
		"MessageSid=SM1&MessageStatus=delivered":                    {ID: "SM1", State: "delivered", Stage: sender.StageEnded},
		"MessageSid=SM1&MessageStatus=undelivered&ErrorCode=30006":  {ID: "SM1", State: "undelivered", Stage: sender.StageEnded, Failed: "the text message was not delivered: the number is a landline or cannot be reached (Twilio's error 30006)"},
		"MessageSid=SM1&MessageStatus=failed&ErrorCode=12345":       {ID: "SM1", State: "failed", Stage: sender.StageEnded, Failed: "the text message was not delivered: Twilio's error 12345"},
		"MessageSid=SM1&MessageStatus=failed":                       {ID: "SM1", State: "failed", Stage: sender.StageEnded, Failed: "the text message was not delivered"},
		"CallSid=CA1&CallStatus=ringing":                            {ID: "CA1", State: "ringing", Stage: sender.StageSent},
		"CallSid=CA1&CallStatus=completed":                          {ID: "CA1", State: "answered", Stage: sender.StageEnded},
		"CallSid=CA1&CallStatus=completed&AnsweredBy=human":         {ID: "CA1", State: "answered", Stage: sender.StageEnded},
		"CallSid=CA1&CallStatus=completed&AnsweredBy=machine_start": {ID: "CA1", State: "answered by a machine", Stage: sender.StageEnded},
		"CallSid=CA1&CallStatus=busy":                               {ID: "CA1", State: "busy", Stage: sender.StageEnded},
		"CallSid=CA1&CallStatus=no-answer":                          {ID: "CA1", State: "no answer", Stage: sender.StageEnded},
		"CallSid=CA1&CallStatus=failed&ErrorCode=":                  {ID: "CA1", State: "failed", Stage: sender.StageEnded, Failed: "the call could not be made"},
		"CallSid=CA1&CallStatus=exploded":                           {},
		"MessageSid=SM1&MessageStatus=":                             {},
		"MessageStatus=delivered":                                   {},
	} {
		params, _ := url.ParseQuery(query)
		if got, ok := twilio.DeliveryOf(params); ok != (want.ID != "") || ok && got != want {
			t.Errorf("%s: %+v, want %+v", query, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*twilio.Account)
		want   string
	}{
		"right":   {func(*twilio.Account) {}, ""},
		"service": {func(a *twilio.Account) { a.Service = twiliotest.Service }, ""},
		"sid":     {func(a *twilio.Account) { a.SID = "AC1" }, "--twilio-account"},
		"token":   {func(a *twilio.Account) { a.Token = "" }, "--twilio-token-file"},
		"from":    {func(a *twilio.Account) { a.From = "0151" }, "--twilio-from"},
		"MG":      {func(a *twilio.Account) { a.Service = "AC" + strings.Repeat("0", 32) }, "--twilio-messaging-service"},
	} {
		a := account
		c.change(&a)
		if err := a.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
