package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"

	"tocsin/internal/core/sentence"
)

// Phase is the phase in which a request failed.
type Phase string

// The phases.
const (
	Malformed      Phase = "request"         // the address is not an http or https URL
	Refused        Phase = "refused"         // the policy does not permit the address
	Dial           Phase = "dial"            // no connection: unknown name, or no server listens there
	TLS            Phase = "tls"             // connected, but TLS failed, or the certificate is not trusted
	TimeoutConnect Phase = "timeout-connect" // no connection in time
	TimeoutHeaders Phase = "timeout-headers" // connected, but no reply in time
	TimeoutBody    Phase = "timeout-body"    // a reply that did not end in time
	TooLarge       Phase = "too-large"       // a reply of more bytes than the request permits
	EOF            Phase = "eof"             // the connection was closed before the end of the reply
	Other          Phase = "other"           // any other failure, and a request that its caller cancelled
)

// Failure is the error of a request or a connection. Its text never contains more of the address than the host: the
// rest may hold a secret.
type Failure struct {
	Phase Phase
	Why   sentence.Value
}

func (f *Failure) Error() string { return f.Why.English() }

// Retry reports whether a retry may help.
func (f *Failure) Retry() bool { return f.Phase != Malformed && f.Phase != Refused }

// How far a request came.
const (
	connecting  = iota
	handshaking // TLS
	connected
	answered
)

// progress is how far a request came. A connection is made beside the request, which may use another one that has
// become free meanwhile. After that, the TLS handshake of the first no longer counts.
type progress struct{ atomic.Int32 }

func (p *progress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:           func(string) { p.Store(connecting) },
		TLSHandshakeStart: func() { p.CompareAndSwap(connecting, handshaking) },
		GotConn:           func(httptrace.GotConnInfo) { p.Store(connected) },
	})
}

// late maps the progress of a request that timed out to its phase and reason.
var late = map[int32]struct {
	Phase
	why func(host string, took time.Duration) sentence.Value
}{
	connecting:  {TimeoutConnect, unreachable},
	handshaking: {TimeoutConnect, unreachable},
	connected: {TimeoutHeaders, func(host string, took time.Duration) sentence.Value {
		return sentence.New("a_no_answer", host, took)
	}},
	answered: {TimeoutBody, func(host string, took time.Duration) sentence.Value { return sentence.New("a_no_end", host, took) }},
}

func unreachable(host string, took time.Duration) sentence.Value {
	return sentence.New("a_no_connection", host, took)
}

// failure converts the error of a request to a host, which came this far and took this long. It leaves out the URL,
// which may hold a secret.
func failure(err error, host string, came int32, took time.Duration) *Failure {
	var known *Failure
	var stop *refused
	var timed net.Error
	var op *net.OpError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &stop):
		return &Failure{Refused, sentence.New("a_not_called", host, stop.why)}
	case errors.Is(err, context.Canceled):
		return &Failure{Other, sentence.New("a_given_up", host)}
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout():
		return &Failure{late[came].Phase, late[came].why(host, took.Round(10*time.Millisecond))}
	case errors.As(err, &op) && op.Op == "dial":
		return &Failure{Dial, sentence.New("not_reached", host, unconnected(op.Err))}
	case came == handshaking || errors.As(err, new(*tls.CertificateVerificationError)):
		return &Failure{TLS, sentence.New("a_tls", host, inner(err))}
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return &Failure{EOF, sentence.New("a_closed", host)}
	}
	return &Failure{Other, sentence.New("named_why", host, sentence.Raw(inner(err).Error()))}
}

// unconnected returns why no connection was made.
func unconnected(err error) sentence.Value {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return sentence.New("a_refused")
	}
	return sentence.Raw(err.Error())
}

// inner returns the innermost error: the outer ones repeat the URL.
func inner(err error) error {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err
}
