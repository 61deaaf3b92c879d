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
	"slices"
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

// Config holds the frame's dependencies.
type Config struct {
	DB      *db.DB
	Keys    *auth.Keys
	Clock   clock.Clock
	Log     *slog.Logger // one line per call, with the request id and never the key
	Metrics prometheus.Registerer
	Audit   func(*db.Tx, AuditEntry) error // appends to the audit log
	// Conceal removes from an error what the caller may not read, before its transaction ends; nil: nothing is private.
	Conceal func(*db.Tx, auth.Principal, error) error
	Rate    ratelimit.Rate // per account and operation; zero fields: no limit
	// LimitWait is how long a read above the limit waits for its turn before it is refused; 0: it is refused at once.
	LimitWait time.Duration
	Proxies   []netip.Prefix // their X-Forwarded-For is trusted
	Build     string         // shown in the reference
	Guesses   *KeyGuesses    // shared with what else takes keys; nil: the frame has its own
	MaxBody   int64          // the largest limit of an endpoint's body, in bytes: the memory for bodies depends on it
}

// Frame serves the operations of all packages. It is an http.Handler for their paths.
type Frame struct {
	Config
	ops       map[string]*mounted
	order     []*mounted
	schemas   *schemas
	preparing sync.Mutex   // guards schemas
	failure   *huma.Schema // the schema of errorResponse
	rates     *ratelimit.Table[rateKey]
	queue     *ratelimit.Queue[rateKey] // of calls that wait for LimitWait
	stopping  context.Context           // ended by stop
	stop      context.CancelFunc
	bodies    *bodyBudget
	bodyTime  time.Duration
	metrics   *metrics
	unknown   func() *counters // of calls without an operation
}

// mounted is an operation with what the frame derives from it once.
type mounted struct {
	Op
	number  int32
	counted func() *counters // of this operation; made at its first call
	once    sync.Once        // guards the fields below; see prepare
	in, out *huma.Schema
	check   *checker // checks requests against in

	members  map[string]*huma.Schema // of in, by name, and those that are required: for requests with GET
	required []string
}

type rateKey struct {
	account int64
	op      int32
}

// New mounts the operations. It panics when two have the same path, which is a programming error.
func New(c Config, ops ...[]Op) *Frame {
	if c.Guesses == nil {
		c.Guesses = NewKeyGuesses()
	}
	f := &Frame{
		Config: c, ops: map[string]*mounted{}, schemas: newSchemas(), metrics: newMetrics(c.Metrics),
		rates: ratelimit.New[rateKey](0), queue: ratelimit.NewQueue[rateKey](waitingPerAccount, waitingInAll),
		bodies: newBodyBudget(max(bodiesAtOnce, largeBodies*c.MaxBody), bodyWait), bodyTime: bodyTime,
	}
	f.stopping, f.stop = context.WithCancel(context.Background())
	if f.Metrics != nil {
		f.Metrics.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tocsin_calls_waiting", Help: "Reads above the limit that wait for their turn.",
		}, func() float64 { return float64(f.queue.Places()) }))
	}
	f.unknown = f.metrics.of("unknown")
	for _, table := range ops {
		for _, op := range table {
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
		panic(op.Path + " uses DoAfter: it must be a write or a snapshot")
	}
	if op.Get && op.Effect == Write {
		panic(op.Path + " writes: it must take POST alone")
	}
	m := &mounted{Op: op, number: int32(len(f.order)), counted: f.metrics.of(op.Path)}
	f.ops[op.Path] = m
	f.order = append(f.order, m)
}

// prepare builds the schemas of an operation when it is first called or described. There are nearly two hundred
// operations; a process that is just starting, or a test, needs few of them.
func (f *Frame) prepare(m *mounted) {
	m.once.Do(func() {
		f.preparing.Lock()
		defer f.preparing.Unlock()
		m.in = f.schemas.of(m.Do.in, hint(m.Path, "Request"))
		m.out = f.schemas.Schema(m.Do.out, true, hint(m.Path, "Reply")) // a pointer: the data may be null
		m.check = f.schemas.checker(m.in)
		if m.Get {
			in := f.schemas.SchemaFromRef(m.in.Ref)
			m.members, m.required = in.Properties, in.Required
		}
	})
}

// mustBeExported panics when a request embeds a struct that is not exported: its fields would be decoded, but neither
// checked nor described in the reference.
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

// prepareAll builds all schemas. Afterwards none is added, and they can be read without the lock.
func (f *Frame) prepareAll() {
	for _, m := range f.order {
		f.prepare(m)
	}
}

// exchange is one request while the frame handles it.
type exchange struct {
	call      Call
	op        *mounted // nil until the route is known
	w         http.ResponseWriter
	r         *http.Request
	reply     *bytes.Buffer // the envelope, once it is encoded
	file      *Download     // what is answered instead of an envelope
	ownStatus int           // of an Answer; 0: none
	began     time.Time
	status    int
	bytes     int
	code      string  // the error code, "OK" when there is none
	asked     []int64 // the channels that a write's permission was checked for
	dry       bool    // a dry run: nothing is changed or recorded
	inside    bool    // a call of Invoke, without a key
	held      int64   // bytes reserved for the body, under holder
	holder    bodyHolder
}

// network returns the caller's network address, or the zero Prefix if it is not known.
func (x *exchange) network() netip.Prefix {
	address, _ := netip.ParseAddr(x.call.IP)
	return ratelimit.Network(address)
}

// release returns the call's buffer and its reserved body bytes. Neither may be read afterwards.
func (f *Frame) release(x *exchange) {
	x.release()
	f.bodies.release(x.holder, x.held)
	x.held = 0
}

// ServeHTTP answers one call: always with a request id, and always with an envelope or an error.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := f.Clock.Now()
	x := &exchange{w: w, r: r, began: time.Now()}
	x.call = Call{Ctx: r.Context(), Now: now, RequestID: id.ULID(now), IP: clientIP(r, f.Proxies)}
	h := w.Header()
	h["Service-Request-Id"] = []string{x.call.RequestID}
	h["Flashcat-Request-Id"] = h["Service-Request-Id"] // the name that existing clients read

	err := f.answer(x)
	broken := false
	switch {
	case err != nil:
		x.fail(err)
	case x.file != nil:
		broken, err = x.sendFile()
	default:
		x.succeed()
	}
	f.release(x)
	f.finish(x, err)
	if broken {
		panic(http.ErrAbortHandler)
	}
}

// answer runs the checks in their documented order (docs/api.md), then the operation.
func (f *Frame) answer(x *exchange) (err error) {
	if x.op = f.ops[x.r.URL.Path]; x.op == nil {
		return fault.New(fault.RouteNotFound, "%s", shownPath(x.r.URL.Path))
	}
	if !x.op.takes(x.r.Method) {
		x.w.Header().Set("Allow", x.op.methods())
		return fault.New(fault.MethodNotAllowed, "%s takes %s, got %s", x.op.Path, x.op.methods(), shown(x.r.Method))
	}
	if x.call.Who, err = f.caller(x); err != nil {
		return x.clientGone(err)
	}
	return f.perform(x, func() ([]byte, error) { return f.body(x) })
}

// perform checks the caller's limits and permissions, reads the body and runs the operation.
func (f *Frame) perform(x *exchange, read func() ([]byte, error)) error {
	if err := f.within(x); err != nil {
		return err
	}
	if x.op.Effect == Write {
		x.call.Who.Asked = func(channel int64) { x.asked = append(x.asked, channel) }
	}
	err := f.permit(x)
	var body []byte
	if err == nil {
		body, err = read()
	}
	if err == nil {
		err = x.clientGone(f.run(x, body))
	}
	if err != nil && x.op.Effect == Write && !x.dry {
		f.recordRefusal(x, body, err)
	}
	return err
}

// permit checks the caller's permissions for the operation.
func (f *Frame) permit(x *exchange) error {
	if !x.call.Who.MayAny(x.op.Allow) {
		return fault.Denied("this key lacks the permission %s", either(x.op.Allow))
	}
	if x.call.Who.Narrowed && !x.call.Who.MayAny(x.op.Narrowed) {
		return fault.Denied("this key is narrowed and lacks the permission %s", either(x.op.Narrowed))
	}
	return nil
}

// body returns the body of a request, or what the query of a GET stands for.
func (f *Frame) body(x *exchange) ([]byte, error) {
	if x.r.Method == http.MethodGet {
		f.prepare(x.op)
		return x.op.queryBody(x.r.URL.Query())
	}
	return f.readBody(x)
}

// run decodes the request, calls the operation in its transaction and encodes the reply. A write's reply is encoded
// within the transaction: if encoding fails, the change is rolled back, and the caller is not shown an error for a change
// that was made. A panic is an internal error of this call alone.
func (f *Frame) run(x *exchange, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	in, err := f.request(x, body)
	if err != nil {
		return err
	}
	x.dry = x.op.Effect == Write && wantsDryRun(in)
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
		return f.write(x, body, do, &data)
	}
	if err != nil {
		return err
	}
	return x.encode(data) // after the transaction, so that its reader is free for others
}

// write runs do, encodes its data and records the call, all in one write transaction. A change of who may call holds from
// the reply on.
func (f *Frame) write(x *exchange, body []byte, do func(*db.Tx) error, data *any) error {
	known := kept(body) // before the transaction, because all other writers wait for it
	err := f.DB.Write(x.call.Ctx, func(tx *db.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if err := x.encode(*data); err != nil {
			return err
		}
		return f.record(tx, x, known, "")
	})
	if err == nil && slices.ContainsFunc(x.call.touched, func(r fault.Ref) bool { return auth.Decides(r.Kind) }) {
		f.Keys.Recheck(x.call.Who.AccountID)
	}
	return err
}

// request decodes and checks the request. The unknown members of a write or a list become warnings.
func (f *Frame) request(x *exchange, body []byte) (in any, err error) {
	document, err := parse(body)
	if err != nil {
		return nil, err
	}
	f.prepare(x.op)
	if err := x.op.check.check(nil, document); err != nil {
		return nil, err
	}
	if x.op.warns() {
		x.call.warnings, x.call.unlisted = x.op.check.unknown(document)
	}
	return x.op.Do.decode(body)
}

// clientGone distinguishes a call whose caller stopped waiting, or whose time ran out, from a failure of ours. If the
// caller is gone, no one reads the answer; the fault is for the log and the metrics.
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

func either(permissions []auth.Permission) string {
	names := make([]string, len(permissions))
	for i, p := range permissions {
		names[i] = p.String()
	}
	return strings.Join(names, " or ")
}

// Sweep drops the rate limits' counters of accounts and addresses without recent calls.
func (f *Frame) Sweep() {
	now := f.Clock.Now()
	f.rates.Sweep(now)
	f.Guesses.sweep(now)
}

// Has reports whether an operation is mounted at a path.
func (f *Frame) Has(path string) bool { return f.ops[path] != nil }

// Ops returns the mounted operations in the order of their tables.
func (f *Frame) Ops() []Op {
	ops := make([]Op, len(f.order))
	for i, m := range f.order {
		ops[i] = m.Op
	}
	return ops
}
