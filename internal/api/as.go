package api

import (
	"net/http"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// As runs an operation for a page that identified its reader otherwise than by an app key, such as by a signed link. It is
// limited, checked and recorded as any other call; the page shows the outcome. It panics for a path that has no operation.
func (f *Frame) As(w http.ResponseWriter, r *http.Request, who auth.Principal, path string, body []byte) (err error) {
	now := f.Clock.Now()
	x := &exchange{w: w, r: r, op: f.ops[path], began: time.Now()}
	if x.op == nil {
		panic("no operation is mounted at " + path)
	}
	x.call = Call{Ctx: r.Context(), Now: now, RequestID: id.ULID(now), IP: clientIP(r, f.Proxies), Who: who}
	defer func() {
		f.release(x)
		x.status, x.code = http.StatusOK, "OK"
		if err != nil {
			kind := wire[fault.KindOf(err)]
			x.status, x.code = kind.status, kind.code
		}
		f.finish(x, err)
	}()
	if err := f.within(x); err != nil {
		return err
	}
	err = x.clientGone(f.run(x, body))
	if err != nil && x.op.Effect == Write {
		f.recordRefusal(x, body, err)
	}
	return err
}
