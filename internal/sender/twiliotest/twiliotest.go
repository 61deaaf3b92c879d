// Package twiliotest is a Twilio for tests: an HTTP server that holds requests to Twilio's published rules, and calls
// back as Twilio does. It signs by its own code, so that a mistake in the product is not repeated here.
//
// The product must never import it.
package twiliotest

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// The account that exists.
const (
	SID     = "AC00112233445566778899aabbccddeeff"
	Token   = "auth-token-of-the-account"
	From    = "+15550199"
	Service = "MG00112233445566778899aabbccddeeff"
)

// Call is a voice call or a text message that Twilio took.
type Call struct {
	SID, To, Text  string // Text is what a text message holds
	Status, Action string // URLs to call back
	Said           []string
	Form           url.Values
}

// Server is the service.
type Server struct {
	URL    string
	Public string // what callback URLs begin with
	Target string // where they lead; empty: nowhere

	t       *testing.T
	mu      sync.Mutex
	calls   []Call
	refused map[string]Refusal // by number
	next    int
}

// Refusal is an error that Twilio replies with.
type Refusal struct {
	Status, Code int
	Message      string
	RetryAfter   string
}

// New starts a service that ends with the test.
func New(t *testing.T, public string) *Server {
	s := &Server{Public: public, t: t, refused: map[string]Refusal{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// Refuse makes the service refuse what goes to a number; a Refusal without a status ends that.
func (s *Server) Refuse(number string, with Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[number] = with
}

// Taken returns the calls and text messages since it was last called.
func (s *Server) Taken() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

var number = regexp.MustCompile(`^\+[1-9]\d{6,14}$`)

// allowed lists the parameters that each resource knows.
var allowed = map[string][]string{
	"Calls":    {"To", "From", "Twiml", "StatusCallback", "StatusCallbackEvent", "MachineDetection"},
	"Messages": {"To", "From", "MessagingServiceSid", "Body", "StatusCallback"},
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c, refusal := s.take(r, body)
	w.Header().Set("Content-Type", "application/json")
	if refusal != nil {
		if refusal.RetryAfter != "" {
			w.Header().Set("Retry-After", refusal.RetryAfter)
		}
		w.WriteHeader(refusal.Status)
		fmt.Fprintf(w, `{"code": %d, "message": %q, "more_info": "https://www.twilio.com/docs/errors/%d", "status": %d}`,
			refusal.Code, refusal.Message, refusal.Code, refusal.Status)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"sid": %q, "account_sid": %q, "to": %q, "status": "queued", "error_code": null}`, c.SID, SID, c.To)
}

// take checks a request and stores what it asks for.
func (s *Server) take(r *http.Request, body []byte) (c Call, refusal *Refusal) {
	resource := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2010-04-01/Accounts/"+SID+"/"), ".json")
	name, password, _ := r.BasicAuth()
	form, err := url.ParseQuery(string(body))
	switch {
	case name != SID || password != Token:
		return c, &Refusal{Status: 401, Code: 20003, Message: "Authenticate"}
	case allowed[resource] == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, ".json") || r.URL.RawQuery != "":
		return c, &Refusal{Status: 404, Code: 20404, Message: "The requested resource was not found"}
	case r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" || err != nil || !utf8.Valid(body):
		s.t.Errorf("%s: %s %q", r.URL.Path, r.Header.Get("Content-Type"), body)
	}
	for name, values := range form {
		if !slices.Contains(allowed[resource], name) || len(values) != 1 || values[0] == "" {
			s.t.Errorf("%s: parameter %s is %q", resource, name, values)
		}
	}
	c = Call{To: form.Get("To"), Text: form.Get("Body"), Status: form.Get("StatusCallback"), Form: form}
	if c.Status != "" && !strings.HasPrefix(c.Status, s.Public) {
		s.t.Errorf("%s: StatusCallback is %s", resource, c.Status)
	}
	refusal = s.refuses(resource, &c)
	if refusal != nil {
		return c, refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if refusal, ok := s.refused[c.To]; ok && refusal.Status != 0 {
		return c, &refusal
	}
	s.next++
	c.SID = fmt.Sprintf("%s%032x", map[string]string{"Calls": "CA", "Messages": "SM"}[resource], s.next)
	s.calls = append(s.calls, c)
	return c, nil
}

// refuses returns the refusal of a request whose values break a rule.
func (s *Server) refuses(resource string, c *Call) *Refusal {
	from, service := c.Form.Get("From"), c.Form.Get("MessagingServiceSid")
	bad := func(code int, message string) *Refusal { return &Refusal{Status: 400, Code: code, Message: message} }
	switch {
	case !number.MatchString(c.To):
		return bad(21211, "The 'To' number "+c.To+" is not a valid phone number.")
	case resource == "Messages" && c.Text == "":
		return bad(21602, "Message body is required.")
	case resource == "Messages" && utf8.RuneCountInString(c.Text) > 1600:
		return bad(21617, "The concatenated message body exceeds the 1600 character limit")
	case resource == "Messages" && (from == "") == (service == ""):
		return bad(21603, "A 'From' phone number is required.")
	case resource == "Messages" && service != "" && service != Service:
		return bad(21701, "The Messaging Service does not exist.")
	case service == "" && from != From:
		return bad(21212, "The 'From' number "+from+" is not a valid phone number.")
	case resource == "Calls":
		twiml := c.Form.Get("Twiml")
		if twiml == "" || utf8.RuneCountInString(twiml) > 4000 {
			s.t.Errorf("Twiml has %d characters", utf8.RuneCountInString(twiml))
		}
		c.Said, c.Action = s.spoken(twiml)
	}
	return nil
}

// Press presses a digit in a call, and returns what is read out then.
func (s *Server) Press(c Call, digit string) string {
	s.t.Helper()
	status, answer := s.Post(c.Action, url.Values{
		"CallSid": {c.SID}, "AccountSid": {SID}, "From": {From}, "To": {c.To}, "CallStatus": {"in-progress"}, "Digits": {digit},
		"Direction": {"outbound-api"}, "ApiVersion": {"2010-04-01"}, "msg": {"Gather End"},
	}, Token)
	if status != http.StatusOK {
		s.t.Errorf("digit %s is answered with %d %s", digit, status, answer)
		return answer
	}
	said, _ := s.spoken(answer)
	return strings.Join(said, " ")
}

// Ended reports the end of a call: completed, busy, no-answer, failed or canceled.
func (s *Server) Ended(c Call, state string, more ...string) {
	s.t.Helper()
	s.report(c, append([]string{"CallSid", c.SID, "CallStatus", state, "CallDuration", "7"}, more...))
}

// Reported reports the state of a text message, with names and values of more parameters.
func (s *Server) Reported(c Call, state string, more ...string) {
	s.t.Helper()
	s.report(c, append([]string{"MessageSid", c.SID, "SmsSid", c.SID, "MessageStatus", state, "SmsStatus", state}, more...))
}

func (s *Server) report(c Call, pairs []string) {
	s.t.Helper()
	params := url.Values{"AccountSid": {SID}, "From": {From}, "To": {c.To}, "ApiVersion": {"2010-04-01"}}
	for i := 0; i < len(pairs); i += 2 {
		params.Set(pairs[i], pairs[i+1])
	}
	if status, answer := s.Post(c.Status, params, Token); status != http.StatusNoContent {
		s.t.Errorf("the report %v is answered with %d %s", pairs, status, answer)
	}
}

// Receive brings a text message from a number, and returns the reply; sid identifies the message.
func (s *Server) Receive(sid, from, text string) string {
	s.t.Helper()
	status, answer := s.Post(s.Public+"/phone/twilio/sms", url.Values{
		"MessageSid": {sid}, "SmsSid": {sid}, "AccountSid": {SID}, "From": {from}, "To": {From}, "Body": {text}, "NumMedia": {"0"},
	}, Token)
	if status != http.StatusOK {
		s.t.Errorf("%q from %s is answered with %d %s", text, from, status, answer)
		return answer
	}
	said, _ := s.spoken(answer)
	return strings.Join(said, " ")
}

// Post posts a callback that is signed with a token.
func (s *Server) Post(address string, params url.Values, token string) (status int, answer string) {
	s.t.Helper()
	return s.PostBody(address, params.Encode(), Sign(address, params, token))
}

// PostBody posts a body with a signature.
func (s *Server) PostBody(address, body, signature string) (status int, answer string) {
	s.t.Helper()
	if !strings.HasPrefix(address, s.Public) {
		s.t.Errorf("%q is not at %s", address, s.Public)
		return 0, ""
	}
	r, err := http.NewRequest(http.MethodPost, s.Target+strings.TrimPrefix(address, s.Public), strings.NewReader(body))
	if err != nil {
		s.t.Error(err)
		return 0, ""
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
	r.Header.Set("X-Twilio-Signature", signature)
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Error(err)
		return 0, ""
	}
	defer reply.Body.Close()
	text, _ := io.ReadAll(reply.Body)
	if kind := reply.Header.Get("Content-Type"); reply.StatusCode == http.StatusOK && !strings.HasPrefix(kind, "text/xml") {
		s.t.Errorf("%s is answered with %s: %s", address, kind, text)
	}
	return reply.StatusCode, string(text)
}

// Sign returns the signature of a form that is posted to an address.
func Sign(address string, params url.Values, token string) string {
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(params)) {
		mac.Write([]byte(name + params.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// verbs lists the elements of TwiML that are used, and where they may be.
var verbs = map[string][]string{
	"Response": {""}, "Gather": {"Response"}, "Message": {"Response"}, "Say": {"Response", "Gather"}, "Pause": {"Response", "Gather"},
}

// spoken reads TwiML and returns the texts in it, and the URL that gathered digits go to.
func (s *Server) spoken(twiml string) (said []string, action string) {
	s.t.Helper()
	d := xml.NewDecoder(strings.NewReader(twiml))
	path := []string{""}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			s.t.Errorf("%v in the TwiML %s", err, twiml)
			return said, action
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(verbs[token.Name.Local], path[len(path)-1]) {
				s.t.Errorf("%s in %v of the TwiML %s", token.Name.Local, path, twiml)
			}
			path = append(path, token.Name.Local)
			for _, a := range token.Attr {
				if a.Name.Local == "action" {
					action = a.Value
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if text := strings.TrimSpace(string(token)); text != "" {
				said = append(said, text)
			}
		}
	}
	if !strings.Contains(twiml, "<Response>") {
		s.t.Errorf("no TwiML: %s", twiml)
	}
	return said, action
}
