package api

import (
	"bytes"
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// buffers are large enough for most replies, so that they need not grow while a reply is encoded.
var buffers = sync.Pool{New: func() any { return bytes.NewBuffer(make([]byte, 0, 16<<10)) }}

// keepBuffer is the largest buffer that is returned to the pool, in bytes.
const keepBuffer = 1 << 20

// Appender is a reply with its own JSON encoder, for the few operations that spend most of their time encoding. It
// must append to b exactly the bytes that the common encoder would write.
type Appender interface {
	AppendJSON(b []byte) ([]byte, error)
}

// encode writes the data into the envelope. Text that is not valid UTF-8 cannot arrive through the API, but may through
// an imported file or an event. Its bad bytes are replaced, because failing the whole reply would be worse. The members
// of maps are sorted, so that the same state always encodes to the same bytes.
func (x *exchange) encode(data any) error {
	err := x.encodeWhole(data)
	page, ok := data.(interface{ shorten(c *Call) (bool, error) })
	if err != nil || !ok || x.typed || x.reply.Len() <= PageBytes {
		return err
	}
	if shorter, err := page.shorten(&x.call); err != nil || !shorter {
		return fault.Wrap(err, "encode the reply")
	}
	x.release()
	return x.encodeWhole(data)
}

// encodeWhole is encode without a bound.
func (x *exchange) encodeWhole(data any) (err error) {
	if file, ok := data.(*Download); ok {
		x.file = file
		return nil
	}
	if x.typed {
		x.data = data
		return nil
	}
	x.reply = buffers.Get().(*bytes.Buffer)
	x.reply.Reset()
	if own, ok := data.(*Answer); ok {
		x.ownStatus = own.Status
		if own.Body == nil {
			return nil
		}
		return fault.Wrap(json.MarshalWrite(x.reply, own.Body, replyOptions), "encode the reply")
	}
	x.reply.WriteString(`{"request_id":"`)
	x.reply.WriteString(x.call.RequestID) // letters and digits
	x.reply.WriteString(`","data":`)
	w, hasWarnings := data.(warned)
	if hasWarnings && len(x.call.warnings) > 0 {
		defer w.add(x.call.warnings, x.call.unlisted)() // a reply that is completed is encoded again
	}
	if a, ok := data.(Appender); ok {
		err = x.append(a)
	} else {
		err = json.MarshalWrite(x.reply, data, replyOptions)
	}
	if err == nil && !hasWarnings && len(x.call.warnings) > 0 {
		err = x.appendWarnings(reflect.Indirect(reflect.ValueOf(data)).Kind() == reflect.Slice)
	}
	x.reply.WriteByte('}')
	return fault.Wrap(err, "encode the reply")
}

// append appends data to the reply. A large reply has outgrown the buffer, and is not copied into it again.
func (x *exchange) append(data Appender) error {
	from := x.reply.Bytes()
	b, err := data.AppendJSON(from)
	switch {
	case err != nil:
		return err
	case cap(b) == cap(from):
		x.reply.Write(b[len(from):])
	default:
		buffers.Put(x.reply)
		x.reply = bytes.NewBuffer(b)
	}
	return nil
}

// appendWarnings adds the warnings of the frame as the last member of data without a member for them. Data that is a list
// has no members: they are then beside it.
func (x *exchange) appendWarnings(isList bool) error {
	b := x.reply.Bytes()
	if isList {
		x.reply.WriteString(`,"warnings":`)
		return json.MarshalWrite(x.reply, warn(sentence.ToWords(x.call.warnings), x.call.unlisted).Warnings, replyOptions)
	}
	if b[len(b)-1] != '}' {
		return nil // null
	}
	x.reply.Truncate(len(b) - 1)
	if b[len(b)-2] != '{' {
		x.reply.WriteByte(',')
	}
	x.reply.WriteString(`"warnings":`)
	err := json.MarshalWrite(x.reply, warn(sentence.ToWords(x.call.warnings), x.call.unlisted).Warnings, replyOptions)
	x.reply.WriteByte('}')
	return err
}

var replyOptions = json.JoinOptions(jsontext.AllowInvalidUTF8(true), json.Deterministic(true))

// release returns the buffer to the pool. The buffer must not be read afterwards.
func (x *exchange) release() {
	if x.reply != nil && x.reply.Cap() <= keepBuffer {
		buffers.Put(x.reply)
	}
	x.reply = nil
}

func (x *exchange) succeed() {
	x.code = "OK"
	x.send(cmp.Or(x.ownStatus, http.StatusOK), x.reply.Bytes())
}

func (x *exchange) fail(err error) { x.failAs(nil, err) }

// failAs replies with an error, in the envelope or in the form that Endpoint.Failed returns.
func (x *exchange) failAs(form func(requestID string, status int, message string) any, cause error) {
	status, body, data := failure(cause, x.r.Header.Get("Accept-Language"))
	var reply any = errorResponse{x.call.RequestID, body, data}
	if form != nil {
		reply = form(x.call.RequestID, status, body.Message)
	}
	b, err := json.Marshal(reply, jsontext.AllowInvalidUTF8(true)) // the message quotes the caller
	if err != nil {
		panic(err) // strings in structs
	}
	x.code = body.Code
	if f := new(fault.Error); errors.As(cause, &f) && f.Retry > 0 && x.w.Header().Get("Retry-After") == "" {
		x.retryAfter(ratelimit.Result{RetryAfter: f.Retry})
	}
	x.send(status, b)
}

func (x *exchange) send(status int, body []byte) {
	h := x.w.Header()
	SetRetry(h, status)
	h["Content-Type"] = jsonType
	h["Cache-Control"] = noStore
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.status, x.bytes = status, len(body)
	x.w.WriteHeader(status)
	x.w.Write(body) // a failure means that the client is gone, so there is no one to report it to
}

// SetRetry sets Retry-After of a refusal that names no time: clients without one call again immediately.
func SetRetry(h http.Header, status int) {
	switch {
	case h.Get("Retry-After") != "":
	case status == http.StatusServiceUnavailable:
		setBusyRetry(h)
	case status == http.StatusTooManyRequests:
		h.Set("Retry-After", "60")
	}
}

var (
	jsonType = []string{"application/json; charset=utf-8"}
	noStore  = []string{"no-store"} // replies hold personal data, and the URL may hold the key
)

// rate returns the operation's own limit, or the deployment's. A deployment without limits has none.
func (f *Frame) rate(op *mounted) ratelimit.Rate {
	if op.Rate != (ratelimit.Rate{}) && f.Rate != (ratelimit.Rate{}) {
		return op.Rate
	}
	return f.Rate
}

func (x *exchange) retryAfter(v ratelimit.Result) {
	x.w.Header().Set("Retry-After", retryAfter(v))
}

func retryAfter(v ratelimit.Result) string {
	seconds := int64((v.RetryAfter + time.Second - 1) / time.Second)
	return strconv.FormatInt(max(1, seconds), 10)
}

func ceilSeconds(t time.Time) int64 { return t.Add(time.Second - 1).Unix() }

// ClientIP returns the network address that a request came from, for handlers beside the operations.
func (f *Frame) ClientIP(r *http.Request) string { return clientIP(r, f.Proxies) }

// clientIP returns the address that the call came from: the connection's or, when that is a trusted proxy, the
// last address in X-Forwarded-For that is not a trusted proxy.
func clientIP(r *http.Request, proxies []netip.Prefix) string {
	host := peer(r)
	if !trusted(host, proxies) {
		return host
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // not written by a trusted proxy
		}
		host = hop.Unmap().String()
		if !trusted(host, proxies) {
			break
		}
	}
	return host
}

// peer returns the address at the other end of the connection.
func peer(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func trusted(host string, proxies []netip.Prefix) bool {
	if len(proxies) == 0 {
		return false
	}
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
