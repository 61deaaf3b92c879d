package sqldb

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"sync/atomic"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
)

// maxRead is how much is read between two requests, in bytes: more than an answer may have, since protocols add to it.
const maxRead = 4 * querier.MaxBytes

var errTooLarge = errors.New("answered with too many bytes")

// bounded is a connection that ends when a server sends without end.
type bounded struct {
	net.Conn
	read atomic.Int64
}

// Read reads on until the bound.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if b.read.Add(int64(n)) > maxRead {
		return 0, errTooLarge
	}
	return n, err
}

// Write begins a request.
func (b *bounded) Write(p []byte) (int, error) {
	b.read.Store(0)
	return b.Conn.Write(p)
}

// Dialer connects to databases through egress.
type Dialer struct{ *egress.Client }

// DialContext connects to an address, host:port.
func (d Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.Client.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &bounded{Conn: conn}, nil
}

// Parse reads the block of a datasource, whose TLS settings mode returns.
func Parse(d querier.Datasource, block any, mode func() (*tls.Config, error)) (*tls.Config, *evaluate.Failure) {
	if err := json.Unmarshal(d.Payload, block); err != nil {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Message: "the payload of the datasource cannot be read"}
	}
	config, err := mode()
	if err != nil {
		return nil, &evaluate.Failure{Kind: evaluate.Unreachable, Phase: querier.PhaseTLS, Message: err.Error()}
	}
	return config, nil
}
