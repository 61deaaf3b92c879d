package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/auth"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/redact"
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
	// Oncall reads who is on call now, before and after the writes of MovesShifts; nil: these do not warn.
	Oncall   Oncall
	Outgrown Outgrown // nil: writes do not warn of links that they end
	// CursorKey authenticates the cursors of pages, which are good for as long as it stays the same: it should outlive the process.
	CursorKey []byte
	Rate      ratelimit.Rate   // per account and operation; zero fields: no limit
	Share     *ratelimit.Share // of all rates, that this process accepts; nil: the whole
	// LimitWait is how long a call above the limit waits for its turn, if its key has no wait of its own; 0: it is refused.
	LimitWait time.Duration
	Proxies   []netip.Prefix // their X-Forwarded-For is trusted
	Build     string         // shown in the reference
	Turns     *fair.Queue    // of accounts whose reads compute; nil: no account waits
	Pace      *fair.Queue    // of decoding large bodies of writes, shared with what else computes for long; nil: none waits
	Guesses   *KeyGuesses    // shared with what else takes keys; nil: the frame has its own
	MaxBody   int64          // the largest limit of an endpoint's body, in bytes: the memory for bodies depends on it
}

// Frame serves the operations of all packages. It is an http.Handler for their paths.
type Frame struct {
	Config
	ops       map[string]*mounted
	segments  map[string]bool // of the paths of ops
	order     []*mounted
	schemas   *schemas // of requests
	replied   *schemas
	preparing sync.Mutex // guards schemas and replied
	rates     *ratelimit.Table[rateKey]
	queue     *ratelimit.Queue[rateKey] // of calls above the limit that wait
	stopping  context.Context           // ended by stop
	stop      context.CancelFunc
	bodies    *byteBudget
	replies   *byteBudget
	bodyTime  time.Duration
	replyTime time.Duration
	metrics   *metrics
	unknown   func() *counters // of calls without an operation
	forwarder atomic.Pointer[forwarder]
}

// mounted is an operation with what the frame derives from it once.
type mounted struct {
	Op
	number  int32
	counted func() *counters // of this operation; made at its first call
	once    sync.Once        // guards the fields below; see prepare
	in, out *huma.Schema
	check   *checker      // checks requests against in
	shape   *redact.Shape // what of a request may be shown

	members  map[string]*huma.Schema // of in, by name, and those that are required: for requests with GET
	required []string
}

// rateKey identifies the windows of an operation: of an account, or of one of its callers.
type rateKey struct {
	account int64
	op      int32
	caller  int64 // see callerKey; 0: all callers of the account that have the permission
}

// New mounts the operations. It panics when two have the same path, which is a programming error.
func New(c Config, ops ...[]Op) *Frame {
	if c.Guesses == nil {
		c.Guesses = NewKeyGuesses(c.Share)
	}
	f := &Frame{
		Config: c, ops: map[string]*mounted{}, segments: map[string]bool{}, metrics: newMetrics(c.Metrics),
		schemas: newSchemas(), replied: newSchemas(),
		rates: ratelimit.New[rateKey](0).Divided(c.Share), queue: ratelimit.NewQueue[rateKey](waitingCalls),
		bodies: newBodyBudget(max(bodiesAtOnce, largeBodies*c.MaxBody), budgetWait), bodyTime: bodyTime,
		replies: newReplyBudget(repliesAtOnce, repliesWaiting, budgetWait), replyTime: replyTime,
	}
	f.replied.replies = true
	f.stopping, f.stop = context.WithCancel(context.Background())
	f.gauge(prometheus.GaugeOpts{Name: "tocsin_calls_waiting", Help: "Calls above the limit that wait for their turn."},
		func() int64 { return int64(f.queue.Places()) })
	f.gauge(prometheus.GaugeOpts{Name: "tocsin_body_bytes", Help: "Bytes of request bodies in memory."}, f.bodies.held)
	f.gauge(prometheus.GaugeOpts{Name: "tocsin_reply_bytes", Help: "Bytes of large replies that have not been read."}, f.replies.held)
	f.unknown = f.metrics.of("unknown")
	for _, table := range ops {
		for _, op := range table {
			f.mount(op)
		}
	}
	return f
}

func (f *Frame) gauge(opts prometheus.GaugeOpts, value func() int64) {
	if f.Metrics != nil {
		f.Metrics.MustRegister(prometheus.NewGaugeFunc(opts, func() float64 { return float64(value()) }))
	}
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
	for segment := range strings.SplitSeq(op.Path, "/") {
		f.segments[segment] = true
	}
	f.order = append(f.order, m)
}

// prepare builds the schemas of an operation when it is first called or described. There are nearly two hundred
// operations; a process that is just starting, or a test, needs few of them.
func (f *Frame) prepare(m *mounted) {
	m.once.Do(func() {
		f.preparing.Lock()
		defer f.preparing.Unlock()
		m.in = f.schemas.of(m.Do.in, hint(m.Path, "Request"))
		m.check = f.schemas.checker(m.in)
		m.shape = m.check.shown()
		if m.Get {
			in := f.schemas.SchemaFromRef(m.in.Ref)
			m.members, m.required = in.Properties, in.Required
		}
	})
}

// mustBeExported panics when a request embeds a struct that is not exported, or that has a field of its own name: its fields
// would be decoded, but neither checked nor described in the reference.
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
		if field.Type.Kind() == reflect.Struct {
			if _, hidden := field.Type.FieldByName(field.Name); hidden {
				panic("request " + t.String() + " embeds " + field.Type.String() + ", whose name hides its field " + field.Name)
			}
		}
		mustBeExported(field.Type)
	}
}

// mustMergeWarnings panics when the reply of an operation has warnings of its own that are not a Warnings. The frame
// could not add its own to them, and would give the reply a second member of the same name.
func (f *Frame) mustMergeWarnings(m *mounted) {
	data := f.replied.SchemaFromRef(m.out.Ref)
	if m.warns() && data != nil && data.Properties["warnings"] != nil && !reflect.PointerTo(m.Do.out).Implements(reflect.TypeFor[warned]()) {
		panic("the reply of " + m.Path + " must embed Warnings")
	}
}

// prepareAll builds all schemas, also those of replies, which only the reference needs. Afterwards none is added, and they
// can be read without the lock.
func (f *Frame) prepareAll() {
	for _, m := range f.order {
		f.prepare(m)
	}
	f.preparing.Lock()
	defer f.preparing.Unlock()
	f.replied.of(reflect.TypeFor[errorResponse](), "")
	for _, m := range f.order {
		switch {
		case m.out != nil:
		case m.Do.out == reflect.TypeFor[Download]():
			m.out = &huma.Schema{Type: huma.TypeString}
		default:
			m.out = f.replied.Schema(m.Do.out, true, hint(m.Path, "Reply")) // a pointer: the data may be null
			f.mustMergeWarnings(m)
		}
	}
}

// ServeHTTP answers one call: always with a request id, and always with an envelope or an error.
func (f *Frame) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := f.Clock.Now()
	x := &exchange{w: w, r: r, began: time.Now()}
	x.call = f.callOf(r, now)
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
		f.deliver(x)
	}
	f.release(x)
	f.finish(x, err)
	if broken {
		panic(http.ErrAbortHandler)
	}
}

// callOf returns the call of a request whose caller is not known yet.
func (f *Frame) callOf(r *http.Request, now time.Time) Call {
	return Call{
		Ctx: db.For(r.Context(), db.Strangers), Now: now, RequestID: id.ULID(now), IP: clientIP(r, f.Proxies),
		Shared: f.forwarded(r, now), cursorKey: f.CursorKey,
	}
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
