package api

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Download is the reply of an operation that answers with a file instead of the envelope. The file is written after the
// operation's transaction, so that a slow caller holds neither a transaction nor the file in memory.
type Download struct {
	Name  string                                              `json:"-"` // of the file, such as incidents.csv
	Write func(ctx context.Context, to io.Writer) (err error) `json:"-"` // an error before the first byte is answered as any other
}

// csvType is the type of all downloads.
const csvType = "text/csv; charset=utf-8"

// writeTime is how long a caller may take for one part of a download.
const writeTime = time.Minute

// download writes a file to the caller. It sets the headers with the first byte: until then an error can be answered.
type download struct {
	x    *exchange
	name string
}

func (d *download) Write(b []byte) (int, error) {
	x := d.x
	if x.status == 0 {
		h := x.w.Header()
		h["Content-Type"] = []string{csvType}
		h["Content-Disposition"] = []string{`attachment; filename="` + d.name + `"`}
		h["Cache-Control"] = noStore
		x.status = http.StatusOK
		x.w.WriteHeader(x.status)
	}
	_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now().Add(writeTime)) // not every ResponseWriter has one
	n, err := x.w.Write(b)
	x.bytes += n
	return n, err
}

// sendFile writes the download. broken reports that it failed in the middle: the connection must be closed, so that the
// caller does not take what arrived for the whole.
func (x *exchange) sendFile() (broken bool, err error) {
	err = x.clientGone(x.writeFile())
	switch {
	case err == nil:
		x.code = "OK"
	case x.status == 0:
		x.fail(err)
	default:
		_, body, _ := failure(err, "")
		x.code = body.Code
		broken = true
	}
	return broken, err
}

// writeFile calls the download. A panic is an internal error of this call alone.
func (x *exchange) writeFile() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return x.file.Write(x.call.Ctx, &download{x, x.file.Name})
}

// content describes what an operation answers with.
func (f *Frame) content(op *mounted, published publishedSchemas) map[string]*huma.MediaType {
	if op.Do.out == reflect.TypeFor[Download]() {
		return map[string]*huma.MediaType{"text/csv": {Schema: &huma.Schema{Type: huma.TypeString}, Example: raw(op.Reply)}}
	}
	envelope := map[string]*huma.Schema{
		"request_id": {Type: huma.TypeString, Description: "Identifies the call; also in the header Service-Request-Id."},
		"data":       published.reply(f.answered(op)),
	}
	if op.warns() && op.out.Type == huma.TypeArray { // data without members: the warnings are beside it
		envelope["warnings"] = warningsSchema().Properties["warnings"]
	}
	return map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{
		Type:       huma.TypeObject,
		Required:   []string{"request_id", "data"},
		Properties: envelope,
	}, Example: raw(op.Reply)}}
}
