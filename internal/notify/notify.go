// Package notify tells people and chats what happened: it keeps what is to be told, target by target, as rows
// that are due, and sends them when they are.
//
// A notice is told at least once, with the same key each time. One target that fails or hangs must never
// hold up another, and nothing may be told that has been overtaken: what a notice is about is looked at again
// when it is sent.
package notify

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/clock"
	"tocsin/internal/db"
	"tocsin/internal/delivery"
	"tocsin/internal/news"
	"tocsin/internal/seal"
	"tocsin/internal/sender"
	"tocsin/internal/work"
)

// Deliver sends a message over a way to an address.
type Deliver func(ctx context.Context, way string, to Address, m sender.Message) (sender.Receipt, error)

// Config is what the room stands on.
type Config struct {
	DB      *db.DB
	Bus     *news.Bus
	Box     *seal.Box
	Clock   clock.Clock
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Deliver Deliver
	Can     func(way string) bool // whether the deployment can send that way, such as sms
	Links   *Links
}

// Room sends notices.
type Room struct {
	Config
	runner  *delivery.Runner[string, *flight, outcome]
	lapsed  func(n *Notice, now time.Time) string
	settled *prometheus.CounterVec
	waited  prometheus.Histogram
}

// New makes the room. Its metrics are tocsin_notices_total by way and outcome, and tocsin_notice_seconds, from
// the moment a notice was due to the moment it was taken.
func New(c Config) *Room {
	r := &Room{Config: c, lapsed: func(*Notice, time.Time) string { return "" },
		settled: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "tocsin_notices_total", Help: "Notices by way and what became of them."}, []string{"way", "outcome"}),
		waited:  prometheus.NewHistogram(prometheus.HistogramOpts{Name: "tocsin_notice_seconds", Help: "From the making of a notice to its being taken.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 9)}),
	}
	if c.Metrics != nil {
		c.Metrics.MustRegister(r.settled, r.waited)
	}
	now := func() time.Time { return r.Clock.Now() }
	r.runner = delivery.New(delivery.Config{Name: "notify", DB: c.DB, Now: now, Log: c.Log, Slots: maxFlying, First: maxFirst, Grace: patience}, store{r})
	return r
}

// Task is the room's background work.
func (r *Room) Task() work.Task { return r.runner.Job() }

// Woken sets what wakes the task.
func (r *Room) Woken(wake func()) { r.runner.Woken(wake) }

// Lapsed says who looks again, when it is sent, at a notice that is about no incident: why it need not be told
// any more, or nothing. It is asked outside of any transaction.
func (r *Room) Lapsed(look func(n *Notice, now time.Time) string) { r.lapsed = look }
