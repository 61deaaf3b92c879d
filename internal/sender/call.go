package sender

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
)

// Call is one request to a service that replies in JSON.
type Call struct {
	Method   string // POST when empty
	URL      string
	Header   http.Header
	Body     any        // sent as JSON; nil: none
	Form     url.Values // sent as a form instead of Body
	Secrets  []string   // never repeated from replies; of a URL its long parts neither
	Insecure bool       // accept any certificate
}

// Reply is a service's reply to a call, decoded from JSON. Err returns what the service reports as wrong, or nil.
// If the reply was not JSON, Err is called on the value as it was before.
type Reply interface{ Err() *Error }

// Do makes a call. It fails if either the HTTP status or the error code of the service reports failure. The reply is read
// after a failure too, because it may state when to retry.
func (c Call) Do(ctx context.Context, out *egress.Client, reply Reply) (Receipt, error) {
	request := egress.Request{Method: c.Method, URL: c.URL, Header: http.Header{}, Insecure: c.Insecure}
	for name, values := range c.Header {
		request.Header[name] = values
	}
	switch {
	case c.Form != nil:
		request.Body = []byte(c.Form.Encode())
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case c.Body != nil:
		body, err := json.Marshal(c.Body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return Receipt{}, &Error{Message: sentence.Raw(err.Error())}
		}
		request.Body = body
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return Judge(reply, c.Secrets)(out.Do(ctx, request))
}

// Judge returns a function that evaluates the result of a request to a service that replies in JSON. Secrets are
// replaced in the receipt and the error, and before either is cut, because half a secret is still one.
func Judge(reply Reply, secrets []string) func(egress.Attempt, error) (Receipt, error) {
	return func(a egress.Attempt, failure error) (Receipt, error) {
		hide := hider(secrets)
		raw := a.Body
		a.Body = []byte(hide.Replace(string(raw)))
		receipt, err := Of(a, failure)
		if failure == nil && reply != nil {
			// A reply that cannot be decoded stays empty: its Err decides whether that is a failure.
			_ = json.Unmarshal(raw, reply, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			err = combine(err, reply.Err())
		}
		var failed *Error
		if errors.As(err, &failed) {
			failed.Message = failed.Message.Edit(func(text string) string { return Cut(hide.Replace(text), 300) })
		}
		return receipt, err
	}
}

// combine returns one error of those that the HTTP status and the reply state. If both failed, the text is that of
// the status; the attempt may be retried if either allows it, after the longer pause.
func combine(status error, reply *Error) error {
	var failed *Error
	switch {
	case reply == nil:
		return status
	case !errors.As(status, &failed):
		return reply
	}
	failed.Retry = failed.Retry || reply.Retry
	failed.After = max(failed.After, reply.After)
	return failed
}

// Refused returns the error for a call that a service refused with an error code of its own.
func Refused(code any, text string, retry bool) *Error {
	return &Error{Retry: retry, Message: sentence.New("refused_with", code, strings.Join(strings.Fields(text), " "))}
}

// Unreadable returns the error for a reply that is not the service's: another program answered at that address.
func Unreadable() *Error {
	return &Error{Message: sentence.New("not_the_service")}
}

// Retry reports whether a retry may succeed.
func Retry(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Retry
}

// Secrets returns the members of a chat that must never be repeated.
func (c Chat) Secrets() []string { return []string{c.Token, c.URL, c.VerifyToken, c.SignSecret} }

// Hide replaces secrets in a text that is shown to people by ***. Secrets of fewer than four characters stay,
// because they occur in every text.
func Hide(text string, secrets ...string) string { return hider(secrets).Replace(text) }

// hider returns a replacer of secrets and of the parts of their paths and queries that have 8 characters or more,
// because these may be secrets themselves. Hosts are shown.
func hider(secrets []string) *strings.Replacer {
	hidden := []string{}
	for _, s := range secrets {
		if len(s) < 4 {
			continue
		}
		hidden = append(hidden, s, url.QueryEscape(s))
		parts := s
		if u, err := url.Parse(s); err == nil && u.Host != "" {
			parts = u.Path + "?" + u.RawQuery
		}
		for _, part := range strings.FieldsFunc(parts, func(r rune) bool { return strings.ContainsRune("/?&=:", r) }) {
			if len(part) >= 8 {
				hidden = append(hidden, part)
			}
		}
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // longest first: it may contain others
	pairs := []string{}
	for _, s := range hidden {
		pairs = append(pairs, s, "***")
	}
	return strings.NewReplacer(pairs...)
}

// With returns an address with more parameters in its query. An address that cannot be parsed is returned as it
// is; the outbound client refuses it.
func With(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	query := u.Query()
	for name, values := range more {
		query[name] = values
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// Base returns the base URL that was set, without a slash at its end, or else the service's own.
func Base(set, own string) string {
	if set == "" {
		return own
	}
	return strings.TrimRight(set, "/")
}
