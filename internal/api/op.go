// Package api is the frame around every operation of the public API. It routes, authenticates, limits,
// authorises, decodes, checks, opens the transaction, calls the operation, encodes the envelope, records
// the audit entry, maps errors and measures. An operation is a value in its room's table; the function in
// it is the domain and nothing else.
//
// This package must never know what any operation is about.
package api

import (
	"context"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

// Effect says what an operation does to the database, and with that which transaction it runs in.
type Effect uint8

const (
	Read     Effect = iota // reads with one query: each statement sees the newest commit
	Snapshot               // reads with several queries that must agree with one another
	Write                  // changes something: one write transaction, recorded in the audit log
)

// Op is one operation of the public API: POST Path with a JSON body.
type Op struct {
	Path  string            // such as /schedule/info
	Allow []auth.Permission // any one of them suffices; none: any valid key may call
	// Narrowed is what a narrowed key needs besides, any one of these: for operations on what the caller owns as a
	// person, such as app keys, which any full key may call. None: nothing.
	Narrowed []auth.Permission
	Effect   Effect

	Doc     string         // one sentence for the reference: what the caller gets
	Notes   string         // further paragraphs for the reference, may be empty
	Example string         // a request body that works on the demo account's shapes
	Reply   []byte         // a whole reply for the reference; see WithReplies
	Audit   string         // the name under which a write is recorded, such as schedule:write:create
	Danger  bool           // the audit log marks it as dangerous: it deletes or reveals
	Rate    ratelimit.Rate // zero: the deployment's default
	MaxBody int64          // bytes; zero: 1 MiB

	Do Func
}

// Func is an operation's function with its request and reply types; see Do.
type Func struct {
	in, out reflect.Type
	decode  func(body []byte) (any, error)     // gives a pointer to the request
	before  func(c *Call, in any) (any, error) // what comes first, without a transaction; nil: nothing
	call    func(c *Call, in any) (any, error) // gives a pointer to the reply: the encoder copies what it gets by value
}

// Do makes a Func of a function from request to reply.
//
// In is a struct whose json tags name the fields: a field with omitempty or omitzero is optional, any
// other is required; minimum, maximum, minLength, maxLength, minItems, maxItems, enum and pattern tags
// are checked before the function is called, and so is a method Check() error on In, for rules between
// fields. null means absent for an optional field. Unknown fields are ignored.
func Do[In, Out any](fn func(*Call, In) (Out, error)) Func {
	return Func{
		in:  reflect.TypeFor[In](),
		out: reflect.TypeFor[Out](),
		decode: func(body []byte) (any, error) {
			in := new(In)
			if err := unmarshal(body, in); err != nil {
				return nil, err
			}
			if c, ok := any(in).(interface{ Check() error }); ok {
				if err := c.Check(); err != nil {
					return nil, err
				}
			}
			return in, nil
		},
		call: func(c *Call, in any) (any, error) {
			out, err := fn(c, *in.(*In))
			return &out, err
		},
	}
}

// DoAfter is Do of a write that must ask somebody outside first, such as a chat service for a group. That may
// take half a minute, for which nobody else could write if it happened in the write transaction; so before
// runs without one, with Call.Write for what it must read or leave behind, and do takes what before found
// and is the write: it alone is recorded in the audit log and answered, in its own transaction. An error of
// before is recorded as the refusal of the whole.
//
// Both are finished although the caller stops waiting, since what was done outside cannot be rolled back.
// before has to bound its own time. A dry run has no Call.Write: of it before must ask nobody, but pass on what
// do needs to tell what would be done.
//
// A Snapshot may be one as well, when it shows what somebody outside knows: it has Call.Read to find out whom to
// ask, and ends with its caller.
func DoAfter[In, Found, Out any](before func(*Call, In) (Found, error), do func(*Call, Found) (Out, error)) Func {
	f := Do[In, Out](nil)
	f.before = func(c *Call, in any) (any, error) { return before(c, *in.(*In)) }
	f.call = func(c *Call, found any) (any, error) {
		out, err := do(c, found.(Found))
		return &out, err
	}
	return f
}

// WithReplies gives each operation its golden reply as the example of the reference, so that what the
// reference shows is what a test has seen. The file of /schedule/info is testdata/golden/schedule_info.json.
func WithReplies(golden fs.FS, ops []Op) []Op {
	for i := range ops {
		// A missing file leaves the example out; the registry's test reports it.
		ops[i].Reply, _ = fs.ReadFile(golden, GoldenFile(ops[i].Path))
	}
	return ops
}

// GoldenFile is where a room keeps an operation's golden reply, from the room's folder.
func GoldenFile(path string) string {
	return "testdata/golden/" + strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "_") + ".json"
}

// hint names the schema of a type without a name.
func hint(path, suffix string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String() + suffix
}

// Call is what an operation's function gets besides its request. It is good for one call only.
type Call struct {
	Ctx       context.Context
	Tx        *db.Tx         // the transaction of the operation's Effect; nil in what DoAfter does before
	Now       time.Time      // the moment of the call; the only "now" there is
	Who       auth.Principal // whose key it is; every query is scoped by Who.AccountID
	RequestID string         // as in the envelope, the header, the audit log and the access log
	IP        string         // the caller's address, through trusted proxies
	touched   []fault.Ref
	removed   []fault.Ref
	read      func(context.Context, func(*db.Tx) error) error
	write     func(context.Context, func(*db.Tx) error) error
	reports   []error
}

// Report leaves in the log what went wrong with one object although the call as a whole succeeds.
func (c *Call) Report(err error) { c.reports = append(c.reports, err) }

// Read runs fn in a snapshot of its own, which is Tx meanwhile. It is for what DoAfter does before.
func (c *Call) Read(fn func() error) error { return c.within(c.read, fn) }

// Write runs fn in a write transaction of its own, which is Tx meanwhile. It is for what comes before the
// write of DoAfter, where there is no other.
func (c *Call) Write(fn func() error) error { return c.within(c.write, fn) }

func (c *Call) within(transaction func(context.Context, func(*db.Tx) error) error, fn func() error) error {
	defer func() { c.Tx = nil }()
	return transaction(c.Ctx, func(tx *db.Tx) error {
		c.Tx = tx
		return fn()
	})
}

// Touched records that the call changed this object, for the audit log, which finds writes by what they
// changed. Every write tells at least one. An id is a number or a text.
func (c *Call) Touched(kind string, id any, name string) {
	c.touched = append(c.touched, fault.Ref{Kind: kind, ID: fmt.Sprint(id), Name: name})
}

// Removed is Touched of an object that goes away; a dry run lists it.
func (c *Call) Removed(kind string, id any, name string) {
	c.Touched(kind, id, name)
	c.removed = append(c.removed, c.touched[len(c.touched)-1])
}

// Unix is the moment of the call in Unix seconds.
func (c *Call) Unix() int64 { return c.Now.Unix() }

// Items is the reply of an operation that lists without pages.
type Items[T any] struct {
	Items []T `json:"items" doc:"All there are."`
}

// Empty is the reply of an operation that has nothing to say: {}.
type Empty struct{}
