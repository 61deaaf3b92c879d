package edges

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/app"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// ahead is a clock that is wrong by so much.
type ahead time.Duration

func (a ahead) Now() time.Time { return time.Now().Add(time.Duration(a)) }

// runWith goes on with the directory of an edge within the test, on a machine whose clock is wrong: the program always takes the
// time from the machine. It returns what ends it.
func (w *world) runWith(e *edge, off time.Duration) (stop func(), err error) {
	key, err := os.ReadFile(e.key)
	if err != nil {
		return nil, err
	}
	now := clock.Correct(clock.Steady(ahead(off)))
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	center, err := remote.New(remote.Config{
		Server: e.server(), Key: strings.TrimSpace(string(key)), Dir: e.disk.dir, Name: e.Name, Version: "test", Types: []string{"prometheus"},
		StaleConfig: 24 * time.Hour, Clock: now, Machine: ahead(off), Log: slog.New(slog.DiscardHandler), Out: out,
		Stop: func(err error) { w.t.Error(err) },
		Open: querier.Registry{Types: app.Queriers(), Out: out}.Open,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	_ = center.Join(ctx) // the server may be away
	runner := jobs.New(now, slog.New(slog.DiscardHandler), nil)
	runner.Add(evaluator.New(evaluator.Config{
		Center: center, Open: center.Open, Clock: now, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
		Wake: jobs.NewSignal(), Journal: center.Journal,
	}).Evaluating())
	runner.Start()
	return func() { runner.Stop(); cancel() }, nil
}
