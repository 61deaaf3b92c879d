package api

import (
	"bytes"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/fault"
	"tocsin/internal/limit"
)

// envelope is the shape of every success.
type envelope struct {
	RequestID string `json:"request_id"`
	Data      any    `json:"data"`
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keepBuffer is the largest buffer that goes back into the pool, in bytes.
const keepBuffer = 1 << 20

func (x *exchange) succeed(data any) error {
	b := buffers.Get().(*bytes.Buffer)
	defer func() {
		if b.Cap() <= keepBuffer {
			buffers.Put(b)
		}
	}()
	b.Reset()
	if err := json.MarshalWrite(b, envelope{x.call.RequestID, data}); err != nil {
		return fault.Wrap(err, "encode the reply")
	}
	x.code = "OK"
	x.send(http.StatusOK, b.Bytes())
	return nil
}

func (x *exchange) fail(err error) {
	status, body := failure(err, x.r.Header.Get("Accept-Language"))
	b, err := json.Marshal(errorReply{x.call.RequestID, body})
	if err != nil { // the message quotes the caller; whatever it quotes must not keep it from its answer
		b, _ = json.Marshal(errorReply{x.call.RequestID, errorBody{Code: body.Code, Message: wire[fault.Internal].english}})
	}
	x.code = body.Code
	x.send(status, b)
}

func (x *exchange) send(status int, body []byte) {
	h := x.w.Header()
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.status, x.bytes = status, len(body)
	x.w.WriteHeader(status)
	x.w.Write(body) // a failure means the client is gone; there is nobody to tell
}

var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"} // replies hold personal data, and the URL may hold the key
)

// within counts the call against the account's limit for this operation and tells how much is left.
func (f *Frame) within(x *exchange) error {
	rate := f.Rate
	if x.op.Rate != (limit.Rate{}) && rate != (limit.Rate{}) {
		rate = x.op.Rate
	}
	if rate == (limit.Rate{}) {
		return nil
	}
	v := f.rates.Allow(rateKey{x.call.Who.AccountID, x.op.number}, rate, x.call.Now)
	h := x.w.Header()
	h["X-Ratelimit-Limit"] = []string{strconv.Itoa(v.Limit)}
	h["X-Ratelimit-Remaining"] = []string{strconv.Itoa(v.Remaining)}
	h["X-Ratelimit-Reset"] = []string{strconv.FormatInt(ceilSeconds(v.Reset), 10)}
	if v.OK {
		return nil
	}
	x.retryAfter(v)
	return fault.New(fault.TooFrequent, "at most %d calls in this window for this account and operation", v.Limit)
}

func (x *exchange) retryAfter(v limit.Verdict) {
	seconds := int64((v.RetryAfter + time.Second - 1) / time.Second)
	x.w.Header().Set("Retry-After", strconv.FormatInt(max(1, seconds), 10))
}

func ceilSeconds(t time.Time) int64 { return t.Add(time.Second - 1).Unix() }

// clientIP is the address the call came from: the connection's, or, when that is a trusted proxy, the
// last address in X-Forwarded-For that is not one.
func clientIP(r *http.Request, proxies []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if len(proxies) == 0 || !trusted(host, proxies) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // whoever wrote this, it was not a proxy of ours
		}
		host = hop.Unmap().String()
		if !trusted(host, proxies) {
			break
		}
	}
	return host
}

func trusted(host string, proxies []netip.Prefix) bool {
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, p := range proxies {
		if p.Contains(addr.Unmap()) {
			return true
		}
	}
	return false
}
