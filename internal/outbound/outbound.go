// Package outbound is the only way out to the network. It checks the address that is really dialled, so that
// no name, redirect or odd spelling leads a request to where the server alone can reach: the machine itself,
// or a cloud's metadata.
//
// It must never follow a redirect, ask a proxy of the environment, or read a reply without end.
package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"
)

// Policy says which addresses may be dialled. Private networks may unless RefusePrivate is set, because the
// chats and mail servers of those who host this themselves are there; loopback, link-local, multicast and
// unspecified addresses may only when Allow has them.
type Policy struct {
	Allow         []netip.Prefix
	RefusePrivate bool
}

// Client makes requests and connections. It is safe for concurrent use.
type Client struct {
	policy Policy
	dialer net.Dialer
	strict *http.Client
	lax    *http.Client // accepts any certificate
}

// New makes a client.
func New(p Policy) *Client {
	c := &Client{policy: p}
	c.dialer = net.Dialer{Timeout: 10 * time.Second, ControlContext: func(_ context.Context, network, address string, _ syscall.RawConn) error {
		return c.permit(network, address)
	}}
	c.strict, c.lax = c.http(false), c.http(true)
	return c
}

func (c *Client) http(lax bool) *http.Client {
	return &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, DialContext: c.DialContext, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: lax},
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 4, MaxConnsPerHost: 16, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
	}
}

// DialContext connects to an address that the policy permits.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return c.dialer.DialContext(ctx, network, address)
}

// permit is asked with the address that is about to be dialled, after names have been looked up.
func (c *Client) permit(network, address string) error {
	if !strings.HasPrefix(network, "tcp") {
		return &refused{network + " is not permitted"}
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return &refused{"the address cannot be read"}
	}
	return c.policy.check(at.Addr())
}

type refused struct{ why string }

func (r *refused) Error() string { return r.why }

// Ranges beyond those that netip knows by name.
var (
	shared   = netip.MustParsePrefix("100.64.0.0/10")  // carriers
	nat64    = netip.MustParsePrefix("64:ff9b::/96")   // the last 32 bits are an IPv4 address
	six2four = netip.MustParsePrefix("2002::/16")      // bits 16 to 48 are one
	teredo   = netip.MustParsePrefix("2001::/32")      // hides one
	broad    = netip.MustParseAddr("255.255.255.255")  // everybody
	thisNet  = netip.MustParsePrefix("0.0.0.0/8")      // this host
	local64  = netip.MustParsePrefix("64:ff9b:1::/48") // local NAT64
)

func (p Policy) check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	for _, allowed := range p.Allow {
		if allowed.Contains(addr) {
			return nil
		}
	}
	if inner, ok := embedded(addr); ok {
		return p.check(inner)
	}
	switch {
	case addr.IsLoopback():
		return &refused{addr.String() + " is this machine (loopback)"}
	case addr.IsLinkLocalUnicast() || addr.IsLinkLocalMulticast() || addr.IsInterfaceLocalMulticast():
		return &refused{addr.String() + " is link-local"}
	case addr.IsUnspecified() || thisNet.Contains(addr):
		return &refused{addr.String() + " is no address of anybody"}
	case addr.IsMulticast() || addr == broad:
		return &refused{addr.String() + " is for many"}
	case teredo.Contains(addr) || local64.Contains(addr):
		return &refused{addr.String() + " is a tunnel"}
	case p.RefusePrivate && (addr.IsPrivate() || shared.Contains(addr)):
		return &refused{addr.String() + " is private"}
	}
	return nil
}

// embedded is the IPv4 address that some IPv6 addresses lead to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case addr.Is4():
	case nat64.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:16])), true
	case six2four.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	}
	return addr, false
}

// Request is what is sent.
type Request struct {
	Method   string // POST when empty
	URL      string
	Header   http.Header
	Body     []byte
	Timeout  time.Duration // for the whole; 10 s when 0
	Insecure bool          // accept any certificate
}

// Attempt is what came of it.
type Attempt struct {
	Status int
	Header http.Header
	Body   []byte // at most MaxReply
	Took   time.Duration
}

// MaxReply is how much of a reply is kept, in bytes.
const MaxReply = 64 << 10

// Failure is a request that got no answer. Its text never holds more of the address than the host.
type Failure struct {
	Phase   string // request, refused, dial, tls, timeout or read
	Message string
}

func (f *Failure) Error() string { return f.Message }

// Do sends a request and reads the reply. Any status is an answer; the error is a *Failure.
func (c *Client) Do(ctx context.Context, r Request) (a Attempt, err error) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, r.URL, bytes.NewReader(r.Body))
	if err != nil || request.URL.Host == "" || request.URL.Scheme != "http" && request.URL.Scheme != "https" {
		return a, &Failure{"request", "the address is not an http or https URL"}
	}
	for name, values := range r.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if request.Header.Get("User-Agent") == "" {
		request.Header.Set("User-Agent", "Tocsin")
	}
	client := c.strict
	if r.Insecure {
		client = c.lax
	}
	began := time.Now()
	answer, err := client.Do(request)
	if err != nil {
		a.Took = time.Since(began)
		return a, failure(err, request.URL.Host, timeout)
	}
	defer answer.Body.Close()
	a.Status, a.Header = answer.StatusCode, answer.Header
	a.Body, err = io.ReadAll(io.LimitReader(answer.Body, MaxReply))
	a.Took = time.Since(began)
	if err != nil {
		return a, failure(err, request.URL.Host, timeout)
	}
	return a, nil
}

// failure says in which phase a request failed, without its address, which may hold a secret.
func failure(err error, host string, timeout time.Duration) *Failure {
	var stop *refused
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var op *net.OpError
	var timed net.Error
	switch {
	case errors.As(err, &stop):
		return &Failure{"refused", fmt.Sprintf("%s must not be called: %s", host, stop.why)}
	case errors.As(err, &certificate) || errors.As(err, &record):
		return &Failure{"tls", fmt.Sprintf("%s: TLS: %v", host, inner(err))}
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout():
		return &Failure{"timeout", fmt.Sprintf("%s did not answer within %s", host, timeout)}
	case errors.As(err, &op) && op.Op == "dial":
		return &Failure{"dial", fmt.Sprintf("%s cannot be reached: %v", host, op.Err)}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &Failure{"read", host + " closed the connection before it answered"}
	}
	return &Failure{"read", fmt.Sprintf("%s: %v", host, inner(err))}
}

func inner(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}
