package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/auth"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/ratelimit"
)

// Config is what the frame stands on.
type Config struct {
	DB      *db.DB
	Keys    *auth.Keys
	Clock   clock.Clock
	Log     *slog.Logger // one line per call, with the request id and never the key
	Metrics prometheus.Registerer
	Audit   func(*db.Tx, AuditEntry) error // appends to the audit log
	// Conceal takes out of an error, before its transaction ends, what the caller may not read; nil: nothing is private.
	Conceal func(*db.Tx, auth.Principal, error) error
	Rate    ratelimit.Rate // per account and operation; zero fields: no limit
	Proxies []netip.Prefix // whose X-Forwarded-For is believed
	Build   string         // shown in the reference
	Guesses *KeyGuesses    // shared with what else takes keys; nil: the frame has its own
}

// Frame serves the operations of all rooms. It is an http.Handler for their paths.
type Frame struct {
	Config
	ops       map[string]*mounted
	order     []*mounted
	schemas   *schemas
	preparing sync.Mutex   // of schemas
	failure   *huma.Schema // of errorResponse
	rates     *ratelimit.Table[rateKey]
	bodies    *bodyBudget
	bodyTime  time.Duration
	metrics   *metrics
}

// mounted is an operation with what the frame has worked out about it once.
type mounted struct {
	Op
	number  int32
	once    sync.Once // guards what follows; see prepare
	in, out *huma.Schema
	check   *checker // of in
}

type rateKey struct {
	account int64
	op      int32
}

// New mounts the operations. It panics when two have the same path, which only a programming error
// brings about.
func New(c Config, ops ...[]Op) *Frame {
	if c.Guesses == nil {
		c.Guesses = NewKeyGuesses()
	}
	f := &Frame{
		Config: c, ops: map[string]*mounted{}, schemas: newSchemas(), metrics: newMetrics(c.Metrics),
		rates:  ratelimit.New[rateKey](0),
		bodies: newBodyBudget(bodiesAtOnce, bodyWait), bodyTime: bodyTime,
	}
	for _, room := range ops {
		for _, op := range room {
			f.mount(op)
		}
	}
	f.failure = f.schemas.of(reflect.TypeFor[errorResponse](), "")
	return f
}

func (f *Frame) mount(op Op) {
	if f.ops[op.Path] != nil {
		panic("two operations are mounted at " + op.Path)
	}
	if op.MaxBody == 0 {
		op.MaxBody = defaultMaxBody
	}
	mustBeExported(op.Do.in)
	if op.Do.before != nil && op.Effect == Read {
		panic(op.Path + " asks somebody outside first: it must be a write or a snapshot")
	}
	m := &mounted{Op: op, number: int32(len(f.order))}
	f.ops[op.Path] = m
	f.order = append(f.order, m)
}

// prepare works out the schemas of an operation when it is first called or described: of nearly two hundred
// operations a process that is just starting, or a test, needs few.
func (f *Frame) prepare(m *mounted) {
	m.once.Do(func() {
		f.preparing.Lock()
		defer f.preparing.Unlock()
		m.in = f.schemas.of(m.Do.in, hint(m.Path, "Request"))
		m.out = f.schemas.of(m.Do.out, hint(m.Path, "Reply"))
		m.check = f.schemas.checker(m.in)
	})
}

// mustBeExported panics when a request embeds a struct that is not exported: its fields would be decoded but
// neither be checked nor be in the reference.
func mustBeExported(t reflect.Type) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.Anonymous {
			continue
		}
		if !field.IsExported() {
			panic("request " + t.String() + " embeds " + field.Type.String() + ", which must be exported for its fields to be checked")
		}
		mustBeExported(field.Type)
	}
}

// prepareAll works out all schemas; after it none is added, and they can be read without the lock.
func (f *Frame) prepareAll() {
	for _, m := range f.order {
		f.prepare(m)
	}
}

// exchange is one request on its way through the frame.
type exchange struct {
	call   Call
	op     *mounted // nil until the route is known
	w      http.ResponseWriter
	r      *http.Request
	reply  *bytes.Buffer // the envelope, once there is one
	began  time.Time
	status int
	bytes  int
	code   string  // the error code, "OK" when there is none
	asked  []int64 // the channels for which a write asked permission
	dry    bool    // a dry run: nothing is done or recorded
	held   int64   // bytes reserved for the body, under holder
	holder bodyHolder
}

// network is the caller's network address, the zero Prefix if it is not known.
func (x *exchange) network() netip.Prefix {
	address, _ := netip.ParseAddr(x.call.IP)
	return ratelimit.Network(address)
}

// release gives back what the call held, when nothing reads it any more.
func (f *Frame) release(x *exchange) {
	x.release()
	f.bodies.release(x.holder, x.held)
	x.held = 0
}

// ServeHTTP answers one call: always with a request id, always in the envelope or the error shape.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := f.Clock.Now()
	x := &exchange{w: w, r: r, began: time.Now()}
	x.call = Call{Ctx: r.Context(), Now: now, RequestID: id.ULID(now), IP: clientIP(r, f.Proxies)}
	h := w.Header()
	h["Service-Request-Id"] = []string{x.call.RequestID}
	h["Flashcat-Request-Id"] = h["Service-Request-Id"] // the name that existing clients read

	err := f.answer(x)
	if err != nil {
		x.fail(err)
	} else {
		x.succeed()
	}
	f.release(x)
	f.finish(x, err)
}

// answer takes the call through the checks in their documented order and runs the operation.
func (f *Frame) answer(x *exchange) (err error) {
	if x.op = f.ops[x.r.URL.Path]; x.op == nil {
		return fault.New(fault.RouteNotFound, "%s", shownPath(x.r.URL.Path))
	}
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return fault.New(fault.MethodNotAllowed, "%s takes POST, got %s", x.op.Path, shown(x.r.Method))
	}
	if x.call.Who, err = f.caller(x); err != nil {
		return x.clientGone(err)
	}
	if err := f.within(x); err != nil {
		return err
	}
	if x.op.Effect == Write {
		x.call.Who.Asked = func(channel int64) { x.asked = append(x.asked, channel) }
	}
	body, err := f.admit(x)
	if err == nil {
		err = x.clientGone(f.run(x, body))
	}
	if err != nil && x.op.Effect == Write && !x.dry {
		f.recordRefusal(x, body, err)
	}
	return err
}

// admit holds the caller's permissions against the operation and reads the body.
func (f *Frame) admit(x *exchange) ([]byte, error) {
	if !x.call.Who.MayAny(x.op.Allow) {
		return nil, fault.Denied("this key lacks the permission %s", either(x.op.Allow))
	}
	if x.call.Who.Narrowed && !x.call.Who.MayAny(x.op.Narrowed) {
		return nil, fault.Denied("this key is narrowed and lacks the permission %s", either(x.op.Narrowed))
	}
	return f.readBody(x)
}

// run decodes the request, calls the operation in its transaction and encodes the reply; that of a write
// within the transaction, so that a change whose reply cannot be told is rolled back instead of being done
// and denied. A panic is an internal error of this call alone.
func (f *Frame) run(x *exchange, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	document, err := parse(body)
	if err != nil {
		return err
	}
	f.prepare(x.op)
	if err := x.op.check.check(nil, document); err != nil {
		return err
	}
	in, err := x.op.Do.decode(body)
	if err != nil {
		return err
	}
	x.dry = x.op.Effect == Write && rehearsed(in)
	if x.op.Do.before != nil {
		x.call.read = f.DB.Snapshot
		if x.op.Effect == Write && !x.dry {
			x.call.Ctx, x.call.write = context.WithoutCancel(x.call.Ctx), f.DB.Write
		}
		if in, err = x.op.Do.before(&x.call, in); err != nil {
			return err
		}
	}
	var data any
	do := func(tx *db.Tx) error {
		x.call.Tx = tx
		data, err = x.op.Do.call(&x.call, in)
		if err != nil && f.Conceal != nil {
			err = f.Conceal(tx, x.call.Who, err)
		}
		return err
	}
	switch x.op.Effect {
	case Read:
		err = f.DB.Read(x.call.Ctx, do)
	case Snapshot:
		err = f.DB.Snapshot(x.call.Ctx, do)
	case Write:
		if x.dry {
			return f.dryRun(x, do, &data)
		}
		known := kept(body) // before the transaction: all others wait for it
		return f.DB.Write(x.call.Ctx, func(tx *db.Tx) error {
			if err := do(tx); err != nil {
				return err
			}
			if err := x.encode(data); err != nil {
				return err
			}
			return f.record(tx, x, known, "")
		})
	}
	if err != nil {
		return err
	}
	return x.encode(data) // after the reader has gone back: others wait for it
}

// clientGone tells a call whose caller stopped waiting, or whose time was up, from one that we failed. In
// the first case nobody reads the answer; it is for the log and the metrics.
func (x *exchange) clientGone(err error) error {
	switch ended := x.call.Ctx.Err(); {
	case ended == nil || !errors.Is(err, ended):
		return err
	case ended == context.Canceled:
		return &fault.Error{Kind: fault.BadRequest, Message: "the caller did not wait for the answer", Cause: err}
	default:
		return &fault.Error{Kind: fault.Unavailable, Message: "it took too long", Cause: err}
	}
}

// caller finds whose key it is. Guessing is slowed down per address; a good key is never affected.
func (f *Frame) caller(x *exchange) (auth.Principal, error) {
	secret := secretOf(x.r)
	if secret == "" { // no guess
		return auth.Principal{}, fault.New(fault.Unauthorized, "an app key is needed, as app_key in the query or as a bearer token")
	}
	who, err := f.Keys.Find(x.call.Ctx, secret)
	if err == nil || fault.KindOf(err) != fault.Unauthorized {
		return who, err
	}
	if v := f.Guesses.allow(x.network(), x.call.Now); !v.OK {
		x.retryAfter(v)
		return who, fault.New(fault.TooFrequent, "too many unknown app keys from this address")
	}
	return who, err
}

// secretOf takes the app key from the query, as specified, else from the Authorization header, because
// query strings end up in other people's logs.
func secretOf(r *http.Request) string {
	if key := r.URL.Query().Get("app_key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

func either(any []auth.Permission) string {
	names := make([]string, len(any))
	for i, p := range any {
		names[i] = p.String()
	}
	return strings.Join(names, " or ")
}

// Sweep drops what the rate limits remember of accounts and addresses that have gone quiet.
func (f *Frame) Sweep() {
	now := f.Clock.Now()
	f.rates.Sweep(now)
	f.Guesses.sweep(now)
}

// Ops lists the mounted operations in the order of their tables.
func (f *Frame) Ops() []Op {
	ops := make([]Op, len(f.order))
	for i, m := range f.order {
		ops[i] = m.Op
	}
	return ops
}
