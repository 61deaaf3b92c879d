// Package sendertest is a service that senders are tested against: a real HTTP server that stores its requests and
// replies as the test configures it.
//
// The product must never import it.
package sendertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Secrets that tests pass to senders; no text of theirs may contain one.
const (
	Token  = "token-of-the-chat"
	Secret = "secret-of-the-chat"
)

// Answer is a reply of the service.
type Answer struct {
	Status int // 200 when 0
	Header map[string]string
	Body   string
}

// Service is the server.
type Service struct {
	URL    string
	Out    *egress.Client                      // may reach it
	Answer Answer                              // to requests without a route
	Routes map[string]func(body string) Answer // by path
	Query  bool                                // the routes' paths have the queries with them, where there are any
	asked  []asked
	hold   func() // called in place of an answer, which never comes
	server *httptest.Server
}

// Always returns a route that always replies with the same body.
func Always(body string) func(string) Answer {
	return func(string) Answer { return Answer{Body: body} }
}

type asked struct {
	line, headers, body string
	header              http.Header
}

// New starts a service that ends with the test.
func New(t *testing.T) *Service {
	s := &Service{Routes: map[string]func(string) Answer{}}
	s.server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.server.Close)
	s.URL = s.server.URL
	s.Out = egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	return s
}

// Close ends the service before the test does.
func (s *Service) Close() { s.server.Close() }

// shown are the headers that golden files hold.
var shown = []string{"Authorization", "Content-Type", "Title", "Priority", "Tags", "Actions", "Click"}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a := asked{line: r.Method + " " + r.URL.RequestURI(), body: string(body), header: r.Header}
	for _, name := range shown {
		if v := r.Header.Get(name); v != "" {
			a.headers += name + ": " + v + "\n"
		}
	}
	s.asked = append(s.asked, a)
	if s.hold != nil {
		s.hold()
		<-r.Context().Done()
		return
	}
	answer := s.Answer
	path := r.URL.Path
	if s.Query {
		path = r.URL.RequestURI()
	}
	if route, ok := s.Routes[path]; ok {
		answer = route(string(body))
	}
	for name, value := range answer.Header {
		w.Header().Set(name, value)
	}
	if answer.Status != 0 {
		w.WriteHeader(answer.Status)
	}
	io.WriteString(w, answer.Body)
}

// Body returns the body of the last request.
func (s *Service) Body() string { return s.asked[len(s.asked)-1].body }

// First returns the body of the first request to a path, without its query.
func (s *Service) First(path string) string {
	for _, a := range s.asked {
		if strings.HasSuffix(strings.Split(a.line, "?")[0], " "+path) {
			return a.body
		}
	}
	return ""
}

// Forget deletes the requests stored so far.
func (s *Service) Forget() { s.asked = nil }

// Header returns a header of the last request.
func (s *Service) Header(name string) string { return s.asked[len(s.asked)-1].header.Get(name) }

// Golden compares all requests since its last call with a file in testdata/golden.
func (s *Service) Golden(t *testing.T, name string) {
	t.Helper()
	text := ""
	for _, a := range s.asked {
		text += a.line + "\n" + a.headers + "\n" + pretty(a.body) + "\n\n"
	}
	s.asked = nil
	path := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text {
		t.Errorf("%s: the requests are\n%s\nwant\n%s", path, text, want)
	}
}

func pretty(body string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(body), "", "  ") != nil {
		return body
	}
	return b.String()
}

// Fails is one row of an error table.
type Fails struct {
	Answer
	Retry bool
	After time.Duration
}

// Usual are the errors that follow from the HTTP status alone.
var Usual = []Fails{
	{Answer{Status: 400, Body: "bad"}, false, 0},
	{Answer{Status: 401, Body: "who?"}, false, 0},
	{Answer{Status: 403, Body: "no hook " + Token + " nor " + Secret}, false, 0},
	{Answer{Status: 404}, false, 0},
	{Answer{Status: 404, Body: strings.Repeat("x", 190) + Token + strings.Repeat("x", 790) + Secret}, false, 0}, // where texts are cut
	{Answer{Status: 410, Header: map[string]string{"Retry-After": "7"}}, false, 0},
	{Answer{Status: 302, Header: map[string]string{"Location": "/elsewhere"}}, false, 0},
	{Answer{Status: 408}, true, 0},
	{Answer{Status: 429, Header: map[string]string{"Retry-After": "7"}}, true, 7 * time.Second},
	{Answer{Status: 500, Body: "<html>" + Token + "</html>"}, true, 0},
	{Answer{Status: 503, Header: map[string]string{"Retry-After": "9"}}, true, 9 * time.Second},
}

// Table checks that send fails as each row states, and against a closed service, and that no text holds a secret.
func (s *Service) Table(t *testing.T, send func() (sender.Receipt, error), rows ...Fails) {
	t.Helper()
	for _, row := range append(rows, Usual...) {
		s.Answer = row.Answer
		receipt, err := send()
		check(t, fmt.Sprint(row.Answer), receipt, err, row.Retry, row.After)
	}
	s.Close()
	receipt, err := send()
	check(t, "nobody there", receipt, err, true, 0)
	s.asked = nil
}

// GivenUp ends send's context while the service works on the request, and before the request. Neither is a refusal
// of the service, so a retry may succeed.
func (s *Service) GivenUp(t *testing.T, send func(context.Context) (sender.Receipt, error)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s.hold = cancel
	receipt, err := send(ctx)
	check(t, "given up while waiting", receipt, err, true, 0)
	s.hold, s.asked = nil, nil
	receipt, err = send(ctx)
	check(t, "given up before", receipt, err, true, 0)
	if len(s.asked) > 0 {
		t.Errorf("a request was sent after its context had ended: %v", s.asked)
	}
}

// Unknown checks that sending to an unknown person fails for good, with this message.
func Unknown(t *testing.T, send func(context.Context, sender.Contact) error, who sender.Contact, want string) {
	t.Helper()
	if err := send(context.Background(), who); err == nil || sender.Retry(err) || err.Error() != want {
		t.Errorf("%s: %v, want %s", who.Label(), err, want)
	}
}

// Group finds and closes a group under each reply of a service, and compares the results as text.
func (s *Service) Group(t *testing.T, app sender.App, path string, rows map[string]string) {
	t.Helper()
	for reply, want := range rows {
		s.Routes[path] = Always(reply)
		group, found, err := app.FindGroup(context.Background(), s.Out, "chat7")
		got := fmt.Sprintf("%+v %t %v", group, found, err)
		if strings.HasPrefix(want, "closed") {
			left, err := app.CloseGroup(context.Background(), s.Out, sender.Group{ID: "chat7", Name: "INC 42: the disk is full again"})
			got = fmt.Sprintf("closed %s %v", left, err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", reply, got, want)
		}
	}
}

func check(t *testing.T, what string, receipt sender.Receipt, err error, retry bool, after time.Duration) {
	t.Helper()
	var failed *sender.Error
	if !errors.As(err, &failed) {
		t.Errorf("%s: the error is %v", what, err)
		return
	}
	if failed.Retry != retry || failed.After != after || failed.Message == "" {
		t.Errorf("%s: %+v, want Retry %t After %s", what, *failed, retry, after)
	}
	for _, secret := range []string{Token, Secret} {
		if strings.Contains(failed.Error()+receipt.Reply, secret[:8]) { // nor a part of it
			t.Errorf("%s: a secret is shown: %+v %+v", what, *failed, receipt)
		}
	}
}

// Message is what tests send.
var Message = sender.Message{
	Key: "k-1", Thread: "i-1", Subject: "[Critical] Disk \"/\" is full", Title: "Disk \"/\" is full", Severity: "Critical", Event: "i_new",
	Text: "🔴 **Disk \"/\" is full**\nCritical · Triggered · 支付\n[open](https://tocsin.example/i/1?a=1&b=2) [acknowledge](https://tocsin.example/ack/1)",
	Link: "https://tocsin.example/i/1?a=1&b=2", AckLink: "https://tocsin.example/ack/1",
}
