package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
)

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
	inside    bool    // a call of Ask or AskFile, without a key
	typed     bool    // a call of Ask: data is its reply, and is not encoded
	data      any     // a pointer to the reply of the operation, if typed
	held      int64   // bytes reserved for the body, under holder
	holder    byteHolder
	unread    int64        // bytes reserved for the reply, under replyHolder
	known     string       // what the audit log stores of a large body
	after     OncallAfter  // reads the schedules that the call may move; nil: it moves none
	moved     OncallChange // compares them with those before; nil: they are not read yet
}

// network returns the caller's network address, or the zero Prefix if it is not known.
func (x *exchange) network() netip.Prefix {
	address, _ := netip.ParseAddr(x.call.IP)
	return ratelimit.Network(address)
}

// release returns the call's buffer and its reserved bytes. The body and the reply must not be read afterwards.
func (f *Frame) release(x *exchange) {
	x.release()
	f.replies.release(x.replyHolder(), x.unread)
	f.bodies.release(x.holder, x.held)
	x.held, x.unread = 0, 0
}

// answer runs the checks in their documented order (docs/api.md), then the operation.
func (f *Frame) answer(x *exchange) (err error) {
	x.op = f.ops[x.r.URL.Path]
	if x.op == nil {
		return fault.New(fault.RouteNotFound, "%s", shownPath(x.r.URL.Path))
	}
	if !x.op.takes(x.r.Method) {
		x.w.Header().Set("Allow", x.op.methods())
		return fault.New(fault.MethodNotAllowed, "%s takes %s, got %s", x.op.Path, x.op.methods(), shown(x.r.Method))
	}
	x.call.Who, err = f.caller(x)
	if err != nil {
		return x.clientGone(err)
	}
	return f.perform(x, func() ([]byte, error) { return f.body(x) })
}

// callerKey returns a number for each caller of an account: of its app key, or of a person without one.
func callerKey(who auth.Principal) int64 {
	if who.KeyID != 0 {
		return who.KeyID
	}
	return -who.PersonID
}

// perform checks the caller's permissions and limits, reads the body and runs the operation.
func (f *Frame) perform(x *exchange, read func() ([]byte, error)) error {
	x.call.Ctx = db.For(x.call.Ctx, x.call.Who.AccountID)
	count := f.within
	if f.permit(x) != nil {
		count = f.withinAlone
	}
	if err := count(x); err != nil {
		return err
	}
	if x.op.Effect == Write {
		x.call.Who.Asked = func(channel int64) { x.asked = append(x.asked, channel) }
	}
	err := f.permit(x) // again, because the key may have been narrowed while the call waited
	var body []byte
	if err == nil {
		body, err = read()
	}
	if err == nil {
		err = x.clientGone(f.run(x, body))
	}
	if err == nil && (x.op.Effect != Write || x.dry) {
		err = f.bound(x, false) // after the account's turn: its other calls must not wait for clients that do not read
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
	if x.op.Effect != Write && x.op.Do.before == nil { // others wait for the writer, for another system, or in before
		leave, err := f.Turns.Enter(x.call.Ctx, fair.Of(x.call.Who.AccountID), callerKey(x.call.Who))
		if err != nil {
			return err
		}
		defer leave()
	}
	in, err := f.requestInTurn(x, body)
	if err != nil {
		return err
	}
	x.dry = x.op.Effect == Write && wantsDryRun(in)
	if x.op.Do.before != nil {
		x.call.read = f.DB.Snapshot
		if x.op.Effect == Write && !x.dry && !x.op.Do.own {
			x.call.Ctx = context.WithoutCancel(x.call.Ctx)
			x.call.write = func(ctx context.Context, fn func(*db.Tx) error) error {
				return f.DB.WriteOf(ctx, x.call.Who.AccountID, fn)
			}
		}
	}
	kept := x.call
	for try := 1; ; try++ {
		x.call = kept
		if err := f.attempt(x, body, in); !errors.Is(err, ErrChanged) || try == computeTries {
			return err
		}
	}
}

// ErrChanged is the error of the second function of DoComputed if what the first one read has changed meanwhile.
var ErrChanged = fault.New(fault.Unavailable, "what this call is about was changed each time before it could be stored")

// computeTries is how often both functions of DoComputed run until the caller gets ErrChanged.
const computeTries = 5

// attempt runs the operation once.
func (f *Frame) attempt(x *exchange, body []byte, in any) (err error) {
	if x.op.Do.before != nil {
		in, err = f.before(x, in)
		if err != nil {
			return err
		}
	}
	if err := f.oncallBefore(x, in); err != nil {
		return err
	}
	var data any
	call := x.call // as it is when do begins, which Cached may do twice
	do := func(tx *db.Tx) error {
		x.call = call
		x.call.Tx, x.call.conceal = tx, f.Conceal
		data, err = x.op.Do.call(&x.call, in)
		if err == nil {
			err = x.call.warnOutgrown(f.Outgrown)
		}
		if err != nil && f.Conceal != nil {
			err = f.Conceal(tx, x.call.Who, err)
		}
		return err
	}
	switch x.op.Effect {
	case Read:
		err = f.DB.Read(x.call.Ctx, do)
	case Snapshot:
		err = f.DB.Cached(x.call.Ctx, do)
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

// before runs the first function of an operation. If it only computes, it does so in the account's turn.
func (f *Frame) before(x *exchange, in any) (any, error) {
	if x.op.Do.own {
		leave, err := f.Turns.Enter(x.call.Ctx, fair.Of(x.call.Who.AccountID), callerKey(x.call.Who))
		if err != nil {
			return nil, err
		}
		defer leave()
	}
	return x.op.Do.before(&x.call, in)
}

// write runs do, encodes its data and records the call, all in one write transaction. A change of who may call holds from
// the reply on.
func (f *Frame) write(x *exchange, body []byte, do func(*db.Tx) error, data *any) error {
	known := f.kept(x, body) // before the transaction, because all other writers wait for it
	err := f.DB.WriteOf(x.call.Ctx, x.call.Who.AccountID, func(tx *db.Tx) error {
		if err := do(tx); err != nil {
			return err
		}
		if err := x.encode(*data); err != nil {
			return err
		}
		if err := f.bound(x, true); err != nil {
			return err
		}
		return f.record(tx, x, known, "")
	})
	if err == nil && slices.ContainsFunc(x.call.touched, func(r fault.Ref) bool { return auth.Decides(r.Kind) }) {
		f.Keys.Recheck(x.call.Who.AccountID)
	}
	if err == nil {
		f.supplement(x, *data)
	}
	return err
}

// supplement completes the reply of a write that is stored. If that fails, the reply stays as it was: after an error the caller
// would write again.
func (f *Frame) supplement(x *exchange, data any) {
	completion := x.completionOf(data)
	if completion == nil {
		return
	}
	before := x.reply
	err := f.complete(x, completion)
	if err == nil {
		err = x.encode(data)
	}
	if err == nil {
		err = f.bound(x, true)
	}
	if err == nil {
		return
	}
	x.reply = before
	if x.call.Ctx.Err() == nil { // else no one reads the reply
		f.Log.Error("a reply lacks a part", "path", x.op.Path, "request_id", x.call.RequestID, "error", err)
	}
}

// requestInTurn is request when it is the account's turn, for a large body of a write. A small one takes less than a
// millisecond, and reads have had their turns before.
func (f *Frame) requestInTurn(x *exchange, body []byte) (any, error) {
	if x.op.Effect != Write || len(body) <= smallBody {
		return f.request(x, body)
	}
	x.known = notRead
	leave, err := f.Pace.Enter(x.call.Ctx, fair.Of(x.call.Who.AccountID), 0)
	if errors.Is(err, fair.ErrFull) {
		return nil, errBusy
	}
	if err != nil {
		return nil, err
	}
	defer leave()
	x.known = f.redacted(x.op, body)
	return f.request(x, body)
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
		return &fault.Error{Kind: fault.BadRequest, Message: "the client closed the connection", Cause: err}
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
