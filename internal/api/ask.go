package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
)

// Ask calls an operation for a caller within the program, with the operation's own types. The checks and limits are those of
// ServeHTTP for a caller with an app key, and so are the transaction and the entries in the audit log, the access log and the
// metrics: a page can do nothing that the API cannot. An error is a *Refusal, with the message that the caller of the API would
// receive.
//
// The request is encoded once. What is checked, recorded in the audit log and handed to the operation is read from that: so a
// field that is no member of the request cannot be set, and an absent member means what it means to others.
//
// The reply is the operation's own value. It is not encoded, so a page of a list does not end at PageBytes, and text that is not
// valid UTF-8 stays as it is. It may share memory with what others read: the caller must not change what it refers to. Warnings
// of the frame are in a reply that embeds Warnings.
//
// In and Out must be the types of the operation at the path. TestPagesCallWithTypesOfOperations reads all calls.
func Ask[Out, In any](ctx context.Context, f *Frame, by Inside, path string, in In) (out Out, err error) {
	reply, err := f.ask(ctx, by, path, in, reflect.TypeFor[Out]())
	if err != nil {
		return out, err
	}
	return *reply.(*Out), nil
}

// ask is Ask once for all types: the compiler copies a generic function for each operation. It returns a pointer to the reply.
func (f *Frame) ask(ctx context.Context, by Inside, path string, in any, out reflect.Type) (reply any, err error) {
	if op := f.ops[path]; op != nil && (op.Do.in != reflect.TypeOf(in) || op.Do.out != out) {
		return nil, fmt.Errorf("%s takes %v and answers %v, called with %T for %v", path, op.Do.in, op.Do.out, in, out)
	}
	x, body, err := f.insider(ctx, by, path, in)
	if err != nil {
		return nil, err
	}
	x.typed = true
	err = f.serve(x, body)
	if err == nil && x.file != nil {
		err = fmt.Errorf("%s answers with a file", path)
	}
	defer f.finish(x, err)
	defer f.release(x)
	if err != nil {
		return nil, x.refuse(err, by.Language)
	}
	x.code, x.status = "OK", http.StatusOK
	if w, ok := x.data.(warned); ok && len(x.call.warnings) > 0 {
		w.add(x.call.warnings, x.call.unlisted)
	}
	return x.data, nil
}
