package app

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/module"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// gauges collects the metrics that are read when they are asked for: from the database, and from the program itself.
type gauges struct {
	app                        *App
	count, oldest, fails, held *prometheus.Desc
	size, wal, gaps, build     *prometheus.Desc
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
		fails:  prometheus.NewDesc("tocsin_notices_failed_last_hour", "Notices that failed for good within the last hour.", nil, nil),
		held:   prometheus.NewDesc("tocsin_held", "1 while the server is held and sends nothing, else 0.", nil, nil),
		size:   prometheus.NewDesc("tocsin_database_size_bytes", "Size of the database file.", nil, nil),
		wal:    prometheus.NewDesc("tocsin_database_wal_size_bytes", "Size of the write-ahead log beside the database file.", nil, nil),
		gaps: prometheus.NewDesc("tocsin_schedules_uncovered",
			"Enabled schedules in which no one is on call now, or at some time within 24 hours.", []string{"within"}, nil),
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
	for _, d := range []*prometheus.Desc{g.count, g.oldest, g.fails, g.held, g.size, g.wal, g.gaps, g.build} {
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
	held := 0.0
	if g.app.Gate.Reason() != "" {
		held = 1
	}
	send(g.held, held)
	send(g.build, 1, g.app.Version, runtime.Version())
	send(g.gaps, float64(g.app.gaps.now.Load()), "now")
	send(g.gaps, float64(g.app.gaps.day.Load()), "24h")
	if size, wal, err := g.app.DB.Size(); err != nil {
		ch <- prometheus.NewInvalidMetric(g.size, err)
	} else {
		send(g.size, float64(size))
		send(g.wal, float64(wal))
	}
	all, failed, err := g.app.standing(ctx, now)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.count, err)
		return
	}
	for _, o := range all {
		send(g.count, float64(o.Count), o.Work)
		send(g.oldest, o.Seconds, o.Work)
	}
	send(g.fails, float64(failed))
	for _, m := range g.modules {
		g.read(ctx, m, now, ch)
	}
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

// gaps holds how many schedules have no one on call. Computing it is too expensive for each collection.
type gaps struct{ now, day atomic.Int64 }

// count computes the gaps of all schedules. Each account has a transaction of its own.
func (g *gaps) count(ctx context.Context, d *db.DB, now time.Time) error {
	var accounts []person.Account
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		accounts, err = person.Accounts(tx)
		return err
	})
	if err != nil {
		return err
	}
	from, none, soon := now.Unix(), int64(0), int64(0)
	for _, a := range accounts {
		err := d.Read(ctx, func(tx *db.Tx) error {
			zone, err := person.Zone(tx, a.AccountID)
			if err != nil {
				return err
			}
			ids, err := schedule.Enabled(tx, a.AccountID)
			for _, id := range ids {
				at, found, err := schedule.Gap(tx, a.AccountID, id, from, from+86400, zone)
				if err != nil { // no one is notified from it either, and the others still count
					at, found = from, true
				}
				if found {
					soon++
				}
				if found && at == from {
					none++
				}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	g.now.Store(none)
	g.day.Store(soon)
	return nil
}
