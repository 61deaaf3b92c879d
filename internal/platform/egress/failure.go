package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// Phase is where a request failed.
type Phase string

// The phases.
const (
	Malformed      Phase = "request"         // it is no request: its address is no http or https URL
	Refused        Phase = "refused"         // the policy does not permit the address
	Dial           Phase = "dial"            // no connection: no such name, or nobody there
	TLS            Phase = "tls"             // a connection, but not an encrypted one that can be trusted
	TimeoutConnect Phase = "timeout-connect" // no connection in time
	TimeoutHeaders Phase = "timeout-headers" // a connection, but no answer in time
	TimeoutBody    Phase = "timeout-body"    // an answer that did not end in time
	EOF            Phase = "eof"             // the connection was closed before the answer's end
	Other          Phase = "other"           // anything else, being given up among it
)

// Failure is a request or a connection that came to nothing. Its text never holds more of the address than
// the host.
type Failure struct {
	Phase   Phase
	Message string
}

func (f *Failure) Error() string { return f.Message }

// Retry says whether trying again may help.
func (f *Failure) Retry() bool { return f.Phase != Malformed && f.Phase != Refused }

// How far a request came.
const (
	connecting = iota
	shaking    // hands, for TLS
	connected
	answered
)

// progress is how far a request came. A connection is made beside the request, which may get another one that
// has become free meanwhile: only what is before it counts.
type progress struct{ atomic.Int32 }

func (p *progress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { p.Store(connecting) },
		TLSHandshakeStart: func() { p.CompareAndSwap(connecting, shaking) },
		GotConn:           func(httptrace.GotConnInfo) { p.Store(connected) },
	})
}

// late is the phase and the words of what took too long.
var late = map[int32]struct {
	Phase
	words string
}{
	connecting: {TimeoutConnect, "could not be reached in"},
	shaking:    {TimeoutConnect, "could not be reached in"},
	connected:  {TimeoutHeaders, "did not answer in"},
	answered:   {TimeoutBody, "did not end its answer in"},
}

// failure says why a request to a host that came so far failed after a time, without its address, which may
// hold a secret.
func failure(err error, host string, came int32, took time.Duration) *Failure {
	var known *Failure
	var stop *refused
	var timed net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &stop):
		return &Failure{Refused, fmt.Sprintf("%s must not be called: %s", host, stop.why)}
	case errors.Is(err, context.Canceled):
		return &Failure{Other, host + ": the request was given up"}
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout():
		return &Failure{late[came].Phase, fmt.Sprintf("%s %s %s", host, late[came].words, took.Round(10*time.Millisecond))}
	case errors.As(err, &op) && op.Op == "dial":
		return &Failure{Dial, fmt.Sprintf("%s cannot be reached: %v", host, op.Err)}
	case came == shaking || errors.As(err, new(*tls.CertificateVerificationError)):
		return &Failure{TLS, fmt.Sprintf("%s: TLS: %v", host, inner(err))}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &Failure{EOF, host + " closed the connection before it had answered"}
	}
	return &Failure{Other, fmt.Sprintf("%s: %v", host, inner(err))}
}

func inner(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
