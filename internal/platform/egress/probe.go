package egress

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"tocsin/internal/core/sentence"
)

// The steps of Probe, in their order.
const (
	StepResolve = "resolve"
	StepDial    = "dial"
	StepTLS     = "tls"
)

// Step is one step of connecting to a host.
type Step struct {
	Name string
	Took time.Duration
	Err  error // nil: it succeeded
}

// Probe resolves the host of an address, host:port, connects to it, and begins TLS unless config is nil. It returns the
// steps up to the first that failed.
func (c *Client) Probe(ctx context.Context, address string, config *tls.Config) (steps []Step) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return []Step{{StepResolve, 0, &Failure{Malformed, sentence.Raw("the address has no port")}}}
	}
	step := func(name string, came int32, do func() error) bool {
		began := time.Now()
		err := do()
		s := Step{Name: name, Took: time.Since(began)}
		if err != nil {
			s.Err = failure(err, address, came, s.Took)
		}
		steps = append(steps, s)
		return err == nil
	}
	if !step(StepResolve, connecting, func() error {
		_, err := c.dialer.Resolver.LookupNetIP(ctx, "ip", host)
		return err
	}) {
		return steps
	}
	var conn net.Conn
	if !step(StepDial, connecting, func() (err error) {
		conn, err = c.DialContext(ctx, "tcp", address)
		return err
	}) {
		return steps
	}
	defer conn.Close()
	if config != nil {
		config = config.Clone()
		if config.ServerName == "" {
			config.ServerName = host
		}
		step(StepTLS, handshaking, func() error { return tls.Client(conn, config).HandshakeContext(ctx) })
	}
	return steps
}
