package story

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/sender/gateway"
	"tocsin/internal/sender/twilio"
	"tocsin/internal/sender/twiliotest"
)

const publicURL = "https://tocsin.example.com"

// beginTwilio starts a world whose calls and text messages go to a Twilio.
func beginTwilio(t *testing.T, more ...string) (*world, *twiliotest.Server) {
	t.Helper()
	s := twiliotest.New(t, publicURL)
	w := beginWith(t, func(c *app.Config) {
		c.Senders.Gateway = gateway.Gateway{}
		c.Senders.Twilio = twilio.Account{SID: twiliotest.SID, Token: twiliotest.Token, From: twiliotest.From, Base: s.URL}
	}, more...)
	s.Target = w.http.URL
	return w, s
}

// phoned is a layer that pages Ann over methods, and one that pages Bob by mail half an hour later.
func phoned(methods string) string {
	return escalates(fmt.Sprintf(`{"target": {%s, "by": {"critical": [%s], "warning": [%s], "info": [%s]}}, %s}, %s, %s`,
		persons(ann), methods, methods, methods, window(30), layer(persons(bob), window(30)), layer(persons(cid))))
}

// one wants one call or text message, and returns it.
func one(t *testing.T, s *twiliotest.Server) twiliotest.Call {
	t.Helper()
	calls := s.Taken()
	if len(calls) != 1 {
		t.Fatalf("%d calls and text messages, want 1: %+v", len(calls), calls)
	}
	return calls[0]
}

// contains wants texts in an answer.
func contains(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, part := range want {
		if !strings.Contains(got, part) {
			t.Errorf("got %q, want %q", got, part)
		}
	}
}

func (w *world) progress() string {
	w.t.Helper()
	return w.do("/incident/info", `{"incident_id": %q}`, w.incident()).get("progress")
}

func TestCallIsAcknowledgedByDigit(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	w.push("db", "Critical")
	call := one(t, s)
	if call.To != "+15550100" || len(call.Said) < 4 {
		t.Errorf("called %s: %q", call.To, call.Said)
	}
	contains(t, strings.Join(call.Said, " "), "Trouble with db", "Press 4 to acknowledge, 6 to escalate, 8 to hear this again.")
	contains(t, s.Press(call, "8"), "Trouble with db", "Press 4")
	contains(t, s.Press(call, "5"), "no meaning", "Trouble with db")
	contains(t, s.Press(call, ""), "no meaning")
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s before a 4", w.progress())
	}
	contains(t, s.Press(call, "4"), "Acknowledged: Trouble with db.")
	w.settle()
	info := w.do("/incident/info", `{"incident_id": %q}`, w.incident())
	w.want(info, "progress", "Processing")
	w.want(info, "responders.0.person_id", fmt.Sprint(ann))
	contains(t, s.Press(call, "4"), "done already")
	contains(t, s.Press(call, "8"), "Nothing is left to do: the incident was acknowledged.")
	w.pass(50 * time.Minute)
	w.notified()
	contains(t, w.whole("db"), "Ann Day acknowledged the incident")

	// The same request comes again after Ann has withdrawn it: nothing happens.
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	contains(t, s.Press(call, "4"), "done already")
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s after a repeated request", w.progress())
	}
}

func TestDigitEscalates(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	w.push("db", "Critical")
	call := one(t, s)
	w.notified()
	contains(t, s.Press(call, "6"), "Escalated: step 2 begins.")
	w.settle()
	w.notified(newPage("bob"))
	again := call
	again.SID = "CA" + strings.Repeat("f", 32) // of an attempt whose reply was lost
	contains(t, s.Press(again, "6"), "gone on already")
	contains(t, s.Press(call, "6"), "done already")
	w.settle()
	w.notified()
	contains(t, w.whole("db"), "was brought forward by Ann Day.")
	w.pass(31 * time.Minute) // the steps after it keep their distance
	w.notified(newPage("cid"))
	contains(t, s.Press(call, "4"), "Acknowledged")
	last := call
	last.SID = "CA" + strings.Repeat("e", 32)
	contains(t, s.Press(last, "6"), "acknowledged already")
	if calls := s.Taken(); len(calls) != 0 {
		t.Errorf("called %+v", calls)
	}
}

func TestLastStepCannotBeEscalated(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, escalates(fmt.Sprintf(`{"target": {%s, "by": {"critical": ["voice"]}}}`, persons(ann))))
	w.push("db", "Critical")
	call := one(t, s)
	contains(t, s.Press(call, "6"), "last step")
	w.settle()
	w.do("/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	again := call
	again.SID = "CA" + strings.Repeat("f", 32)
	contains(t, s.Press(again, "6"), "the incident is over")
	contains(t, s.Press(call, "4"), "Not acknowledged")
}

// code returns the code that a text message asks to reply with.
func code(t *testing.T, c twiliotest.Call) string {
	t.Helper()
	_, after, found := strings.Cut(c.Text, "Reply 4 ")
	if !found || len(after) < 4 {
		t.Fatalf("no code in %q", c.Text)
	}
	return after[:4]
}

func TestRepliedTextMessageAcknowledges(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms"`))
	w.push("db", "Critical")
	first := one(t, s)
	w.clock.Add(time.Minute)
	w.push("web", "Critical")
	second := one(t, s)
	for _, text := range []string{"hello", "", "44", "4 12", "5", "STOP", "4 1234 please", "http://example.com"} {
		if told := s.Receive("SM0", "+15550100", text); told != "" {
			t.Errorf("%q is replied to with %q", text, told)
		}
	}
	for _, from := range []string{"+15550101", "Anonymous", "", "+1555010"} {
		if told := s.Receive("SM1", from, "4"); told != "" {
			t.Errorf("%q is replied to with %q", from, told)
		}
	}
	contains(t, s.Receive("SM2", "+15550100", " 4  "+code(t, first)+". "), "Acknowledged: Trouble with db.")
	contains(t, s.Receive("SM3", "+15550100", "6"), "Escalated: step 2 begins.")
	w.settle()
	w.notified(newPage("bob"))
	contains(t, s.Receive("SM4", "+15550100", "4"), "Acknowledged: Trouble with web.")
	if told := s.Receive("SM5", "+15550100", "4 "+code(t, second)); !strings.Contains(told, "Acknowledged: Trouble with web") {
		t.Errorf("the code of the second message: %q", told)
	}
	w.clock.Add(time.Minute)
	w.push("cache", "Critical")
	third := one(t, s)
	contains(t, s.Receive("SM4", "+15550100", "4"), "done already") // the service delivers it twice
	if w.progress() != "Triggered" {
		t.Error("a repeated reply has acknowledged another incident")
	}
	other := "0000"
	if other == code(t, third) {
		other = "0001"
	}
	contains(t, s.Receive("SM6", "+15550100", "4 "+other), "has the code "+other)
	w.drift = time.Hour
	w.pass(8 * 24 * time.Hour)
	newer := func(c twiliotest.Call) bool { return strings.Contains(c.Text, "Reply 4 "+code(t, third)) }
	if !slices.ContainsFunc(s.Taken(), newer) { // codes are random: one of many reminders may have the same
		contains(t, s.Receive("SM7", "+15550100", "4 "+code(t, third)), "has the code")
	}
}

func TestDeliveryStatesComeBack(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms", "voice"`))
	w.push("db", "Critical")
	text, call := s.Taken(), twiliotest.Call{}
	if len(text) != 2 {
		t.Fatalf("%+v", text)
	}
	for _, c := range text {
		if c.Action != "" {
			call = c
		} else {
			text[0] = c
		}
	}
	s.Reported(text[0], "delivered")
	s.Reported(text[0], "sent") // late
	s.Ended(call, "no-answer")
	w.settle()
	w.notified()
	contains(t, w.whole("db"), "delivered", "no answer")

	w.ack(annKey)
	w.pass(15 * time.Second) // from call to call
	w.push("web", "Critical")
	calls := s.Taken()
	for _, c := range calls {
		if c.Action == "" {
			s.Reported(c, "queued")
			s.Reported(c, "undelivered", "ErrorCode", "30005")
			s.Reported(c, "sent")
		} else {
			s.Ended(c, "failed", "ErrorCode", "21211")
		}
	}
	w.settle()
	contains(t, w.whole("web"), "the number is unknown", "the call could not be made")
	w.notified(newPage("ann")) // over her last method, because both others have failed
}

func TestUnsubscribedPersonsAreNotRetried(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms"`))
	s.Refuse("+15550100", twiliotest.Refusal{Status: 400, Code: 21610, Message: "Attempt to send to unsubscribed recipient"})
	w.push("db", "Critical")
	w.pass(20 * time.Minute)
	w.notified(newPage("ann"))
	contains(t, w.whole("db"), "21610: Attempt to send to unsubscribed recipient")
	if calls := s.Taken(); len(calls) != 0 {
		t.Errorf("%+v", calls)
	}
}

func TestTooManyRequestsWaitAsAsked(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	s.Refuse("+15550100", twiliotest.Refusal{Status: 429, Code: 20429, Message: "Too Many Requests", RetryAfter: "40"})
	w.push("db", "Critical")
	s.Refuse("+15550100", twiliotest.Refusal{})
	w.pass(30 * time.Second)
	if calls := s.Taken(); len(calls) != 0 {
		t.Errorf("called before the time is over: %+v", calls)
	}
	w.pass(30 * time.Second)
	one(t, s)
}

// What is not signed, or signed for another, changes nothing.
func TestHostileCallbacks(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	w.push("db", "Critical")
	call := one(t, s)
	form := func(change ...string) url.Values {
		v := url.Values{"CallSid": {call.SID}, "AccountSid": {twiliotest.SID}, "Digits": {"4"}, "CallStatus": {"failed"}}
		for i := 0; i < len(change); i += 2 {
			v.Set(change[i], change[i+1])
		}
		return v
	}
	token := strings.TrimSuffix(strings.TrimPrefix(call.Action, publicURL+"/phone/"), twilio.DigitPath)
	at := func(token, path string) string { return publicURL + "/phone/" + token + path }
	other := []byte(token)
	if other[5] == 'A' {
		other[5] = 'B'
	} else {
		other[5] = 'A'
	}
	for name, c := range map[string]struct {
		address, token string
		params         url.Values
		status         int
	}{
		"a wrong token":              {call.Action, "wrong", form(), http.StatusForbidden},
		"no token":                   {call.Action, "", form(), http.StatusForbidden},
		"another account":            {call.Action, twiliotest.Token, form("AccountSid", "AC"+strings.Repeat("1", 32)), http.StatusForbidden},
		"a status, unsigned":         {call.Status, "wrong", form(), http.StatusForbidden},
		"a reply, unsigned":          {publicURL + "/phone/twilio/sms", "wrong", form("From", "+15550100", "Body", "4", "MessageSid", "SM1"), http.StatusForbidden},
		"a link that was not made":   {at(string(other), twilio.DigitPath), twiliotest.Token, form(), http.StatusNotFound},
		"half a link":                {at(token[:20], twilio.DigitPath), twiliotest.Token, form(), http.StatusNotFound},
		"the state of another call":  {call.Status, twiliotest.Token, form("CallSid", "CA"+strings.Repeat("1", 32)), http.StatusNotFound},
		"a state of later days":      {call.Status, twiliotest.Token, form("CallStatus", "teleported"), http.StatusNoContent},
		"a gateway that is not used": {at(token, ""), twiliotest.Token, form(), http.StatusNotFound},
		"a body that is too large":   {call.Action, twiliotest.Token, form("Z", strings.Repeat("z", 70_000)), http.StatusRequestEntityTooLarge},
	} {
		if status, answer := s.Post(c.address, c.params, c.token); status != c.status {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	w.clock.Add(8 * 24 * time.Hour)
	if status, _ := s.Post(call.Action, form(), twiliotest.Token); status != http.StatusNotFound {
		t.Errorf("a link that has expired: %d", status)
	}
	w.clock.Add(-8 * 24 * time.Hour)
	w.settle()
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s", w.progress())
	}
	if why := w.whole("db"); strings.Contains(why, "failed") {
		t.Error(why)
	}

	// Ann leaves: her digits count no longer.
	w.sql(fmt.Sprintf(`UPDATE person SET status = 'deleted' WHERE person_id = %d`, ann))
	w.sql(`UPDATE account SET revision = revision + 1`)
	contains(t, s.Press(call, "4"), "Not acknowledged")
	contains(t, s.Press(call, "6"), "Not escalated")
	contains(t, s.Press(call, "8"), "Nothing is left to do: the person has left")
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s", w.progress())
	}
}

// The own gateway posts back what is pressed.
func TestGatewayPostsDigits(t *testing.T) {
	t.Parallel()
	var asked struct{ Callback, Digits, Kind string }
	w := beginWith(t, func(*app.Config) {}, phoned(`"voice"`))
	w.answers(func(p page) answer {
		if p.method == "voice" {
			w.must(json.Unmarshal([]byte(p.body), &asked))
		}
		return taken
	})
	w.push("db", "Critical")
	w.notified("+15550100 voice i_new")
	if asked.Digits != "468" {
		t.Fatalf("asked %+v", asked)
	}
	post := func(body string, want int) string {
		t.Helper()
		reply, err := http.Post(w.http.URL+strings.TrimPrefix(asked.Callback, publicURL), "application/json", strings.NewReader(body))
		w.must(err)
		defer reply.Body.Close()
		text, _ := io.ReadAll(reply.Body)
		if reply.StatusCode != want {
			t.Errorf("%.100s is answered with %d %s", body, reply.StatusCode, text)
		}
		w.settle()
		return string(text)
	}
	for _, body := range []string{"", "{", "[]", "{}", `{"digit": 4}`, `{"digit": "44"}`, `{"digit": "4", "state": "busy"}`, `{"state": "exploded"}`} {
		post(body, http.StatusBadRequest)
	}
	post(`{"digit": "4", "x": "`+strings.Repeat("x", 70_000)+`"}`, http.StatusRequestEntityTooLarge)
	post(`{"state": "answered"}`, http.StatusNoContent)
	post(`{"state": "ringing"}`, http.StatusNoContent)
	contains(t, w.whole("db"), "answered")
	contains(t, post(`{"digit": "8"}`, 200), "Trouble with db", `"digits":"468"`)
	contains(t, post(`{"digit": "6"}`, 200), "Escalated: step 2 begins.")
	w.notified(newPage("bob"))
	contains(t, post(`{"digit": "6"}`, 200), "gone on already")
	w.notified()
	contains(t, post(`{"digit": "4"}`, 200), `{"text":"Acknowledged: Trouble with db."}`)
	if w.progress() != "Processing" {
		t.Errorf("the incident is %s", w.progress())
	}
	asked.Callback = asked.Callback[:len(asked.Callback)-4] + "AAAA"
	post(`{"digit": "4"}`, http.StatusNotFound)
}

// A call that is about several incidents acknowledges all of them, and none of them is escalated.
func TestDigitAcknowledgesBundle(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	for n := range 12 {
		w.push(fmt.Sprint("db", n), "Critical")
	}
	w.pass(2 * time.Minute)
	calls := s.Taken()
	if len(calls) > 6 {
		t.Errorf("%d calls", len(calls))
	}
	bundle := calls[len(calls)-1]
	if said := strings.Join(bundle.Said, " "); strings.Contains(said, "6 to escalate") || !strings.Contains(said, "Press 4 to acknowledge, 8 to hear this again.") {
		t.Errorf("said %q", said)
	}
	before := len(w.unacknowledged())
	contains(t, s.Press(bundle, "6"), "several incidents")
	contains(t, s.Press(bundle, "8"), "incidents", "Press 4")
	contains(t, s.Press(bundle, "4"), "Acknowledged: ", " incidents.")
	w.settle()
	after := len(w.unacknowledged())
	if before != 12 || after != 12-(12-len(calls)+1) {
		t.Errorf("%d and then %d incidents wait, after %d calls", before, after, len(calls))
	}
	s.Ended(bundle, "failed")
	w.settle()
}

// The latest message is the one that was sent last, not the one whose incident is the newest.
func TestReplyIsAboutLastMessageSent(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms"`))
	s.Refuse("+15550100", twiliotest.Refusal{Status: 429, Code: 20429, Message: "Too Many Requests", RetryAfter: "40"})
	w.push("db", "Critical")
	s.Refuse("+15550100", twiliotest.Refusal{})
	w.clock.Add(time.Second)
	w.push("web", "Critical")
	one(t, s)
	w.pass(time.Minute)
	one(t, s)
	contains(t, s.Receive("SM1", "+15550100", "4"), "Acknowledged: Trouble with db.")
}

// A person with the same number in two accounts replies to the latest message, whichever account sent it.
func TestReplyFindsItsAccount(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms"`))
	const other, key = 8000000000001, "11112222333344445555666677778888131"
	f, err := accountfile.Read(strings.NewReader(fmt.Sprintf(`{"format": "tocsin.account/1",
		"account": {"account_id": %d, "account_name": "Other", "time_zone": "UTC", "owner_id": 8000000000011},
		"persons": [{"person_id": 8000000000011, "person_name": "Ann Elsewhere", "email": "ann@example.org", "phone": "+1 (555) 01-00"}],
		"channels": [{"channel_id": 8000000000041, "channel_name": "Elsewhere"}],
		"integrations": [{"integration_id": 8000000000051, "integration_name": "e", "integration_type": "standard", "channel_id": 8000000000041, "integration_key": %q}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e02", "channel_id": 8000000000041, "rule_name": "r", "template_id": "000000000000000000000001",
			"layers": [{"target": {"person_ids": [8000000000011], "by": {"critical": ["sms"]}}}]}]}`, other, key)))
	w.must(err)
	w.must(accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), false))
	w.push("db", "Critical")
	mine := one(t, s)
	w.clock.Add(time.Minute)
	w.pushTo(key, "far", "Critical")
	theirs := one(t, s)
	if mine.To != theirs.To {
		t.Fatalf("%s and %s", mine.To, theirs.To)
	}
	contains(t, s.Receive("SM1", mine.To, "4"), "Acknowledged: Trouble with far.")
	contains(t, s.Receive("SM1", mine.To, "4"), "done already")
	w.settle()
	if w.progress() != "Triggered" {
		t.Error("the incident of another account was acknowledged")
	}
	contains(t, s.Receive("SM2", mine.To, "4 "+code(t, mine)), "Acknowledged: Trouble with db.")
	w.settle()
	if w.progress() != "Processing" {
		t.Errorf("the incident is %s", w.progress())
	}
}

// unacknowledged returns the incidents that no person has acknowledged.
func (w *world) unacknowledged() (ids []json.RawMessage) {
	w.t.Helper()
	r := w.do("/incident/list", `{"start_time": %d, "end_time": %d, "progress": "Triggered", "limit": 100}`, start.Unix()-3600, w.clock.Now().Unix()+1)
	w.must(json.Unmarshal([]byte(r.get("items")), &ids))
	return ids
}

// A number that does not take calls is not called for every page again: the person's other methods are used, and then the
// next step.
func TestFailedCallGoesToNextStep(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	w.fail("ann@", never)
	w.push("db", "Critical")
	s.Ended(one(t, s), "failed", "ErrorCode", "13224")
	w.pass(time.Minute)
	text := one(t, s)
	if text.Text == "" {
		t.Fatalf("%+v", text)
	}
	s.Reported(text, "undelivered", "ErrorCode", "30003")
	s.Reported(text, "undelivered", "ErrorCode", "30003")
	w.pass(time.Minute)
	w.notified(newPage("bob"))
	if calls := s.Taken(); len(calls) != 0 {
		t.Errorf("%+v", calls)
	}
}
