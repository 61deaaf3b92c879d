// Package egress makes all outgoing connections. It checks the address that is dialled, after DNS, so that no
// name, redirect or unusual spelling leads a request to addresses that only the server can reach: the machine
// itself, or a cloud's metadata service.
//
// It must never follow a redirect, use a proxy of the environment, or read a reply without limit.
package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
)

// Client makes requests and connections. It is safe for concurrent use.
type Client struct {
	timeout time.Duration
	dialer  net.Dialer
	strict  *http.Client
	lax     *http.Client // accepts any certificate
}

// New returns a client that dials what the policy permits.
func New(p Policy) *Client {
	c := &Client{timeout: cmp.Or(p.Timeout, 10*time.Second)}
	c.dialer = net.Dialer{Timeout: c.timeout, ControlContext: p.permit}
	c.strict = c.http(&tls.Config{MinVersion: tls.VersionTLS12}, keptConns)
	c.lax = c.http(&tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}, keptConns)
	return c
}

// Own returns a client under the same policy with TLS settings and connections of its own, of which it keeps so many to a
// host. The caller closes it.
func (c *Client) Own(config *tls.Config, kept int) *Client {
	own := &Client{timeout: c.timeout, dialer: c.dialer}
	own.strict = own.http(config, kept)
	own.lax = own.strict
	return own
}

// Close closes the connections that no request uses.
func (c *Client) Close() {
	c.strict.CloseIdleConnections()
	c.lax.CloseIdleConnections()
}

func (c *Client) http(config *tls.Config, kept int) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:       nil, // a proxy would dial for us, past the policy
			DialContext: c.DialContext, TLSClientConfig: config,
			TLSHandshakeTimeout: c.timeout, MaxIdleConns: 256, MaxIdleConnsPerHost: kept, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
	}
}

// keptConns is how many connections to a host are kept for the next requests: as many as a webhook has at once.
const keptConns = 16

// closedBefore reports whether the host closed a kept connection just before the request was written to it: it has not read
// the request. The library itself repeats only requests without an effect.
func closedBefore(err error) bool {
	return err != nil && strings.HasSuffix(err.Error(), "http: server closed idle connection")
}

// HTTP returns a client for libraries that make requests themselves. What holds for Do holds for it: what is dialled, the
// time of a request, no redirects, and no reply longer than MaxReply.
func (c *Client) HTTP() *http.Client {
	return &http.Client{CheckRedirect: c.strict.CheckRedirect, Transport: cut{c.strict.Transport}, Timeout: c.timeout}
}

// cut cuts replies off at MaxReply.
type cut struct{ http.RoundTripper }

func (t cut) RoundTrip(r *http.Request) (*http.Response, error) {
	reply, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		reply.Body = cutBody{io.LimitReader(reply.Body, MaxReply), reply.Body}
	}
	return reply, err
}

type cutBody struct {
	io.Reader
	io.Closer
}

// DialContext connects to an address, host:port, that the policy permits. The error is a *Failure.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	began := time.Now()
	conn, err := c.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, failure(err, address, connecting, time.Since(began))
	}
	return conn, nil
}

// Request is an HTTP request.
type Request struct {
	Method   string // POST when empty
	URL      string
	Host     string // of the request, in place of the URL's
	Header   http.Header
	Body     []byte
	Timeout  time.Duration // of the whole request; the policy's when 0
	Insecure bool          // accept any certificate

	// Read reads the reply's body as it arrives, in place of Attempt.Body: MaxReply bytes at most. Its error is that of Do,
	// unless the body could not be read.
	Read     func(a Attempt, body io.Reader) error
	MaxReply int64
}

// Attempt is the result of a request. When the reply was cut off, it holds what had arrived.
type Attempt struct {
	Status int // 0: there was no reply
	Header http.Header
	Body   []byte // at most MaxReply
	Took   time.Duration
}

// MaxReply is how much of a reply's body is read, in bytes.
const MaxReply = 64 << 10

// Do sends a request and reads the reply. A reply of any status is no error; the error is a *Failure, or that of Read.
func (c *Client) Do(ctx context.Context, r Request) (a Attempt, err error) {
	var came progress
	ctx, cancel := context.WithTimeout(came.trace(ctx), cmp.Or(r.Timeout, c.timeout))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, cmp.Or(r.Method, http.MethodPost), r.URL, bytes.NewReader(r.Body))
	if err != nil || request.URL.Host == "" || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return a, &Failure{Malformed, sentence.New("a_not_http")}
	}
	for name, values := range r.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	request.Host = cmp.Or(r.Host, request.Host)
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "Tocsin")
	}
	client := c.strict
	if r.Insecure {
		client = c.lax
	}
	began := time.Now()
	answer, err := client.Do(request)
	for again := 0; again < keptConns && closedBefore(err); again++ {
		request.Body = io.NopCloser(bytes.NewReader(r.Body))
		answer, err = client.Do(request)
	}
	if err != nil {
		a.Took = time.Since(began)
		return a, failure(err, request.URL.Host, came.Load(), a.Took)
	}
	defer answer.Body.Close()
	a.Status, a.Header = answer.StatusCode, answer.Header
	if r.Read != nil {
		body := &bounded{from: answer.Body, left: r.MaxReply}
		err = r.Read(a, body)
		a.Took = time.Since(began)
		return a, body.failure(err, request.URL.Host, r.MaxReply, a.Took)
	}
	a.Body, err = io.ReadAll(io.LimitReader(answer.Body, MaxReply))
	a.Took = time.Since(began)
	if err != nil {
		return a, failure(err, request.URL.Host, answered, a.Took)
	}
	return a, nil
}
