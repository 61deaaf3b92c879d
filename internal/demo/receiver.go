package demo

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"tocsin/internal/platform/egress"
)

// Receiver answers in place of the demo's webhooks, so that none is called. Each takes the time that it usually does. The
// ERP system refuses what it receives while it is down.
type Receiver struct{ down atomic.Bool }

// Do answers a request.
func (r *Receiver) Do(ctx context.Context, q egress.Request) (a egress.Attempt, err error) {
	i := max(0, slices.IndexFunc(subscribers, func(s subscriber) bool { return s.endpoint == q.URL }))
	s := subscribers[i]
	select {
	case <-ctx.Done():
		return a, ctx.Err()
	case <-time.After(s.slow):
	}
	a = egress.Attempt{Status: http.StatusOK, Body: []byte(`{"ok":true}`), Took: s.slow}
	a.Header = http.Header{"Content-Type": {"application/json"}}
	if s.integration == erp && r.down.Load() {
		a.Status, a.Body = http.StatusUnprocessableEntity, []byte(`{"error":"the books are closed for the month's end"}`)
	}
	return a, nil
}

// books plays the outage of the ERP system: it is down for two rounds of four. Then what it refused is sent again.
func (s *stage) books(round int) {
	switch round % 4 {
	case 1:
		s.receiver.down.Store(true)
	case 3:
		s.receiver.down.Store(false)
		s.replay()
	}
}

// replay sends again what the ERP system has refused: first the count, then the messages.
func (s *stage) replay() {
	request := map[string]any{
		"integration_ids": []int64{erp}, "status": "failed", "dry_run": true,
		"start_time": s.began.UnixMilli(), "end_time": s.began.Add(29 * day).UnixMilli(),
	}
	var reply struct {
		Count int64 `json:"count"`
	}
	post(s.ctx, s.url+"/webhook/replay?app_key="+s.keys.All, request, &reply)
	if reply.Count == 0 {
		return
	}
	delete(request, "dry_run")
	request["count"] = reply.Count
	if call(s.ctx, s.url+"/webhook/replay?app_key="+s.keys.All, request, &reply) == nil {
		s.show("replay     the ERP system is back: %d messages that it refused are sent again; see %s/endpoints/%d\n", reply.Count, s.url, erp)
	}
}
