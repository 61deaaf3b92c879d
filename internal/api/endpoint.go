package api

import (
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// Endpoint is an HTTP path beside the operations, for what other systems send. Its callers have their own kind of key,
// the formats of their bodies are not ours, and the limit on calls is not per account.
type Endpoint struct {
	Path    string   // for logs and metrics, such as /event/push/alert
	Methods []string // the methods that it accepts
	MaxBody int64    // bytes
	// Do answers a call. The call has neither a transaction nor a principal. Do may add reply headers to header. It
	// reads the body after it has identified the caller, so that callers without a key cost no memory.
	Do func(c *Call, r *http.Request, header http.Header, body *Body) (any, error)
	// Failed returns the body of a reply that reports an error, for senders that expect a form of their own; nil: the
	// envelope. The status and the message are the same as in the envelope.
	Failed func(requestID string, status int, message string) any
}

// Answer is what an endpoint replies instead of the envelope, for senders that expect a form of their own.
type Answer struct {
	Status int
	Body   any // encoded as JSON; nil: the reply has no body
}

// Endpoint returns a handler that answers as operations do: with a request id, in the envelope, logged and measured.
func (f *Frame) Endpoint(in Endpoint) http.Handler {
	op := &mounted{Op: Op{Path: in.Path, MaxBody: in.MaxBody}, counted: f.metrics.of(in.Path)}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := f.Clock.Now()
		x := &exchange{w: w, r: r, op: op, began: time.Now()}
		x.call = f.callOf(r, now)
		w.Header()["Service-Request-Id"] = []string{x.call.RequestID}
		w.Header()["Flashcat-Request-Id"] = w.Header()["Service-Request-Id"]
		err := f.take(x, in)
		if err != nil {
			x.failAs(in.Failed, err)
		} else {
			f.deliver(x)
		}
		f.release(x)
		f.finish(x, err)
	})
}

// take checks the method and runs the endpoint. A panic is an internal error of this call alone.
func (f *Frame) take(x *exchange, in Endpoint) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	allowed := false
	for _, method := range in.Methods {
		allowed = allowed || x.r.Method == method
	}
	if !allowed {
		x.w.Header().Set("Allow", in.Methods[0])
		return fault.New(fault.MethodNotAllowed, "%s takes %s, got %s", in.Path, in.Methods[0], shown(x.r.Method))
	}
	data, err := in.Do(&x.call, x.r, x.w.Header(), &Body{f, x, in.MaxBody})
	if err != nil {
		return x.clientGone(err)
	}
	if err := x.encode(data); err != nil {
		return err
	}
	return f.bound(x, false)
}

// Limited returns the fault of a limit that is used up, and sets Retry-After in header.
func Limited(header http.Header, v ratelimit.Result, what string) error {
	header.Set("Retry-After", retryAfter(v))
	return fault.New(fault.TooFrequent, "at most %d calls in this window for %s", v.Limit, what)
}
