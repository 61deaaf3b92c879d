package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// Inside is a caller within the program: a person who signed in to a page, or followed a signed link, instead of sending an
// app key.
type Inside struct {
	Who      auth.Principal
	IP       string // the person's address, for the audit log
	Language string // as in Accept-Language, for the messages of errors
}

// Refusal is the error of an operation as its caller receives it.
type Refusal struct {
	Status    int // HTTP
	Code      string
	Message   string
	RequestID string
	Refs      []fault.Ref // with ReferenceExist: what refers to the object
	cause     error
}

func (r *Refusal) Error() string { return r.Message }

// Unwrap returns the fault behind the refusal.
func (r *Refusal) Unwrap() error { return r.cause }

// AskFile is Ask for an operation that answers with a file, which it writes to w with its headers; the request may be of any type
// that is encoded as the operation's. After an error nothing was written. A file that breaks off closes the connection, so that no
// one takes a part for the whole.
func (f *Frame) AskFile(ctx context.Context, w http.ResponseWriter, by Inside, path string, request any) error {
	x, body, err := f.insider(ctx, by, path, request)
	if err != nil {
		return err
	}
	x.w = w
	err = f.serve(x, body)
	if err == nil && x.file == nil {
		err = fmt.Errorf("%s answers with no file", path)
	}
	if err == nil {
		err = x.clientGone(x.writeFile())
	}
	defer f.finish(x, err)
	defer f.release(x)
	switch {
	case err == nil:
		x.code = "OK"
		return nil
	case x.status == 0:
		return x.refuse(err, by.Language)
	}
	_, failed, _ := failure(err, "")
	x.code = failed.Code
	panic(http.ErrAbortHandler)
}

// insider returns the exchange of a caller within the program, and the body of the request.
func (f *Frame) insider(ctx context.Context, by Inside, path string, request any) (*exchange, []byte, error) {
	body, err := json.Marshal(request, replyOptions)
	if err != nil {
		return nil, nil, fault.Wrap(err, "encode the request of %s", path)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fault.Wrap(err, "request %s", path)
	}
	now := f.Clock.Now()
	x := &exchange{w: unwritten{}, r: r, began: time.Now(), op: f.ops[path], inside: true}
	x.call = Call{Ctx: ctx, Now: now, RequestID: id.ULID(now), IP: by.IP, Who: by.Who, cursorKey: f.CursorKey}
	return x, body, nil
}

// serve runs the checks of answer that follow the caller's key, then the operation.
func (f *Frame) serve(x *exchange, body []byte) error {
	if x.op == nil {
		return fault.New(fault.RouteNotFound, "%s", shownPath(x.r.URL.Path))
	}
	return f.perform(x, func() ([]byte, error) {
		if int64(len(body)) > x.op.MaxBody {
			return nil, tooLarge(x.op.MaxBody)
		}
		return body, nil
	})
}

// refuse returns the error that the caller receives, and notes it for the logs and metrics.
func (x *exchange) refuse(err error, language string) error {
	status, body, refs := failure(err, language)
	x.code, x.status = body.Code, status
	r := &Refusal{Status: status, Code: body.Code, Message: body.Message, RequestID: x.call.RequestID, cause: err}
	if refs != nil {
		r.Refs = refs.Refs
	}
	return r
}

// RefusalOf returns the refusal in the chain of an error; nil when there is none.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	errors.As(err, &r)
	return r
}

// unwritten is the ResponseWriter of a call within the program, which has no response.
type unwritten struct{}

func (unwritten) Header() http.Header         { return http.Header{} }
func (unwritten) Write(b []byte) (int, error) { return len(b), nil }
func (unwritten) WriteHeader(int)             {}
