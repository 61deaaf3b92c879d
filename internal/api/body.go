package api

import (
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"sync"
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
	return b.frame.readInflated(b.x, byteHolder{account: account, key: integration}, b.limit)
}

// ReadUnknown is Read for a body that must be read to find its integration. limit is in bytes.
func (b *Body) ReadUnknown(limit int64) ([]byte, error) {
	return b.frame.readInflated(b.x, byteHolder{network: b.x.network()}, min(limit, b.limit))
}

// ReadStart reads a body that is useful even if truncated. Of a body longer than the limit it returns the bytes up to the
// limit; cut is then true. The rest is discarded, so that the sender can read the reply.
func (b *Body) ReadStart(account, integration int64) (body []byte, cut bool, err error) {
	zipped, err := isZipped(b.x.r)
	if err != nil {
		return nil, false, err
	}
	return b.frame.readStart(b.x, byteHolder{account: account, key: integration}, b.limit, zipped)
}

// Over returns the fault of a body that is longer than the limit.
func (b *Body) Over() error { return tooLarge(b.limit) }

func (f *Frame) readInflated(x *exchange, h byteHolder, limit int64) ([]byte, error) {
	zipped, err := isZipped(x.r)
	if err != nil {
		return nil, err
	}
	return f.readAll(x, h, limit, zipped)
}

// isZipped reports whether the body is compressed with gzip. The fault names another encoding.
func isZipped(r *http.Request) (bool, error) {
	switch encoding := r.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		return true, nil
	default:
		return false, fault.New(fault.BadRequest, "Content-Encoding must be gzip or absent, got %.60q", encoding)
	}
}

// readBody reads the request's body up to the operation's limit and checks the declared content type. A missing body
// counts as an empty object, so that operations without required fields can be called with nothing at all.
func (f *Frame) readBody(x *exchange) ([]byte, error) {
	body, err := f.readAll(x, byteHolder{account: x.call.Who.AccountID, key: x.call.Who.KeyID}, x.op.MaxBody, false)
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
func (f *Frame) readAll(x *exchange, h byteHolder, limit int64, zipped bool) ([]byte, error) {
	if x.r.ContentLength > limit {
		x.w.Header().Set("Connection", "close")
		return nil, tooLarge(limit)
	}
	return f.readReserved(x, h, limit, zipped, func(declared int64) ([]byte, error) {
		return read(http.MaxBytesReader(x.w, x.r.Body, limit), limit, declared, zipped)
	})
}

// discarded is how much is read of the rest of a body that is longer than the limit, in limits. A sender that is not
// read to the end may take the closed connection for a failure, and send all of it again.
const discarded = 4

// readStart is readAll for Body.ReadStart.
func (f *Frame) readStart(x *exchange, h byteHolder, limit int64, zipped bool) (body []byte, cut bool, err error) {
	if declared := x.r.ContentLength; !zipped && declared >= 0 && declared <= limit {
		body, err = f.readAll(x, h, limit, false)
		return body, false, err
	}
	body, err = f.readReserved(x, h, limit, zipped, func(int64) ([]byte, error) {
		start, err := read(x.r.Body, limit, -1, zipped)
		if over := new(http.MaxBytesError); errors.As(err, &over) {
			cut = true
			_, _ = io.CopyN(io.Discard, x.r.Body, discarded*limit)
			return start, nil
		}
		return start, err
	})
	return body, cut, err
}

// readReserved calls read with the declared length of the body (-1: unknown), while the bytes that it can grow to are
// reserved, at most limit.
func (f *Frame) readReserved(
	x *exchange, h byteHolder, limit int64, zipped bool, read func(declared int64) ([]byte, error),
) ([]byte, error) {
	declared := x.r.ContentLength // -1: unknown
	if declared == 0 && !zipped {
		return nil, nil
	}
	most := min(limit, declared)
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
	body, err := read(declared)
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
		r = plain
	}
	return readPieces(r, limit)
}

// pieces are what bodies of unknown length are read into. A buffer that grows would leave twice the body as garbage, and
// for a moment hold three times as much.
var pieces = sync.Pool{New: func() any { return new([pieceBytes]byte) }}

const pieceBytes = 64 << 10

// readPieces reads up to limit bytes, and returns http.MaxBytesError with them if there are more.
func readPieces(r io.Reader, limit int64) ([]byte, error) {
	var used []*[pieceBytes]byte
	defer func() {
		for _, piece := range used {
			pieces.Put(piece)
		}
	}()
	r = io.LimitReader(r, limit+1) // one byte more, so that a longer body is noticed
	length := 0
	for {
		at := length % pieceBytes
		if at == 0 {
			used = append(used, pieces.Get().(*[pieceBytes]byte))
		}
		n, err := r.Read(used[len(used)-1][at:])
		length += n
		switch {
		case err == nil:
		case int64(length) > limit:
			return joined(used, int(limit)), &http.MaxBytesError{Limit: limit}
		case errors.Is(err, io.EOF):
			return joined(used, length), nil
		default:
			return nil, err
		}
	}
}

// joined returns the first n bytes of the pieces.
func joined(all []*[pieceBytes]byte, n int) []byte {
	body := make([]byte, 0, n)
	for _, piece := range all {
		body = append(body, piece[:min(pieceBytes, n-len(body))]...)
	}
	return body
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
