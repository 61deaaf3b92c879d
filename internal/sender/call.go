package sender

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/egress"
)

// Call is one request to a service that speaks JSON.
type Call struct {
	Method   string // POST when empty
	URL      string
	Header   http.Header
	Body     any      // nil: none
	Secrets  []string // what must not be repeated from replies; a URL stands for its long parts as well
	Insecure bool     // accept any certificate
}

// Reply is a service's own word on a call, read from JSON. Err says what is wrong with it, nil when nothing
// is; a reply that was not JSON is asked with what it had before.
type Reply interface{ Err() *Error }

// Do makes a call. Of the reply's word and HTTP's status either may fail it; the word is heard on failures
// too, as it may tell more about trying again.
func (c Call) Do(ctx context.Context, out *egress.Client, reply Reply) (Receipt, error) {
	request := egress.Request{Method: c.Method, URL: c.URL, Header: http.Header{}, Insecure: c.Insecure}
	for name, values := range c.Header {
		request.Header[name] = values
	}
	if c.Body != nil {
		body, err := json.Marshal(c.Body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return Receipt{}, &Error{Message: err.Error()}
		}
		request.Body = body
		request.Header.Set("Content-Type", "application/json; charset=utf-8")
	}
	return Judge(reply, c.Secrets)(out.Do(ctx, request))
}

// Judge reads what came of a request to a service that answers in JSON, and hides secrets in what it gives:
// before anything is cut, as half a secret is still one.
func Judge(reply Reply, secrets []string) func(egress.Attempt, error) (Receipt, error) {
	return func(a egress.Attempt, failure error) (Receipt, error) {
		hide := hider(secrets)
		raw := a.Body
		a.Body = []byte(hide.Replace(string(raw)))
		receipt, err := Of(a, failure)
		if failure == nil && reply != nil {
			// What cannot be read stays empty: the reply itself knows whether it can do without.
			_ = json.Unmarshal(raw, reply, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			err = weigh(err, reply.Err())
		}
		var failed *Error
		if errors.As(err, &failed) {
			failed.Message = Cut(hide.Replace(failed.Message), 300)
		}
		return receipt, err
	}
}

func weigh(status error, word *Error) error {
	var failed *Error
	switch {
	case word == nil:
		return status
	case !errors.As(status, &failed):
		return word
	}
	failed.Retry = failed.Retry || word.Retry
	failed.After = max(failed.After, word.After)
	return failed
}

// Refused is the error of a service that gave a code of its own for why.
func Refused(code any, text string, retry bool) *Error {
	return &Error{Retry: retry, Message: fmt.Sprintf("it refused with %v: %s", code, strings.Join(strings.Fields(text), " "))}
}

// Unreadable is the error of a reply that is not the service's: something else answered at that address.
func Unreadable() *Error {
	return &Error{Message: "what answered is not the service: its reply cannot be read"}
}

// Retry says whether trying again may help.
func Retry(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Retry
}

// Secrets are what must not be repeated about a chat.
func (c Chat) Secrets() []string { return []string{c.Token, c.URL, c.VerifyToken, c.SignSecret} }

// Hide takes secrets out of a text that is shown to people. Secrets of fewer than four characters stay: they
// are in every text.
func Hide(text string, secrets ...string) string { return hider(secrets).Replace(text) }

// hider replaces secrets, and the parts of paths and queries that are long enough to be one. Hosts are told.
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
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // the longest first: it may hold others
	pairs := []string{}
	for _, s := range hidden {
		pairs = append(pairs, s, "***")
	}
	return strings.NewReplacer(pairs...)
}

// With is an address with more in its query. One that cannot be read is given back as it is, for the way
// out to refuse.
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

// Base is where a service is: as it was set, without a slash at its end, or its own address.
func Base(set, own string) string {
	if set == "" {
		return own
	}
	return strings.TrimRight(set, "/")
}
