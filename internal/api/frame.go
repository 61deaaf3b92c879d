package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"runtime/debug"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/auth"
	"tocsin/internal/clock"
	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/id"
	"tocsin/internal/limit"
)

// Config is what the frame stands on.
type Config struct {
	DB      *db.DB
	Keys    *auth.Keys
	Clock   clock.Clock
	Log     *slog.Logger // one line per call, with the request id and never the key
	Metrics prometheus.Registerer
	Audit   func(*db.Tx, AuditEntry) error // appends to the audit log
	Rate    limit.Rate                     // per account and operation; zero fields: no limit
	Proxies []netip.Prefix                 // whose X-Forwarded-For is believed
	Build   string                         // shown in the reference
}

// Frame serves the operations of all rooms. It is an http.Handler for their paths.
type Frame struct {
	Config
	ops     map[string]*mounted
	order   []*mounted
	schemas *schemas
	rates   *limit.Table[rateKey]
	guesses *limit.Table[netip.Prefix]
	metrics *metrics
}

// mounted is an operation with what the frame has worked out about it once.
type mounted struct {
	Op
	in, out *huma.Schema
	number  int32
}

type rateKey struct {
	account int64
	op      int32
}

// New mounts the operations. It panics when two have the same path, which only a programming error
// brings about.
func New(c Config, ops ...[]Op) *Frame {
	f := &Frame{Config: c, ops: map[string]*mounted{}, schemas: newSchemas(), rates: limit.New[rateKey](0), guesses: limit.New[netip.Prefix](maxAddresses), metrics: newMetrics(c.Metrics)}
	for _, room := range ops {
		for _, op := range room {
			if f.ops[op.Path] != nil {
				panic("two operations are mounted at " + op.Path)
			}
			m := &mounted{Op: op, number: int32(len(f.order))}
			m.in = f.schemas.of(op.Do.in, hint(op.Path, "Request"))
			m.out = f.schemas.of(op.Do.out, hint(op.Path, "Reply"))
			f.ops[op.Path] = m
			f.order = append(f.order, m)
		}
	}
	return f
}

// guessing is how many unknown keys one network address may try, and maxAddresses how many addresses
// are told apart; those beyond share one allowance.
var guessing = limit.Rate{PerMinute: 300}

const maxAddresses = 10_000

// exchange is one request on its way through the frame.
type exchange struct {
	call   Call
	op     *mounted // nil until the route is known
	w      http.ResponseWriter
	r      *http.Request
	began  time.Time
	status int
	bytes  int
	code   string // the error code, "OK" when there is none
}

// ServeHTTP answers one call: always with a request id, always in the envelope or the error shape.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := f.Clock.Now()
	x := &exchange{w: w, r: r, began: time.Now()}
	x.call = Call{Ctx: r.Context(), Now: now, RequestID: id.ULID(now), IP: clientIP(r, f.Proxies)}
	h := w.Header()
	h["Service-Request-Id"] = []string{x.call.RequestID}
	h["Flashcat-Request-Id"] = h["Service-Request-Id"] // the name that existing clients read

	data, err := f.answer(x)
	if err == nil {
		err = x.succeed(data)
	}
	if err != nil {
		x.fail(err)
	}
	f.finish(x, err)
}

// answer takes the call through the checks in their documented order and runs the operation. A panic is
// an internal error of this call alone.
func (f *Frame) answer(x *exchange) (data any, err error) {
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	if x.op = f.ops[x.r.URL.Path]; x.op == nil {
		return nil, fault.New(fault.RouteNotFound, "%s", shown(x.r.URL.Path))
	}
	if x.r.Method != http.MethodPost {
		x.w.Header().Set("Allow", http.MethodPost)
		return nil, fault.New(fault.MethodNotAllowed, "%s takes POST, got %s", x.op.Path, x.r.Method)
	}
	if x.call.Who, err = f.caller(x); err != nil {
		return nil, err
	}
	if err := f.within(x); err != nil {
		return nil, err
	}
	body, err := f.admit(x)
	if err == nil {
		data, err = f.run(x, body)
	}
	if err != nil && x.op.Effect == Write {
		f.recordRefusal(x, body, err)
	}
	return data, err
}

// admit holds the caller's permissions against the operation and reads the body.
func (f *Frame) admit(x *exchange) ([]byte, error) {
	if !x.call.Who.MayAny(x.op.Allow) {
		return nil, fault.Denied("this key lacks the permission %s", either(x.op.Allow))
	}
	return readBody(x.w, x.r, x.op.MaxBody)
}

// run decodes the request and calls the operation in its transaction.
func (f *Frame) run(x *exchange, body []byte) (data any, err error) {
	document, err := parse(body)
	if err != nil {
		return nil, err
	}
	if err := f.schemas.check(x.op.in, document); err != nil {
		return nil, err
	}
	in, err := x.op.Do.decode(body)
	if err != nil {
		return nil, err
	}
	call := func(tx *db.Tx) error {
		x.call.Tx = tx
		data, err = x.op.Do.call(&x.call, in)
		x.call.Tx = nil
		return err
	}
	switch x.op.Effect {
	case Read:
		return data, f.DB.Read(x.call.Ctx, call)
	case Snapshot:
		return data, f.DB.Snapshot(x.call.Ctx, call)
	}
	return data, f.DB.Write(x.call.Ctx, func(tx *db.Tx) error {
		if err := call(tx); err != nil {
			return err
		}
		return f.record(tx, x, body, "")
	})
}

// caller finds whose key it is. Guessing is slowed down per address; a good key is never affected.
func (f *Frame) caller(x *exchange) (auth.Principal, error) {
	who, err := f.Keys.Find(x.call.Ctx, secretOf(x.r))
	if err == nil || fault.KindOf(err) != fault.Unauthorized {
		return who, err
	}
	address, _ := netip.ParseAddr(x.call.IP)
	if v := f.guesses.Allow(limit.Network(address), guessing, x.call.Now); !v.OK {
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
	if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return key
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
	f.guesses.Sweep(now)
}

// Ops lists the mounted operations in the order of their tables.
func (f *Frame) Ops() []Op {
	ops := make([]Op, len(f.order))
	for i, m := range f.order {
		ops[i] = m.Op
	}
	return ops
}
