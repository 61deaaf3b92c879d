// Package elasticsearch asks Elasticsearch with SQL. An answer has pages; the server keeps its place in a cursor.
//
// It must never return some pages as the whole, or leave a cursor open. Answers of a part of the shards are errors of the
// server's SQL by default.
package elasticsearch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/sqldb"
)

// block is the block of elasticsearch in a payload.
type block struct {
	Deployment   string   `json:"deployment"`
	TimeoutMills int64    `json:"timeout_mills"`
	APIKey       string   `json:"api_key"`
	Username     string   `json:"username"`
	Password     string   `json:"password"`
	ServiceToken string   `json:"service_token"`
	CA           string   `json:"tls_ca"`
	Fingerprint  string   `json:"certificate_fingerprint"`
	Headers      []string `json:"headers"`
}

type client struct {
	nodes   []*querier.HTTP
	timeout int64
}

// Open returns the querier of a datasource, whose address is a node, or several with commas.
func Open(d querier.Datasource, out *egress.Client) (querier.Querier, *evaluate.Failure) {
	var b block
	config, failed := sqldb.Parse(d, &b, func() (*tls.Config, error) { return querier.TLS{CA: b.CA}.Config() })
	if failed != nil {
		return nil, failed
	}
	if b.Fingerprint != "" {
		config.InsecureSkipVerify = true // the fingerprint is in the place of the chain and the name
		config.VerifyConnection = fingerprint(b.Fingerprint)
	}
	c := client{timeout: b.TimeoutMills}
	for node := range strings.SplitSeq(d.Address, ",") {
		node = strings.TrimSpace(node)
		switch {
		case strings.Contains(node, "://"):
		case b.CA != "" || b.Fingerprint != "":
			node = "https://" + node
		default:
			node = "http://" + node
		}
		h, failed := querier.NewHTTP("elasticsearch", node, config, out)
		if failed != nil {
			return nil, failed
		}
		h.Headers(b.Headers)
		switch {
		case b.Deployment == "cloud":
			key := b.APIKey
			if strings.Contains(key, ":") { // the id and the key, as they were shown
				key = base64.StdEncoding.EncodeToString([]byte(key))
			}
			h.Headers([]string{"Authorization: ApiKey " + key})
		case b.ServiceToken != "":
			h.Headers([]string{"Authorization: Bearer " + b.ServiceToken})
		case b.Username != "":
			h.Basic(b.Username, b.Password)
		}
		c.nodes = append(c.nodes, h)
	}
	return c, nil
}

// fingerprint returns the check of a chain that has a certificate with this SHA-256.
func fingerprint(want string) func(tls.ConnectionState) error {
	want = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(want), ":", ""))
	return func(s tls.ConnectionState) error {
		if slices.ContainsFunc(s.PeerCertificates, func(c *x509.Certificate) bool {
			sum := sha256.Sum256(c.Raw)
			return hex.EncodeToString(sum[:]) == want
		}) {
			return nil
		}
		return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: errFingerprint}
	}
}

var errFingerprint = errors.New("no certificate of the server has the certificate_fingerprint")

// page is a page of an answer.
type page struct {
	Columns []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"columns"`
	Rows   *[][]any `json:"rows"`
	Cursor string   `json:"cursor"`
}

// read reads a page. A page has rows, which may be none.
func (p *page) read(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if !json.Valid(raw) {
		return querier.ErrMalformed
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(p)
	if err == nil && p.Rows == nil {
		err = querier.ErrMalformed
	}
	return err
}

// call returns a request with a body of JSON.
func call(a querier.Ask, path string, wait time.Duration, body map[string]any, read func(io.Reader) error) querier.Call {
	text, _ := json.Marshal(body) //nolint:errchkjson // texts and numbers
	return querier.Call{Method: http.MethodPost, Path: path, Body: text, Expr: a.Expr, Timeout: wait, Read: read}
}

// first returns the request of the first page.
func first(a querier.Ask, wait time.Duration, into *page) querier.Call {
	bound := fmt.Sprintf("%dms", wait.Milliseconds())
	return call(a, "/_sql", wait, map[string]any{
		"query": strings.TrimRight(a.Expr, "; \t\r\n"), "fetch_size": min(a.Rows()+1, 1000), "time_zone": "Z",
		"request_timeout": bound, "page_timeout": bound,
	}, into.read)
}

// Query asks for all pages.
func (c client) Query(ctx context.Context, a querier.Ask) ([]evaluate.Row, *evaluate.Failure) {
	wait := a.WaitOf(c.timeout)
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var p page
	node, failed := c.begin(within, first(a, wait, &p))
	if failed != nil {
		return nil, failed
	}
	var names, types []string
	for _, column := range p.Columns {
		names = append(names, column.Name)
		types = append(types, column.Type)
	}
	t, failed := sqldb.NewTable(a, names, types)
	for failed == nil {
		failed = t.AddAll(*p.Rows)
		if failed != nil || p.Cursor == "" {
			break
		}
		next := page{}
		_, failed = node.Do(within, call(a, "/_sql", wait, map[string]any{"cursor": p.Cursor}, next.read))
		if failed == nil {
			p = next
		}
	}
	if p.Cursor != "" { // it holds memory there
		ignore := func(io.Reader) error { return nil }
		_, _ = node.Do(ctx, call(a, "/_sql/close", time.Second, map[string]any{"cursor": p.Cursor}, ignore))
	}
	if failed != nil {
		return nil, failed
	}
	return t.Rows, nil
}

// begin makes a request to the first node that can be reached.
func (c client) begin(ctx context.Context, request querier.Call) (node *querier.HTTP, failed *evaluate.Failure) {
	for _, node = range c.nodes {
		_, failed = node.Do(ctx, request)
		if failed == nil || !slices.Contains([]string{querier.PhaseResolve, querier.PhaseDial, querier.PhaseTLS}, failed.Phase) {
			break
		}
	}
	return node, failed
}

// Test asks the first node for a constant, and what the user may do.
func (c client) Test(ctx context.Context) []querier.Phase {
	phases := c.nodes[0].Phases(ctx, first(querier.Ask{Expr: "SELECT 1"}, querier.DefaultTimeout, new(page)))
	if last := phases[len(phases)-1]; !last.OK {
		return phases
	}
	var may struct {
		Cluster []string `json:"cluster"`
		Indices []struct {
			Privileges []string `json:"privileges"`
		} `json:"indices"`
	}
	read := func(r io.Reader) error { return json.NewDecoder(r).Decode(&may) }
	took, failed := c.nodes[0].Do(ctx, querier.Call{Method: http.MethodGet, Path: "/_security/user/_privileges", Read: read})
	p := querier.Phase{Name: querier.PhaseRights, OK: true, TookMS: took.Milliseconds()}
	if failed != nil {
		p.Message = "what the role may do is not known: " + failed.Message
		return append(phases, p)
	}
	rights := may.Cluster
	for _, index := range may.Indices {
		rights = append(rights, index.Privileges...)
	}
	for _, right := range rights {
		if !strings.HasPrefix(right, "monitor") && !slices.Contains([]string{"none", "read", "view_index_metadata"}, right) {
			p.OK = false
			p.Message = fmt.Sprintf("this role has the right %.40q: give it one that may only read", right)
		}
	}
	return append(phases, p)
}

// Close closes the connections.
func (c client) Close() error {
	for _, node := range c.nodes {
		_ = node.Close() // idle connections alone
	}
	return nil
}
