// Package sls asks Alibaba Cloud's Simple Log Service with SQL about log lines. Its form follows the public documentation of
// GetLogsV3, ListProject and ListLogStores; no test has asked the service itself.
//
// It must never send the secret of the key, which signs each request, or a request to a host outside of the endpoint.
package sls

import (
	"context"
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // the service asks for it
	"crypto/sha1" //nolint:gosec // as above
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of sls in a payload.
type block struct {
	ID      string   `json:"access_key_id"`
	Secret  string   `json:"access_key_secret"`
	Headers []string `json:"headers"`
}

type client struct {
	http *querier.HTTP
	base *url.URL // of the endpoint
	block
}

// Open returns the querier of a datasource, whose address is an endpoint: https, or http at a port other than 443.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	c := client{base: &url.URL{Scheme: "https", Host: d.Address}}
	if port := c.base.Port(); port != "" && port != "443" {
		c.base.Scheme = "http"
	}
	config, failed := sqldb.Parse(d, &c.block, querier.TLS{}.Config)
	if failed != nil {
		return nil, failed
	}
	h, failed := querier.NewHTTP("sls", c.base.String(), config, out)
	if failed != nil {
		return nil, failed
	}
	h.Headers(c.block.Headers)
	h.Hide(c.Secret)
	c.http = h
	return c, nil
}

// name is the name of a project or a logstore; a project is a part of the host.
var name = regexp.MustCompile(`\A[a-zA-Z0-9][a-zA-Z0-9_-]{1,62}\z`)

// progress is how often an answer that is not complete is asked for again.
const progress = 10

// answer is the answer of GetLogsV3.
type answer struct {
	Meta *struct {
		Progress string   `json:"progress"`
		HasSQL   bool     `json:"hasSQL"`
		Limited  int      `json:"limited"` // rows of an answer at most, from the query or by default
		Keys     []string `json:"keys"`
	} `json:"meta"`
	Data []map[string]string `json:"data"`
}

// Query asks a logstore. The service goes on with the same query until its answer is complete.
func (c client) Query(ctx context.Context, a querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	span, failed := a.Span("sls", 15*time.Minute)
	if failed != nil {
		return nil, failed
	}
	project, store := a.Args["sls.project"], a.Args["sls.logstore"]
	if !name.MatchString(project) || !name.MatchString(store) {
		return nil, querier.Unsupported("sls.project and sls.logstore must be the names of a project and a logstore, got %.70q and %.70q",
			project, store)
	}
	to := a.AsOf
	if to.IsZero() {
		to = time.Now()
	}
	body, _ := json.Marshal(map[string]any{ //nolint:errchkjson // texts and numbers
		"from": to.Add(-span).Unix(), "to": to.Unix(), "query": a.Expr, "line": 100, "offset": 0, "powerSql": a.Args["sls.powersql"] == "true",
	})
	ctx, cancel := context.WithTimeout(ctx, a.Wait())
	defer cancel()
	var found answer
	for range progress {
		found = answer{}
		_, failed = c.http.Do(ctx, c.signed(http.MethodPost, project, "/logstores/"+store+"/logs", nil, body, a, readInto(&found)))
		if failed != nil || found.Meta != nil && found.Meta.Progress == "Complete" {
			break
		}
	}
	if failed != nil {
		return nil, failed
	}
	return rows(a, found)
}

// rows returns the rows of an answer. The columns that the service adds are labels only where the query names them.
func rows(a querier.Ask, found answer) ([]evaluate.Row, *evaluate.Failure) {
	refused := func(kind evaluate.Kind, message string) *evaluate.Failure {
		return &evaluate.Failure{Kind: kind, Phase: querier.PhaseQuery, Message: message}
	}
	switch {
	case found.Meta == nil:
		return nil, refused(evaluate.Unreachable, "the answer is not one of sls")
	case found.Meta.Progress != "Complete":
		return nil, refused(evaluate.Partial, "the service has not searched all lines in time")
	case !found.Meta.HasSQL:
		return nil, refused(evaluate.BadQuery, "the query has no SQL: end it with | SELECT ...")
	}
	var names []string
	for _, row := range found.Data {
		for key := range row {
			own := key == "__time__" || key == "__source__"
			if !slices.Contains(names, key) && (!own || slices.Contains(slices.Concat(a.LabelFields, a.ValueFields), key)) {
				names = append(names, key)
			}
		}
	}
	if len(found.Data) == 0 {
		return []evaluate.Row{}, nil
	}
	slices.Sort(names)
	t, failed := sqldb.NewTable(a, names, slices.Repeat([]string{"NUMBER"}, len(names))) // all values are texts
	for _, row := range found.Data {
		values := make([]any, len(names))
		for i, key := range names {
			if text, has := row[key]; has && text != "null" {
				values[i] = text
			}
		}
		if failed == nil {
			failed = t.Add(values)
		}
	}
	if failed != nil {
		return nil, failed
	}
	if limit := found.Meta.Limited; limit > 0 && len(found.Data) >= limit {
		f := refused(evaluate.TooMuch, fmt.Sprintf(
			"the query returns %d rows, its limit: what is missing among them is not known; give it a larger LIMIT", limit))
		f.Cut = true
		return t.Rows, f
	}
	return t.Rows, nil
}

func readInto(into any) func(io.Reader) error {
	return func(r io.Reader) error {
		raw, err := io.ReadAll(r)
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		return err
	}
}

// signed returns a request with the signature of version 1. A project's host is below that of the endpoint; where the endpoint
// is an address, the host is named in the request alone.
func (c client) signed(method, project, path string, form url.Values, body []byte, a querier.Ask, read func(io.Reader) error) querier.Call {
	call := querier.Call{Method: method, Path: path, Form: form, Body: body, Expr: a.Expr, Timeout: a.Wait(), Read: read}
	if project != "" {
		call.Host = project + "." + c.base.Host
		if _, err := netip.ParseAddr(c.base.Hostname()); err != nil {
			call.Base = &url.URL{Scheme: c.base.Scheme, Host: call.Host}
		}
	}
	h := http.Header{
		"Date": {time.Now().UTC().Format(http.TimeFormat)}, "X-Log-Apiversion": {"0.6.0"}, "X-Log-Signaturemethod": {"hmac-sha1"},
		"X-Log-Bodyrawsize": {strconv.Itoa(len(body))},
	}
	sum, kind := "", ""
	if body != nil {
		sum, kind = fmt.Sprintf("%X", md5.Sum(body)), "application/json" //nolint:gosec // as above
		h.Set("Content-Md5", sum)
	}
	signer := hmac.New(sha1.New, []byte(c.Secret))
	fmt.Fprintf(signer, "%s\n%s\n%s\n%s\n%s\n%s", method, sum, kind, h.Get("Date"), canonicalHeaders(h), resource(path, form))
	h.Set("Authorization", "LOG "+c.ID+":"+base64.StdEncoding.EncodeToString(signer.Sum(nil)))
	call.Header = h
	return call
}

func canonicalHeaders(h http.Header) string {
	var lines []string
	for name, values := range h {
		name = strings.ToLower(name)
		if strings.HasPrefix(name, "x-log-") || strings.HasPrefix(name, "x-acs-") {
			lines = append(lines, name+":"+values[0])
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func resource(path string, form url.Values) string {
	var pairs []string
	for name, values := range form {
		pairs = append(pairs, name+"="+values[0])
	}
	if len(pairs) == 0 {
		return path
	}
	slices.Sort(pairs)
	return path + "?" + strings.Join(pairs, "&")
}

// List returns the names of projects, or of the logstores of one.
func (c client) List(ctx context.Context, project, text string, offset, size int64) ([]string, *evaluate.Failure) {
	if project != "" && !name.MatchString(project) {
		return nil, querier.Unsupported("%.70q is not the name of a project", project)
	}
	var found struct {
		Projects []struct {
			Name string `json:"projectName"`
		} `json:"projects"`
		Stores []string `json:"logstores"`
	}
	form := url.Values{"offset": {strconv.FormatInt(offset, 10)}, "size": {strconv.FormatInt(size, 10)}}
	path := "/"
	if project != "" {
		path = "/logstores"
	} else if text != "" {
		form.Set("projectName", text)
	}
	_, failed := c.http.Do(ctx, c.signed(http.MethodGet, project, path, form, nil, querier.Ask{}, readInto(&found)))
	names := append([]string{}, found.Stores...)
	for _, p := range found.Projects {
		names = append(names, p.Name)
	}
	return names, failed
}

// Test lists a project. What the key may do is in policies that it cannot read.
func (c client) Test(ctx context.Context) []querier.Phase {
	form := url.Values{"offset": {"0"}, "size": {"1"}}
	phases := c.http.Phases(ctx, c.signed(http.MethodGet, "", "/", form, nil, querier.Ask{}, readInto(new(struct{}))))
	if !phases[len(phases)-1].OK {
		return phases
	}
	return append(phases, querier.Phase{
		Name: querier.PhaseRights, OK: true, Message: "what the key may do is not known: give it a policy such as AliyunLogReadOnlyAccess",
	})
}

// Close closes the connections.
func (c client) Close() error { return c.http.Close() }
