package app

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// gauges collects the metrics that are read when they are asked for: from the database, and from the program itself.
type gauges struct {
	app                        *App
	count, oldest, fails, held *prometheus.Desc
	size, wal, gaps, build     *prometheus.Desc
	unreadable, nodes, clock   *prometheus.Desc
	free, keys                 *prometheus.Desc
	modules                    []moduleGauge
}

// moduleGauge is a gauge of a module with its description.
type moduleGauge struct {
	module.Gauge
	desc *prometheus.Desc
}

func newGauges(a *App) *gauges {
	g := &gauges{
		app:    a,
		count:  prometheus.NewDesc("tocsin_due_rows", "Work that is due and not done, by kind.", []string{"work"}, nil),
		oldest: prometheus.NewDesc("tocsin_oldest_due_seconds", "For how long the oldest of it is overdue.", []string{"work"}, nil),
		fails:  prometheus.NewDesc("tocsin_notices_failed_last_hour", "Notifications that failed for good within the last hour.", nil, nil),
		held:   prometheus.NewDesc("tocsin_held", "1 while the server is held and sends nothing, else 0.", nil, nil),
		unreadable: prometheus.NewDesc("tocsin_unreadable_objects",
			"Configuration objects that are left out because they cannot be decoded, by kind.", []string{"kind"}, nil),
		size: prometheus.NewDesc("tocsin_database_size_bytes", "Size of the database file.", nil, nil),
		wal:  prometheus.NewDesc("tocsin_database_wal_size_bytes", "Size of the write-ahead log beside the database file.", nil, nil),
		free: prometheus.NewDesc("tocsin_database_free_bytes", "How much the database may still grow.", nil, nil),
		keys: prometheus.NewDesc("tocsin_key_file_trouble", "1 while the file of the sealing keys cannot be used, else 0.", nil, nil),
		gaps: prometheus.NewDesc("tocsin_schedules_uncovered",
			"Enabled schedules in which no one is on call now, or at some time within 24 hours.", []string{"within"}, nil),
		nodes: prometheus.NewDesc("tocsin_nodes", "Live processes that serve the database, this one among them.", nil, nil),
		clock: prometheus.NewDesc("tocsin_clock_offset_seconds",
			"What is added to this machine's clock, so that it shows the database's time.", nil, nil),
		build: prometheus.NewDesc("tocsin_build_info", "Always 1; the labels are about the program.", []string{"version", "goversion"}, nil),
	}
	for _, m := range a.Modules {
		for _, each := range m.Gauges {
			g.modules = append(g.modules, moduleGauge{each, prometheus.NewDesc(each.Name, each.Help, each.Labels, nil)})
		}
	}
	return g
}

// Describe implements prometheus.Collector.
func (g *gauges) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		g.count, g.oldest, g.fails, g.held, g.size, g.wal, g.gaps, g.build, g.unreadable, g.nodes, g.clock, g.free, g.keys,
	} {
		ch <- d
	}
	for _, m := range g.modules {
		ch <- m.desc
	}
}

// Collect implements prometheus.Collector. A metric that cannot be read is missing; the others are not.
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	now := g.app.Clock.Now()
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	send(g.held, oneIf(g.app.Gate.Reason() != ""))
	send(g.keys, oneIf(g.app.machine.KeyFile() != ""))
	send(g.build, 1, g.app.Version, runtime.Version())
	send(g.nodes, float64(len(g.app.Nodes.Live())))
	send(g.clock, g.app.offset().Seconds())
	g.uncovered(ctx, send, ch)
	if size, wal, err := g.app.DB.Size(ctx); err != nil {
		ch <- prometheus.NewInvalidMetric(g.size, err)
	} else {
		send(g.size, float64(size))
		send(g.wal, float64(wal))
	}
	if free := g.app.machine.Free(ctx); free >= 0 {
		send(g.free, float64(free))
	}
	s, err := g.app.standing(ctx, now)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.count, err)
		return
	}
	for _, o := range s.Work {
		send(g.count, float64(o.Count), o.Work)
		send(g.oldest, o.Seconds, o.Work)
	}
	send(g.fails, float64(s.Failed))
	for _, u := range s.Unreadable {
		send(g.unreadable, float64(u.Count), u.Kind)
	}
	for _, m := range g.modules {
		g.read(ctx, m, now, ch)
	}
}

// oneIf returns 1 for what is, else 0.
func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// uncovered collects how many schedules have no one on call.
func (g *gauges) uncovered(ctx context.Context, send func(*prometheus.Desc, float64, ...string), ch chan<- prometheus.Metric) {
	var all schedule.Gaps
	if err := g.app.DB.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = schedule.AllGaps(tx)
		return err
	}); err != nil {
		ch <- prometheus.NewInvalidMetric(g.gaps, err)
		return
	}
	send(g.gaps, float64(all.Now), "now")
	send(g.gaps, float64(all.Day), "24h")
}

// read collects a gauge of a module.
func (g *gauges) read(ctx context.Context, m moduleGauge, now time.Time, ch chan<- prometheus.Metric) {
	var samples []module.Sample
	err := g.app.DB.Read(ctx, func(tx *db.Tx) (err error) {
		samples, err = m.Read(tx, now)
		return err
	})
	if err != nil {
		ch <- prometheus.NewInvalidMetric(m.desc, err)
		return
	}
	for _, s := range samples {
		ch <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, s.Value, s.Labels...)
	}
}
