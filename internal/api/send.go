package api

import (
	"bytes"
	"net/http"
	"net/netip"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/ratelimit"
)

// largeReply is the length from which a reply is counted while it is written, in bytes.
const largeReply = 16 << 10

// A large reply must be read within replyTime, plus one second for each replyPace bytes, and within writeTime in any case.
const (
	replyTime = 10 * time.Second
	replyPace = 64 << 10
)

// bound reserves the bytes of the call's reply until it has been read. Without room it waits; now makes it refuse instead,
// as a transaction must. The reply is dropped with the error.
func (f *Frame) bound(x *exchange, now bool) error {
	f.replies.release(x.replyHolder(), x.unread) // of a transaction that is tried once more
	x.unread = 0
	if x.reply == nil || x.inside {
		return nil
	}
	x.shrink()
	if x.reply.Cap() <= largeReply {
		return nil
	}
	h, n := x.replyHolder(), int64(x.reply.Cap())
	switch {
	case x.op.Effect == Write && x.op.Do.before != nil: // another system has done its part already
		f.replies.force(h, n)
	case !now:
		if err := f.replies.reserve(x.call.Ctx, h, n); err != nil {
			x.release()
			return err
		}
	case !f.replies.reserveNow(h, n):
		x.release()
		return errUnread
	}
	x.unread = n
	return nil
}

// deliver sends the reply of a call that succeeded.
func (f *Frame) deliver(x *exchange) {
	if x.unread > 0 {
		f.mustBeRead(x.w, x.unread)
	}
	x.succeed()
}

// shrink returns a buffer to the pool that is much larger than the reply in it.
func (x *exchange) shrink() {
	if wanted := max(x.reply.Len(), largeReply); x.reply.Cap() > 2*wanted {
		small := bytes.NewBuffer(bytes.Clone(x.reply.Bytes()))
		x.release()
		x.reply = small
	}
}

// replyHolder identifies whose reply it is: the caller's key, else the integration that a body came for, else the network.
func (x *exchange) replyHolder() byteHolder {
	switch {
	case x.call.Who.AccountID != 0:
		return byteHolder{account: x.call.Who.AccountID, key: callerKey(x.call.Who)}
	case x.holder != byteHolder{}:
		return x.holder
	}
	return byteHolder{network: x.network()}
}

// Send answers with a page that was drawn for a person, or for a stranger. A large page is counted until it has been read.
// When too many are, it answers nothing and returns the fault Unavailable.
func (f *Frame) Send(w http.ResponseWriter, r *http.Request, who auth.Principal, status int, page []byte) error {
	if len(page) > largeReply {
		h, n := byteHolder{account: who.AccountID, key: callerKey(who)}, int64(len(page))
		if who.AccountID == 0 {
			address, _ := netip.ParseAddr(f.ClientIP(r))
			h = byteHolder{network: ratelimit.Network(address)}
		}
		if err := f.replies.reserve(r.Context(), h, n); err != nil {
			return err
		}
		defer f.replies.release(h, n)
		f.mustBeRead(w, n)
	}
	SetRetry(w.Header(), status)
	w.WriteHeader(status)
	_, _ = w.Write(page) // a failure means that the client is gone
	return nil
}

// mustBeRead sets the time in which a large reply of n bytes must be read.
func (f *Frame) mustBeRead(w http.ResponseWriter, n int64) {
	end := time.Now().Add(min(f.replyTime+time.Duration(n/replyPace)*time.Second, writeTime))
	_ = http.NewResponseController(w).SetWriteDeadline(end) // not every ResponseWriter has one
}
