package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/db"
	"tocsin/internal/outbound"
	"tocsin/internal/work"
)

// due is work that is written down with the moment at which it is due: how many rows are overdue, since when
// the oldest of them is, in Unix milliseconds.
type due struct {
	name  string
	query string // gives count and oldest of the rows that are due at $1, Unix milliseconds
}

// dues are all kinds of such work. Whatever is overdue for long is why somebody is not told.
var dues = []due{
	{"event", `SELECT count(*), coalesce(min(received_at), 0) / 1000000 FROM event WHERE decided_at = 0 AND received_at <= $1 * 1000000`},
	{"muted alert", `SELECT count(*), coalesce(min(muted_until), 0) * 1000 FROM alert WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0 AND muted_until <= $1 / 1000`},
	{"escalation", `SELECT count(*), coalesce(min(CASE WHEN ended = 'failing' THEN started_at ELSE next_at END), 0) * 1000 FROM escalation WHERE next_at > 0 AND (next_at <= $1 / 1000 OR ended = 'failing')`},
	{"turn on call", `SELECT count(*), coalesce(min(due_at), 0) * 1000 FROM handover WHERE due_at > 0 AND due_at <= $1 / 1000`},
	{"end of a silence", `SELECT count(*), coalesce(min(due_at), 0) * 1000 FROM silence_end WHERE due_at > 0 AND due_at <= $1 / 1000 AND end_at > $1 / 1000`},
	{"notice", `SELECT count(*), coalesce(min(due_at), 0) FROM notice WHERE settled_at = 0 AND due_at <= $1`},
}

// late is how long something may be overdue before the server says that it is not ready.
const late = time.Minute

// overdue is one kind of due work as it stands.
type overdue struct {
	Work    string  `json:"work"`
	Count   int64   `json:"due"`
	Seconds float64 `json:"oldest_seconds"`
}

// standing reads how all due work stands, and how many notices failed for good within the last hour.
func (a *App) standing(ctx context.Context, now time.Time) (all []overdue, failed int64, err error) {
	err = a.DB.Read(ctx, func(tx *db.Tx) error {
		for _, d := range dues {
			o := overdue{Work: d.name}
			oldest := int64(0)
			if _, _, err := db.One(tx, func(scan db.Scan) (struct{}, error) { return struct{}{}, scan(&o.Count, &oldest) }, d.query, now.UnixMilli()); err != nil {
				return err
			}
			if oldest > 0 {
				o.Seconds = max(0, now.Sub(time.UnixMilli(oldest)).Seconds())
			}
			all = append(all, o)
		}
		failed, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM notice WHERE status = 'failed' AND settled_at > 0 AND settled_at > $1`, now.Add(-time.Hour).UnixMilli())
		return err
	})
	return all, failed, err
}

// ready answers 200 while everything that is due is being done, and 503 when something is overdue for longer
// than late: then people are not told.
func (a *App) ready(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	reply := struct {
		Status  string    `json:"status"`
		Version string    `json:"version"`
		Work    []overdue `json:"work"`
		Failed  int64     `json:"notices_failed_last_hour"`
		Problem string    `json:"problem,omitzero"`
	}{Status: "ok", Version: a.Version, Work: []overdue{}}
	all, failed, err := a.standing(r.Context(), a.Clock.Now())
	status := http.StatusOK
	if err != nil {
		a.Log.Error("readiness", "error", err)
		status, reply.Status, reply.Problem = http.StatusServiceUnavailable, "failing", "the database does not answer"
	} else {
		reply.Work, reply.Failed = all, failed
		if o := worst(all); o.Seconds > late.Seconds() {
			status, reply.Status, reply.Problem = http.StatusServiceUnavailable, "failing", fmt.Sprintf("the oldest due %s is %.0f seconds overdue", o.Work, o.Seconds)
		}
	}
	text, err := json.Marshal(reply)
	if err != nil {
		a.Log.Error("readiness", "error", err)
	}
	w.WriteHeader(status)
	w.Write(append(text, '\n'))
}

func worst(all []overdue) (o overdue) {
	for _, each := range all {
		if each.Seconds > o.Seconds {
			o = each
		}
	}
	return o
}

// gauges are the metrics of what is overdue, read when they are asked for.
type gauges struct {
	app                  *App
	count, oldest, fails *prometheus.Desc
}

func (a *App) gauges() prometheus.Collector {
	return &gauges{a,
		prometheus.NewDesc("tocsin_due_rows", "Work that is due and not done, by kind.", []string{"work"}, nil),
		prometheus.NewDesc("tocsin_oldest_due_seconds", "For how long the oldest of it is overdue.", []string{"work"}, nil),
		prometheus.NewDesc("tocsin_notices_failed_last_hour", "Notices that failed for good within the last hour.", nil, nil)}
}

func (g *gauges) Describe(ch chan<- *prometheus.Desc) { ch <- g.count; ch <- g.oldest; ch <- g.fails }

func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	all, failed, err := g.app.standing(ctx, g.app.Clock.Now())
	if err != nil {
		ch <- prometheus.NewInvalidMetric(g.count, err)
		return
	}
	for _, o := range all {
		ch <- prometheus.MustNewConstMetric(g.count, prometheus.GaugeValue, float64(o.Count), o.Work)
		ch <- prometheus.MustNewConstMetric(g.oldest, prometheus.GaugeValue, o.Seconds, o.Work)
	}
	ch <- prometheus.MustNewConstMetric(g.fails, prometheus.GaugeValue, float64(failed))
}

// aliveTask tells somebody outside every minute that all that is due is done. It runs among the tasks it
// speaks for: when they stop, it does.
func (a *App) aliveTask() work.Task {
	own := outbound.New(everywhere)
	var said time.Time
	return work.Task{Name: "alive", Idle: time.Minute, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		if next := said.Add(time.Minute); now.Before(next) && !now.Before(said) {
			return next, nil
		}
		all, _, err := a.standing(ctx, now)
		if err != nil {
			return time.Time{}, err
		}
		if o := worst(all); o.Seconds > late.Seconds() {
			return time.Time{}, fmt.Errorf("not said to be alive: the oldest due %s is %.0f seconds overdue", o.Work, o.Seconds)
		}
		answer, err := own.Do(ctx, outbound.Request{Method: http.MethodGet, URL: a.Senders.AliveURL})
		if err == nil && answer.Status >= 300 {
			err = fmt.Errorf("the alive URL answered %d", answer.Status)
		}
		if err == nil {
			said = now
		}
		return now.Add(time.Minute), err
	}}
}
