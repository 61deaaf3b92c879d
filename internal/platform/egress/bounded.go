package egress

import (
	"errors"
	"fmt"
	"io"
	"time"

	"tocsin/internal/core/sentence"
)

// errTooLarge ends the reading of a reply that is longer than the request permits.
var errTooLarge = errors.New("the reply is too large")

// bounded reads a reply up to a number of bytes, and keeps the error that ended it: a decoder may hide it.
type bounded struct {
	from io.Reader
	left int64
	err  error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p)) > b.left {
		p = p[:b.left+1] // the byte beyond shows that there is more
	}
	n, err := b.from.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	b.err = err
	return n, err
}

// failure returns the error with which a reply was read: that of the connection, if there is one.
func (b *bounded) failure(err error, host string, limit int64, took time.Duration) error {
	switch {
	case b.err == nil || errors.Is(b.err, io.EOF):
		return err
	case errors.Is(b.err, errTooLarge):
		return &Failure{TooLarge, sentence.Raw(fmt.Sprintf("%s answered with more than %d bytes", host, limit))}
	}
	return failure(b.err, host, answered, took)
}
