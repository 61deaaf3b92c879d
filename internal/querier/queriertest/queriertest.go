// Package queriertest has the table of cases that the querier of every HTTP datasource must pass: answers that are cut, slow,
// endless, refused or redirected, and messages that must not repeat a secret. Tests with real servers ask them with it.
//
// The product must never import it.
package queriertest

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

// Type is a type of datasource under test.
type Type struct {
	Name     string
	Open     querier.Opener
	Query    string // that a good server answers
	Good     string // its answer
	Rows     int    // that it has; 0: one
	Args     map[string]string
	Endpoint bool          // the address is host:port
	Block    string        // with Secrets, in place of that of prometheus; its TLS is not tested
	Empty    bool          // an empty body is an answer without rows
	step     time.Duration // not 0: it is asked about many moments
}

// Ranged runs the table for range queries in steps of step. good is an answer of one series.
func (q Type) Ranged(t *testing.T, good string, step time.Duration, own ...Case) {
	q.Good, q.step = good, step
	for _, c := range append(q.cases(), own...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.Answer)
			t.Cleanup(server.Close)
			q.one(t, server.URL, payload+"}", c)
		})
	}
}

// Secrets that the datasource under test has. No message may hold one.
const (
	password = "pass word of the datasource"
	token    = "token-of-the-header"
	param    = "value-of-the-param"
)

// payload is a block with these secrets.
const payload = `{"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "` + password + `",
	"headers": ["X-Token: ` + token + `"], "params": ["p=` + param + `"]`

// payload returns the block of the datasource under test.
func (q Type) payload() string {
	return cmp.Or(strings.NewReplacer("PASSWORD", password, "TOKEN", token, "PARAM", param).Replace(q.Block), payload+"}")
}

// Out returns a client that may reach this machine, as an operator permits it for datasources.
func Out() *egress.Client {
	return egress.New(egress.Policy{RefuseCloud: true, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16")}})
}

// Case is a behaviour of a server, and the failure that must come of it; an empty kind: a row.
type Case struct {
	Name   string
	Answer http.HandlerFunc
	Kind   evaluate.Kind
	Phase  string
	Says   string
}

// Write returns an answer with this status and body, of JSON.
func Write(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// Run runs the table, and the cases that are of the type alone.
func (q Type) Run(t *testing.T, own ...Case) {
	for _, c := range append(q.cases(), own...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.Answer)
			t.Cleanup(server.Close)
			q.one(t, server.URL, q.payload(), c)
		})
	}
	if q.Block == "" {
		t.Run("TLS", q.certificates)
	}
	t.Run("address", q.addresses)
}

func (q Type) cases() []Case {
	all := password + " " + token + " " + param
	half := q.Good[:len(q.Good)/2]
	cases := []Case{
		{Name: "a good answer", Answer: Write(200, q.Good)},
		{Name: "an answer that is cut", Kind: evaluate.Unreachable, Phase: "read", Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(q.Good)))
			fmt.Fprint(w, half)
			panic(http.ErrAbortHandler)
		}},
		{Name: "chunks that are cut", Kind: evaluate.Unreachable, Phase: "read", Answer: func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, half)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}},
		{Name: "half an answer that ends well", Kind: evaluate.Unreachable, Phase: "query", Answer: Write(200, half)},
		{Name: "an answer with a rest", Kind: evaluate.Unreachable, Phase: "query", Answer: Write(200, q.Good+"{")},
		{Name: "a connection that is closed", Kind: evaluate.Unreachable, Answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{Name: "no answer", Kind: evaluate.Timeout, Answer: func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // a server notices that its caller has gone only after that
			<-r.Context().Done()
		}},
		{Name: "a byte now and then", Kind: evaluate.Timeout, Phase: "read", Answer: drip(q.Good)},
		{Name: "spaces without end", Kind: evaluate.TooMuch, Phase: "read", Answer: endless(" ")},
		{Name: "a text without end", Kind: evaluate.TooMuch, Phase: "read", Answer: endless(q.Good[:strings.LastIndex(q.Good, `"`)])},
		{Name: "a page", Kind: evaluate.Unreachable, Says: "not an answer of " + q.Name, Answer: Write(200, "<html>"+all)},
		{Name: "another text", Kind: evaluate.Unreachable, Answer: Write(200, `{"a":1}`)},
		{Name: "nesting", Kind: evaluate.Unreachable, Answer: Write(200, strings.Repeat("[", 1<<20))},
		{Name: "a redirect to the metadata of a cloud", Kind: evaluate.Unreachable, Says: "not followed", Answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		}},
		{Name: "401", Kind: evaluate.Denied, Phase: "sign_in", Says: "401", Answer: Write(401, all)},
		{Name: "403", Kind: evaluate.Denied, Phase: "sign_in", Says: "403", Answer: Write(403, all)},
		{Name: "404", Kind: evaluate.Unreachable, Says: "404", Answer: Write(404, all)},
		{Name: "429", Kind: evaluate.TooMuch, Says: "429", Answer: Write(429, all)},
		{Name: "500 with secrets", Kind: evaluate.Unreachable, Says: "500", Answer: Write(500, `{"status":"error","error":"`+all+` of another"}`)},
		{Name: "503 of a part", Kind: evaluate.Partial, Answer: Write(503, `{"status":"error","errorType":"503","error":"vmstorage-3"}`)},
		{Name: "503 of another server", Kind: evaluate.Unreachable, Answer: Write(503, "starting")},
		{Name: "503 of a time", Kind: evaluate.Timeout, Answer: Write(503, `{"status":"error","errorType":"timeout","error":"query timed out"}`)},
		{Name: "400 with the query and secrets", Kind: evaluate.BadQuery, Phase: "query", Says: "unknown function", Answer: func(w http.ResponseWriter, _ *http.Request) {
			Write(400, fmt.Sprintf(`{"status":"error","errorType":"bad_data","error":%q}`, "unknown function\nin \""+q.Query+"\" "+q.Query+" "+all+strings.Repeat(" long", 1000)))(w, nil)
		}},
		{Name: "400 in plain text", Kind: evaluate.BadQuery, Says: "parse error at line 1", Answer: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(400)
			fmt.Fprint(w, "parse error at line 1, col 9\n")
		}},
		{Name: "400 of another server", Kind: evaluate.Unreachable, Says: "400", Answer: Write(400, "<html>"+all)},
	}
	if !q.Empty {
		cases = append(cases, Case{Name: "nothing", Kind: evaluate.Unreachable, Answer: Write(200, "")})
	}
	return cases
}

// drip answers slower than any timeout permits.
func drip(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		for i := range len(body) {
			fmt.Fprint(w, body[i:i+1])
			w.(http.Flusher).Flush()
			wait := time.NewTimer(time.Second)
			select {
			case <-r.Context().Done():
				return
			case <-wait.C:
			}
		}
	}
}

// endless answers with this text, then with the letter x for 10 GB.
func endless(begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, begin)
		block := []byte(strings.Repeat(begin[len(begin)-1:], 1<<16))
		for range 10 << 30 >> 16 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
}

// longest is the timeout of questions whose answer comes at once.
const longest = 10 * time.Second

// one asks a server, and checks what comes of it.
func (q Type) one(t *testing.T, address, payload string, c Case) {
	t.Helper()
	if q.Endpoint {
		address = strings.TrimPrefix(address, "http://")
	}
	open, failed := querier.Registry{Types: querier.Types{q.Name: q.Open}, Out: Out()}.Open(querier.Datasource{Type: q.Name, Name: "d", Address: address, Payload: []byte(payload)})
	if failed != nil {
		t.Fatal(failed)
	}
	defer open.Close()
	ask := querier.Ask{Expr: q.Query, Args: q.Args, Timeout: longest}
	if c.Kind == evaluate.Timeout {
		ask.Timeout = querier.MinTimeout
	}
	rows, failed := q.ask(open, ask)
	// On a busy machine the first byte may come later than the shortest timeout, and another phase ends by it.
	for failed != nil && failed.Kind == evaluate.Timeout && c.Phase != "" && failed.Phase != c.Phase && ask.Timeout < longest {
		ask.Timeout *= 2
		rows, failed = q.ask(open, ask)
	}
	if c.Kind == "" {
		if failed != nil || len(rows) != max(q.Rows, 1) {
			t.Fatalf("%d rows, %v", len(rows), failed)
		}
		return
	}
	if failed == nil || failed.Kind != c.Kind || rows != nil || c.Phase != "" && failed.Phase != c.Phase || !strings.Contains(failed.Message, c.Says) {
		t.Fatalf("%d rows, %+v; want %s in %q with %q", len(rows), failed, c.Kind, c.Phase, c.Says)
	}
	for _, secret := range []string{password, token, param, q.Query} {
		if strings.Contains(failed.Message, secret) {
			t.Errorf("the message holds %q: %s", secret, failed.Message)
		}
	}
	if n := len([]rune(failed.Message)); n == 0 || n > 500 {
		t.Errorf("the message has %d characters", n)
	}
}

// ask asks one query, or about a minute. A series counts as a row.
func (q Type) ask(open querier.Querier, ask querier.Ask) (rows []evaluate.Row, failed *evaluate.Failure) {
	if q.step == 0 {
		return open.Query(context.Background(), ask)
	}
	from := time.Unix(1_700_000_000, 0)
	series, failed := open.(querier.Ranger).Range(context.Background(), ask, from, from.Add(2*q.step), q.step)
	for range series {
		rows = append(rows, evaluate.Row{})
	}
	return rows, failed
}

// certificates asks servers with certificates that the datasource may or may not trust.
func (q Type) certificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(Write(200, q.Good))
	server.TLS = &tls.Config{MaxVersion: tls.VersionTLS12}
	server.Config.ErrorLog = quiet
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := string(PEM(server.Certificate().Raw))
	other := strings.Replace(server.URL, "127.0.0.1", "127.0.0.2", 1) // no certificate is for it
	for _, c := range []struct {
		url, block string
		Case
	}{
		{server.URL, "", Case{Name: "an authority that is not known", Kind: evaluate.Unreachable, Phase: "tls"}},
		{server.URL, fmt.Sprintf(`, "tls_ca": %q`, authority), Case{Name: "a known authority"}},
		{server.URL, fmt.Sprintf(`, "tls_ca": %q, "tls_server_name": "other.test"`, authority), Case{Name: "the certificate of another host", Kind: evaluate.Unreachable, Phase: "tls", Says: "example.com"}},
		{server.URL, fmt.Sprintf(`, "tls_ca": %q, "tls_server_name": "example.com"`, authority), Case{Name: "the name of the certificate"}},
		{server.URL, `, "tls_skip_verify": true`, Case{Name: "any certificate"}},
		{server.URL, `, "tls_skip_verify": true, "tls_min_version": "1.3"`, Case{Name: "an old version", Kind: evaluate.Unreachable, Phase: "tls"}},
		{strings.Replace(server.URL, "https", "http", 1), "", Case{Name: "TLS is not spoken", Kind: evaluate.Unreachable}},
		{other, "", Case{Name: "no server", Kind: evaluate.Unreachable, Phase: "dial"}},
	} {
		t.Run(c.Name, func(t *testing.T) { q.one(t, c.url, payload+c.block+"}", c.Case) })
	}
}

// addresses asks what must not be dialled, or cannot be.
func (q Type) addresses(t *testing.T) {
	t.Parallel()
	for address, says := range map[string]string{
		"http://169.254.169.254": "must not be called", "http://[fe80::1]:9090": "must not be called", "http://192.0.0.192:80": "must not be called",
		"http://127.0.0.1:1": "cannot be reached",
	} {
		q.one(t, address, q.payload(), Case{Kind: evaluate.Unreachable, Phase: "dial", Says: says})
	}
}
