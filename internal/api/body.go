package api

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"tocsin/internal/platform/fault"
)

// defaultMaxBody is the limit of a request body, in bytes.
const defaultMaxBody = 1 << 20

// A body must arrive within bodyTime, plus one second for each bodyPace bytes.
const (
	bodyTime = 10 * time.Second
	bodyPace = 128 << 10
)

// mostInflated is the largest number of bytes that one byte of gzip can become: the bound of deflate.
const mostInflated = 1032

// Body is the body of a request to an Endpoint, not read yet.
type Body struct {
	frame *Frame
	x     *exchange
	limit int64 // bytes
}

// Read reads the body for an integration of an account. A body with Content-Encoding gzip is inflated; its size is
// checked before and after. Errors are faults: TooLarge, BadRequest, and Unavailable when other bodies use all the
// memory set aside for bodies.
func (b *Body) Read(account, integration int64) ([]byte, error) {
	return b.frame.readInflated(b.x, bodyHolder{account: account, key: integration}, b.limit)
}

// ReadUnknown is Read for a body that must be read to find its integration. limit is in bytes.
func (b *Body) ReadUnknown(limit int64) ([]byte, error) {
	return b.frame.readInflated(b.x, bodyHolder{network: b.x.network()}, min(limit, b.limit))
}

func (f *Frame) readInflated(x *exchange, h bodyHolder, limit int64) ([]byte, error) {
	switch encoding := x.r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
		return f.readAll(x, h, limit, false)
	case "gzip", "x-gzip":
		return f.readAll(x, h, limit, true)
	default:
		return nil, fault.New(fault.BadRequest, "Content-Encoding must be gzip or absent, got %.60q", encoding)
	}
}

// readBody reads the request's body up to the operation's limit and checks the declared content type. A missing body
// counts as an empty object, so that operations without required fields can be called with nothing at all.
func (f *Frame) readBody(x *exchange) ([]byte, error) {
	body, err := f.readAll(x, bodyHolder{account: x.call.Who.AccountID, key: x.call.Who.KeyID}, x.op.MaxBody, false)
	if err != nil {
		return nil, err
	}
	kind := x.r.Header.Get("Content-Type")
	if len(body) == 0 && kind == "" {
		return []byte("{}"), nil
	}
	if !isJSON(kind) {
		return nil, fault.New(fault.InvalidContentType, "must be application/json, got %s", shown(kind))
	}
	if len(body) == 0 {
		return []byte("{}"), nil
	}
	return body, nil
}

// isJSON reports whether a Content-Type is application/json, in any spelling and with any parameters.
func isJSON(kind string) bool {
	if kind == "application/json" { // of nearly all calls
		return true
	}
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && media == "application/json"
}

// readAll reads the body up to limit bytes, whatever its content type. The bytes that it can grow to are reserved
// first and released when the call is answered.
func (f *Frame) readAll(x *exchange, h bodyHolder, limit int64, zipped bool) ([]byte, error) {
	declared := x.r.ContentLength // -1: unknown
	if declared == 0 && !zipped {
		return nil, nil
	}
	if declared > limit {
		x.w.Header().Set("Connection", "close")
		return nil, tooLarge(limit)
	}
	most := declared
	switch {
	case declared < 0:
		most = limit
	case zipped:
		most = min(limit, declared*mostInflated)
	}
	if err := f.bodies.reserve(x.call.Ctx, h, most); err != nil {
		setBusyRetry(x.w.Header())
		return nil, err
	}
	x.holder, x.held = h, most
	connection := http.NewResponseController(x.w)
	_ = connection.SetReadDeadline(time.Now().Add(f.bodyTime + time.Duration(most/bodyPace)*time.Second))
	body, err := read(http.MaxBytesReader(x.w, x.r.Body, limit), limit, declared, zipped)
	if err != nil {
		return nil, unread(err, limit, zipped)
	}
	_ = connection.SetReadDeadline(time.Time{}) // else the client would count as gone when the deadline passes
	f.bodies.release(h, most-int64(len(body)))
	x.held = int64(len(body))
	return body, nil
}

// read reads a body of declared bytes (-1: unknown) and inflates it if it is zipped.
func read(r io.Reader, limit, declared int64, zipped bool) ([]byte, error) {
	if declared >= 0 && !zipped {
		body := make([]byte, declared)
		_, err := io.ReadFull(r, body)
		return body, err
	}
	if zipped {
		plain, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		// One byte more than the limit, so that a body over it is noticed below and not cut off.
		r = io.LimitReader(plain, limit+1)
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(r)
	if err == nil && int64(body.Len()) > limit {
		err = &http.MaxBytesError{Limit: limit}
	}
	return body.Bytes(), err
}

// unread returns the fault for a body that could not be read.
func unread(err error, limit int64, zipped bool) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.BadRequest, "the body did not arrive in time")
	case zipped:
		return fault.New(fault.BadRequest, "the body is not valid gzip, which its Content-Encoding declares")
	default:
		return fault.New(fault.BadRequest, "the body could not be read to its end")
	}
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "must be at most %d bytes", limit)
}
