// Package api is the frame around every operation of the public API. It routes, authenticates, limits,
// authorises, decodes, checks, opens the transaction, calls the operation, encodes the envelope, records
// the audit entry, maps errors and measures. An operation is a value in its package's table; its function holds
// the domain logic and nothing else.
//
// This package must never depend on what an operation does.
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

// Effect is what an operation does to the database. It decides which transaction the operation runs in.
type Effect uint8

// The effects of operations.
const (
	Read     Effect = iota // one query: each statement sees the newest commit
	Snapshot               // several queries that must agree with one another
	Write                  // changes something: one write transaction, recorded in the audit log
)

// Op is one operation of the public API: POST Path with a JSON body. A read may take GET as well.
type Op struct {
	Path  string            // such as /schedule/info
	Allow []auth.Permission // any one of them suffices; none: any valid key may call
	// Narrowed are permissions of which a narrowed key needs any one as well. They are for operations on what the caller
	// owns as a person, such as app keys, which any full key may call. Empty: no further permission.
	Narrowed []auth.Permission
	Effect   Effect
	Get      bool // may also be called with GET, with the request's members in the query

	Doc     string         // one sentence for the reference: what the operation returns or does
	Notes   string         // further paragraphs for the reference, may be empty
	Example string         // a request body that works on the demo account
	Reply   []byte         // a whole reply for the reference; see WithReplies
	Audit   string         // the name under which a write is recorded, such as schedule:write:create
	Danger  bool           // the audit log marks it as dangerous: it deletes or reveals
	Errors  Errors         // its failures that neither all operations have nor its other fields imply
	Moves   Objects        // of a write: what schedules may depend on, so that its reply warns if other persons are on call now
	Rate    ratelimit.Rate // zero: the deployment's default
	MaxBody int64          // bytes; zero: 1 MiB

	Do Func
}

// Func is an operation's function with its request and reply types. Do and DoAfter construct it.
type Func struct {
	in, out reflect.Type
	decode  func(body []byte) (any, error)     // returns a pointer to the request
	before  func(c *Call, in any) (any, error) // runs first, without a transaction; nil: none
	own     bool                               // before only computes: it waits for the account's turn
	call    func(c *Call, in any) (any, error) // returns a pointer to the reply, so that the encoder need not copy it
}

// Types returns the types of the request and of the reply.
func (f Func) Types() (in, out reflect.Type) { return f.in, f.out }

// Do returns the Func of a function from request to reply.
//
// In is a struct whose json tags name the fields: a field with omitempty or omitzero is optional, any
// other is required; minimum, maximum, minLength, maxLength, minItems, maxItems, enum and pattern tags
// are checked before the function is called, and so is a method Check() error on In, for rules between
// fields. null means absent for an optional field. Unknown fields are ignored; a write or a list
// names them in the warnings of its reply.
func Do[In, Out any](fn func(*Call, In) (Out, error)) Func {
	return Func{
		in:  reflect.TypeFor[In](),
		out: reflect.TypeFor[Out](),
		decode: func(body []byte) (any, error) {
			in := new(In)
			return in, decode(body, in)
		},
		call: func(c *Call, in any) (any, error) {
			out, err := fn(c, *in.(*In))
			return &out, err
		},
	}
}

// decode reads a request and applies its own checks.
func decode(body []byte, in any) error {
	if err := unmarshal(body, in); err != nil {
		return err
	}
	if c, ok := in.(interface{ Check() error }); ok {
		return c.Check()
	}
	return nil
}

// DoAfter is Do for a write that must first call another system, such as a chat service. That call may take half a
// minute; in the write transaction it would block all other writers. So before runs without a transaction, and may use
// Call.Write for what it must read or store. Then do receives the result of before and is the write. It alone is
// recorded in the audit log and answered, in its own transaction. An error of before is recorded as the refusal of the
// whole operation.
//
// Both are completed although the caller stops waiting, because the call to the other system cannot be rolled back. So
// before must limit its own time. A dry run has no Call.Write: before must not call the other system then, but pass on
// what do needs to describe the outcome.
//
// A Snapshot may use DoAfter as well, to show what another system knows. It has Call.Read to find out which system to
// call, and ends when its caller stops waiting.
func DoAfter[In, Found, Out any](before func(*Call, In) (Found, error), do func(*Call, Found) (Out, error)) Func {
	f := Do[In, Out](nil)
	f.before = func(c *Call, in any) (any, error) { return before(c, *in.(*In)) }
	f.call = func(c *Call, found any) (any, error) {
		out, err := do(c, found.(Found))
		return &out, err
	}
	return f
}

// DoOutside is DoAfter for a Snapshot that shows what it found outside of a transaction.
func DoOutside[In, Out any](find func(*Call, In) (Out, error)) Func {
	return DoAfter(find, func(_ *Call, found Out) (Out, error) { return found, nil })
}

// DoComputed is Do for an operation that computes for long, as rendering does: in a write transaction it would block all
// other writers, in a read transaction one of few readers. compute runs first, without a transaction, in the account's turn
// among calls that compute, and may use Call.Read. Then do receives its result. If do returns ErrChanged, both run again.
func DoComputed[In, Found, Out any](compute func(*Call, In) (Found, error), do func(*Call, Found) (Out, error)) Func {
	f := DoAfter(compute, do)
	f.own = true
	return f
}

// WithReplies sets each operation's golden reply as the example of the reference, so that the reference shows a reply
// that a test has checked. The file of /schedule/info is testdata/golden/schedule_info.json.
func WithReplies(golden fs.FS, ops []Op) []Op {
	for i := range ops {
		// A missing file leaves the example empty; TestEveryOperationIsComplete of internal/app reports it.
		ops[i].Reply, _ = fs.ReadFile(golden, GoldenFile(ops[i].Path))
	}
	return ops
}

// GoldenFile returns the file of an operation's golden reply, relative to the operation's package.
func GoldenFile(path string) string {
	return "testdata/golden/" + strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", "_") + ".json"
}

// hint returns the schema name for a type without a name.
func hint(path, suffix string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '-' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String() + suffix
}

// Call is what an operation's function receives besides its request. It is valid for one call only.
type Call struct {
	Ctx       context.Context
	Tx        *db.Tx         // the transaction of the operation's Effect; nil while the first function of DoAfter runs
	Now       time.Time      // the time of the call; operations must not read any other clock
	Who       auth.Principal // the owner of the key; every query is scoped by Who.AccountID
	RequestID string         // as in the envelope, the header, the audit log and the access log
	IP        string         // the caller's address, through trusted proxies
	Shared    bool           // IP is of a proxy that is not trusted, so that many callers share it
	HideIP    bool           // IP must not be logged
	touched   []fault.Ref
	removed   []fault.Ref
	changed   []fault.Ref
	gained    []int64 // persons who may do more than before the call
	read      func(context.Context, func(*db.Tx) error) error
	write     func(context.Context, func(*db.Tx) error) error
	reports   []error
	warnings  []string // of the frame and of Warn
	asked     int64    // the limit of a page that ends early; 0: it does not
	unlisted  int      // how many warnings there are besides
	conceal   func(*db.Tx, auth.Principal, error) error
	cursorKey []byte
}

// Warn adds what a write accepts but is probably not intended to the warnings of its reply.
func (c *Call) Warn(list ...string) { c.warnings = append(c.warnings, list...) }

// Report logs a problem with one object although the call as a whole succeeds.
func (c *Call) Report(err error) { c.reports = append(c.reports, err) }

// Read runs fn in a snapshot of its own, which is Tx meanwhile. Only the first function of DoAfter may use it.
func (c *Call) Read(fn func() error) error { return c.within(c.read, fn) }

// Write runs fn in a write transaction of its own, which is Tx meanwhile. Only the first function of DoAfter may use
// it; elsewhere there is a transaction already.
func (c *Call) Write(fn func() error) error { return c.within(c.write, fn) }

func (c *Call) within(transaction func(context.Context, func(*db.Tx) error) error, fn func() error) error {
	defer func() { c.Tx = nil }()
	return transaction(c.Ctx, func(tx *db.Tx) error {
		c.Tx = tx
		return fn()
	})
}

// Touched records that the call changed this object. The audit log finds writes by the objects they changed, so every
// write must call it at least once. id is a number or a string.
func (c *Call) Touched(kind string, id any, name string) {
	c.touched = append(c.touched, fault.Ref{Kind: kind, ID: fmt.Sprint(id), Name: name})
}

// Removed is Touched for an object that is deleted; a dry run lists it.
func (c *Call) Removed(kind string, id any, name string) {
	c.Touched(kind, id, name)
	c.removed = append(c.removed, c.touched[len(c.touched)-1])
}

// Changed is Touched for an object that a deletion changes; a dry run lists it.
func (c *Call) Changed(kind string, id any, name string) {
	c.Touched(kind, id, name)
	c.changed = append(c.changed, c.touched[len(c.touched)-1])
}

// Gained records that persons may do more than before the call, which ends the links with which they could set a password. The
// reply warns of it: the person who got a link could not sign in, and would not know why.
func (c *Call) Gained(persons ...int64) { c.gained = append(c.gained, persons...) }

// warnOutgrown warns of links that the call ends.
func (c *Call) warnOutgrown(outgrown Outgrown) error {
	if len(c.gained) == 0 || outgrown == nil {
		return nil
	}
	persons, err := outgrown(c.Tx, c.Who.AccountID, c.gained, c.Now)
	for _, p := range persons {
		c.Warn(fmt.Sprintf("links to set a password of person %d do not work any more, because the person may do more than when they were "+
			"made; make a new link", p))
	}
	return err
}

// Outgrown returns those of the persons who have links that work no more, because the person may do more than when they were made.
type Outgrown func(tx *db.Tx, account int64, persons []int64, now time.Time) ([]int64, error)

// Unix returns the time of the call in Unix seconds.
func (c *Call) Unix() int64 { return c.Now.Unix() }

// Items is the reply of an operation that lists without pages.
type Items[T any] struct {
	Items []T `json:"items" doc:"All there are."`
}

// Empty is the reply of an operation that returns nothing: {}.
type Empty struct{}
