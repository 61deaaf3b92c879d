package api

import (
	"net/http"
	"net/netip"
	"time"
)

// forwarder is a proxy that forwards calls and is not trusted.
type forwarder struct {
	address string
	seen    time.Time
}

// forwarderKept is how long a proxy is remembered after a call that it forwarded.
const forwarderKept = 24 * time.Hour

// forwarded reports whether a request comes through a proxy that is not trusted: from this machine or a private network, with
// X-Forwarded-For. Other addresses may send the header to get around the bounds of their address.
func (f *Frame) forwarded(r *http.Request, now time.Time) bool {
	if len(r.Header["X-Forwarded-For"]) == 0 {
		return false
	}
	host := peer(r)
	address, err := netip.ParseAddr(host)
	address = address.Unmap()
	if err != nil || !address.IsLoopback() && !address.IsPrivate() || trusted(host, f.Proxies) {
		return false
	}
	last := f.forwarder.Load()
	if last == nil {
		f.Log.Warn("a proxy that --trusted-proxies does not name forwards calls, so all its callers share one address", "address", host)
	}
	if last == nil || last.address != host || now.Sub(last.seen) > time.Minute {
		f.forwarder.Store(&forwarder{host, now})
	}
	return true
}

// UntrustedProxy returns the address of a proxy that has forwarded calls within a day and is not trusted; empty: there is none.
func (f *Frame) UntrustedProxy(now time.Time) string {
	if last := f.forwarder.Load(); last != nil && now.Sub(last.seen) < forwarderKept {
		return last.address
	}
	return ""
}
