package nodes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
)

// Balancer is a small HTTP proxy before the nodes: in turn, and the next one when a node takes no connections.
type Balancer struct {
	*httptest.Server
	Passed atomic.Int64 // requests that were passed to another node

	hosts []string
	next  atomic.Uint64
}

// NewBalancer starts a proxy before some nodes.
func NewBalancer(nodes []*Node) (*Balancer, error) {
	b := &Balancer{}
	for _, n := range nodes {
		u, err := url.Parse(n.URL)
		if err != nil {
			return nil, err
		}
		b.hosts = append(b.hosts, u.Host)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	b.Server = httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetXForwarded() },
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) { return b.send(transport, r) }),
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, `{"error": {"code": "BadGateway", "message": "no node answered"}}`)
		},
	})
	return b, nil
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// send tries the nodes in turn. A request that a node may have read is not sent to another one.
func (b *Balancer) send(transport http.RoundTripper, r *http.Request) (reply *http.Response, err error) {
	for range b.hosts {
		host := b.hosts[b.next.Add(1)%uint64(len(b.hosts))]
		r.URL.Scheme = "http"
		r.URL.Host = host
		r.Host = host
		reply, err = transport.RoundTrip(r)
		if !refused(err) {
			return reply, err
		}
		b.Passed.Add(1)
	}
	return nil, err
}
