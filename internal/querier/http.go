package querier

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
)

// keptConns is how many connections a querier keeps: as many queries as the evaluator makes of one datasource at a time.
const keptConns = 8

// HTTP calls a datasource that is an HTTP server.
type HTTP struct {
	kind    string // the type, for messages
	out     *egress.Client
	base    *url.URL
	header  http.Header
	tls     *tls.Config
	secrets []string // what no message may repeat
}

// httpBlock is the block of prometheus, loki and victorialogs in a payload.
type httpBlock struct {
	BasicAuthEnabled  bool     `json:"basic_auth_enabled"`
	BasicAuthUsername string   `json:"basic_auth_username"`
	BasicAuthPassword string   `json:"basic_auth_password"`
	Headers           []string `json:"headers"`
	Params            []string `json:"params"`
	TLS
}

// HTTPType is how the datasources of a type with the block of prometheus, loki and victorialogs are asked.
type HTTPType struct {
	Probe string // a query that any of them answers
	// Call returns the request of a query, whose reader stores the rows.
	Call func(a Ask, rows *[]evaluate.Row) (Call, *evaluate.Failure)
	// Range returns the request of a range query, whose reader stores the series.
	Range func(a Ask, from, to time.Time, step time.Duration, series *[]Series) (Call, *evaluate.Failure)
}

// Open returns the querier of a datasource.
func (t HTTPType) Open(d Datasource, out *egress.Client) (Querier, *evaluate.Failure) {
	h, failed := openHTTP(d, out)
	if failed != nil {
		return nil, failed
	}
	return httpQuerier{h, t}, nil
}

type httpQuerier struct {
	*HTTP
	kind HTTPType
}

// Query makes the request of a query.
func (q httpQuerier) Query(ctx context.Context, a Ask) (rows []evaluate.Row, failed *evaluate.Failure) {
	c, failed := q.kind.Call(a, &rows)
	if failed == nil {
		_, failed = q.Do(ctx, c)
	}
	if failed != nil && !failed.Cut {
		return nil, failed
	}
	return rows, failed
}

// Range makes the request of a range query.
func (q httpQuerier) Range(ctx context.Context, a Ask, from, to time.Time, step time.Duration) ([]Series, *evaluate.Failure) {
	if failed := CheckRange(from, to, step); failed != nil {
		return nil, failed
	}
	var series []Series
	c, failed := q.kind.Range(a, from, to, step, &series)
	if failed != nil {
		return nil, failed
	}
	if _, failed := q.Do(ctx, c); failed != nil {
		return nil, failed
	}
	return series, nil
}

// Test asks the probe.
func (q httpQuerier) Test(ctx context.Context) []Phase {
	c, failed := q.kind.Call(Ask{Expr: q.kind.Probe}, new([]evaluate.Row))
	if failed != nil {
		return []Phase{Failed(failed, 0)}
	}
	return q.Phases(ctx, c)
}

// Close closes the connections.
func (h *HTTP) Close() error {
	h.out.Close()
	return nil
}

// openHTTP returns the caller of a datasource.
func openHTTP(d Datasource, out *egress.Client) (*HTTP, *evaluate.Failure) {
	var block httpBlock
	if err := json.Unmarshal(d.Payload, &block); err != nil {
		return nil, unreachable("", "the payload of the datasource cannot be read")
	}
	config, err := block.Config()
	if err != nil {
		return nil, unreachable(PhaseTLS, err.Error())
	}
	h, failed := NewHTTP(d.Type, d.Address, config, out)
	if failed != nil {
		return nil, failed
	}
	query := h.base.Query()
	for _, param := range block.Params {
		name, value, _ := strings.Cut(param, "=")
		query.Add(name, value)
		h.secrets = append(h.secrets, value, url.QueryEscape(value))
	}
	h.base.RawQuery = query.Encode()
	h.Headers(block.Headers)
	if block.BasicAuthEnabled {
		h.Basic(block.BasicAuthUsername, block.BasicAuthPassword)
	}
	// Compressing costs a Prometheus more than the query.
	h.header.Set("Accept-Encoding", "identity")
	return h, nil
}

func unreachable(phase, why string) *evaluate.Failure {
	return &evaluate.Failure{Kind: evaluate.Unreachable, Phase: phase, Message: why}
}

// NewHTTP returns the caller of a server of a type.
func NewHTTP(kind, address string, config *tls.Config, out *egress.Client) (*HTTP, *evaluate.Failure) {
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || base.User != nil || base.Scheme != "http" && base.Scheme != "https" {
		return nil, unreachable(PhaseResolve, "the address is not an http or https URL without credentials")
	}
	base.Fragment = ""
	h := &HTTP{kind: kind, base: base, header: http.Header{}, tls: config, out: out.Own(config, keptConns)}
	h.header["Idempotency-Key"] = []string{} // not sent: the library asks again on another connection if a kept one was closed
	return h, nil
}

// Headers adds headers, each "Key: Value", to all requests.
func (h *HTTP) Headers(list []string) {
	for _, header := range list {
		name, value, _ := strings.Cut(header, ":")
		value = strings.TrimSpace(value)
		h.header.Add(strings.TrimSpace(name), value)
		h.secrets = append(h.secrets, value)
		if _, token, ok := strings.Cut(value, " "); ok { // Bearer and the like
			h.secrets = append(h.secrets, token)
		}
	}
}

// Hide keeps a secret out of messages.
func (h *HTTP) Hide(secret string) { h.secrets = append(h.secrets, secret) }

// Basic signs in with a user name and a password.
func (h *HTTP) Basic(user, password string) {
	pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	h.header.Set("Authorization", "Basic "+pair)
	h.secrets = append(h.secrets, pair, password)
}

// Call is a request to the datasource.
type Call struct {
	Method  string // GET or POST; its Form is in the address or the body
	Path    string // below the datasource's address
	Form    url.Values
	Body    []byte // JSON, in place of the form
	Header  http.Header
	Base    *url.URL // another address than that of the datasource
	Host    string   // another host in the request than in the address
	Expr    string   // the query, which no message repeats
	Timeout time.Duration
	Read    func(io.Reader) error // decodes an answer of 200; its error is a *evaluate.Failure, or of a malformed answer
}

// Do makes a call. It returns how long that took.
func (h *HTTP) Do(ctx context.Context, c Call) (time.Duration, *evaluate.Failure) {
	r := egress.Request{Method: c.Method, Header: h.header.Clone(), Timeout: c.Timeout, MaxReply: MaxBytes}
	maps.Copy(r.Header, c.Header)
	r.Host = c.Host
	u := cmp.Or(c.Base, h.base).JoinPath(c.Path)
	switch {
	case c.Body != nil:
		r.Body = c.Body
		r.Header.Set("Content-Type", "application/json")
	case c.Method == http.MethodGet:
		query := u.Query()
		for name, values := range c.Form {
			query[name] = values
		}
		u.RawQuery = query.Encode()
	default:
		r.Body = []byte(c.Form.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	r.URL = u.String()
	r.Read = func(a egress.Attempt, body io.Reader) error {
		if a.Status == http.StatusOK {
			return c.Read(body)
		}
		return h.refused(a, body, c.Expr)
	}
	a, err := h.out.Do(ctx, r)
	switch err := err.(type) { //nolint:errorlint // none is wrapped
	case nil:
		return a.Took, nil
	case *evaluate.Failure:
		err.Message = cut(err.Message)
		return a.Took, err
	case *egress.Failure:
		return a.Took, FailureOf(err)
	}
	return a.Took, h.failure(evaluate.Unreachable, PhaseQuery, "answered what is not an answer of "+h.kind)
}

// failure returns a failure whose message begins with the host.
func (h *HTTP) failure(kind evaluate.Kind, phase, message string) *evaluate.Failure {
	return &evaluate.Failure{Kind: kind, Phase: phase, Message: cut(h.base.Host + " " + message)}
}

// statuses maps the statuses of refusals to failures. The others are Unreachable.
var statuses = map[int]evaluate.Failure{
	http.StatusBadRequest:            {Kind: evaluate.BadQuery, Phase: PhaseQuery},
	http.StatusUnauthorized:          {Kind: evaluate.Denied, Phase: PhaseSignIn, Message: "it refused the sign-in"},
	http.StatusForbidden:             {Kind: evaluate.Denied, Phase: PhaseSignIn, Message: "the sign-in may not do this"},
	http.StatusNotFound:              {Message: "the address may lack a path, or be that of another server"},
	http.StatusRequestTimeout:        {Kind: evaluate.Timeout, Phase: PhaseQuery},
	http.StatusRequestEntityTooLarge: {Kind: evaluate.TooMuch, Phase: PhaseQuery},
	http.StatusUnprocessableEntity:   {Kind: evaluate.BadQuery, Phase: PhaseQuery},
	http.StatusTooManyRequests:       {Kind: evaluate.TooMuch, Phase: PhaseQuery, Message: "it has too many requests"},
	http.StatusGatewayTimeout:        {Kind: evaluate.Timeout, Phase: PhaseQuery},
}

// refusal is the body of an error, as Prometheus, Elasticsearch and SLS have it.
type refusal struct {
	Type    string `json:"errorType"`
	Error   any    `json:"error"`
	Message string `json:"errorMessage"`
}

func (r refusal) text() string {
	switch e := r.Error.(type) {
	case string:
		return e
	case map[string]any:
		reason, _ := e["reason"].(string)
		return reason
	}
	return r.Message
}

// refused returns the failure of an answer that is not 200. Only of a refused query it repeats what the datasource wrote: that
// names the mistake. Other texts are of servers that broke, and may hold anything.
func (h *HTTP) refused(a egress.Attempt, body io.Reader, expr string) error {
	raw, err := io.ReadAll(io.LimitReader(body, egress.MaxReply))
	if err != nil {
		return err
	}
	var said refusal
	if json.Unmarshal(raw, &said) != nil && strings.HasPrefix(a.Header.Get("Content-Type"), "text/plain") {
		said.Message = string(raw)
	}
	f := statuses[a.Status]
	switch {
	case f.Kind == evaluate.BadQuery && said.text() == "":
		f = evaluate.Failure{Message: "not as " + h.kind + " does"}
	case f.Kind == evaluate.BadQuery:
		f.Message = scrub(said.text(), expr, h.secrets)
	case said.Type == "timeout":
		f = evaluate.Failure{Kind: evaluate.Timeout, Phase: PhaseQuery, Message: "the query took too long there"}
	case a.Status == http.StatusServiceUnavailable && said.Type != "":
		f = evaluate.Failure{Kind: evaluate.Partial, Phase: PhaseQuery, Message: "a part of the data cannot be read there"}
	case a.Status/100 == 3:
		f.Message = "redirects are not followed"
	}
	if f.Kind == "" {
		f.Kind, f.Phase = evaluate.Unreachable, PhaseQuery
	}
	message := fmt.Sprintf("answered %d", a.Status)
	if f.Message != "" {
		message += ": " + f.Message
	}
	return h.failure(f.Kind, f.Phase, message)
}

// Phases returns the phases of a test, the last of which is this call.
func (h *HTTP) Phases(ctx context.Context, c Call) []Phase {
	address, config := h.base.Host, (*tls.Config)(nil)
	if h.base.Scheme == "https" {
		config = h.tls
	}
	if h.base.Port() == "" {
		address += map[string]string{"http": ":80", "https": ":443"}[h.base.Scheme]
	}
	phases, ok := Connect(ctx, h.out, address, config)
	if !ok {
		return phases
	}
	took, failed := h.Do(ctx, c)
	if failed != nil && failed.Phase == PhaseSignIn {
		return append(phases, Failed(failed, took))
	}
	phases = append(phases, Phase{Name: PhaseSignIn, OK: true})
	if failed != nil {
		return append(phases, Failed(failed, took))
	}
	return append(phases, Phase{Name: PhaseQuery, OK: true, TookMS: took.Milliseconds()})
}
