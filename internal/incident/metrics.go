package incident

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/activity"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// maxChannels is how many channels metrics name, those with the most open incidents. The others are counted together.
const maxChannels = 100

// timings measures how fast people act.
type timings struct{ ack, resolve *prometheus.HistogramVec }

func newTimings(metrics prometheus.Registerer) *timings {
	buckets := []float64{15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 259200}
	t := &timings{
		ack: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tocsin_incident_acknowledge_seconds", Help: "From the beginning of an incident to its first acknowledgement.", Buckets: buckets,
		}, []string{"severity"}),
		resolve: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tocsin_incident_resolve_seconds", Help: "From the beginning of an incident to its end.", Buckets: buckets,
		}, []string{"severity"}),
	}
	if metrics != nil {
		metrics.MustRegister(t.ack, t.resolve)
	}
	return t
}

// handle observes acknowledgements and ends, once they are committed.
func (t *timings) handle(tx *db.Tx, item activity.Item) error {
	kind := item.Event.Type()
	if kind != activity.IncidentAck && kind != activity.IncidentResolve {
		return nil
	}
	i, found, err := Of(tx, item)
	if err != nil || !found || i.Test {
		return err
	}
	took := max(0, item.At.Sub(time.Unix(i.StartTime, 0)).Seconds())
	switch {
	case kind == activity.IncidentResolve:
		tx.OnCommit(func() { t.resolve.WithLabelValues(i.Severity).Observe(took) })
	case i.AckTime == item.At.Unix() && len(i.status(item.At).Ackers) < 2: // the first acknowledgement
		tx.OnCommit(func() { t.ack.WithLabelValues(i.Severity).Observe(took) })
	}
	return nil
}

// open is how many incidents of one channel, severity and progress are open.
type open struct {
	channel            int64
	severity, progress string
	count, oldest      int64
}

// opens reads the open incidents of all accounts, without tests, from an index of such incidents.
func opens(tx *db.Tx) ([]open, error) {
	return db.All(tx, func(scan db.Scan) (o open, err error) {
		return o, scan(&o.channel, &o.severity, &o.progress, &o.count, &o.oldest)
	}, `SELECT channel_id, severity, progress, count(*), min(start_time) FROM incident
		WHERE progress <> 'Closed' AND NOT is_test GROUP BY channel_id, severity, progress`)
}

// gauges returns the metrics of open incidents.
func gauges() []module.Gauge {
	all := func(open) bool { return true }
	unacknowledged := func(o open) bool { return o.progress == Triggered }
	return []module.Gauge{
		{Name: "tocsin_open_incidents", Help: "Incidents that are open, by severity and channel.",
			Labels: []string{"severity", "channel"}, Read: counted(all)},
		{Name: "tocsin_unacknowledged_incidents", Help: "Incidents that are open and not acknowledged, by severity and channel.",
			Labels: []string{"severity", "channel"}, Read: counted(unacknowledged)},
		{Name: "tocsin_oldest_open_incident_age_seconds", Help: "Age of the oldest open incident, by severity.",
			Labels: []string{"severity"}, Read: aged(all)},
		{Name: "tocsin_oldest_unacknowledged_incident_age_seconds",
			Help:   "Age of the oldest incident that is open and not acknowledged, by severity.",
			Labels: []string{"severity"}, Read: aged(unacknowledged)},
	}
}

// counted counts the open incidents that match.
func counted(match func(open) bool) func(*db.Tx, time.Time) ([]module.Sample, error) {
	return func(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
		rows, err := opens(tx)
		if err != nil {
			return nil, err
		}
		named := busiest(rows)
		type key struct{ severity, channel string }
		sums, order := map[key]float64{}, []key{}
		for _, o := range rows {
			if !match(o) {
				continue
			}
			k := key{o.severity, "other"}
			if named[o.channel] {
				k.channel = strconv.FormatInt(o.channel, 10)
			}
			if _, known := sums[k]; !known {
				order = append(order, k)
			}
			sums[k] += float64(o.count)
		}
		samples := make([]module.Sample, len(order))
		for n, k := range order {
			samples[n] = module.Sample{Value: sums[k], Labels: []string{k.severity, k.channel}}
		}
		return samples, nil
	}
}

// busiest returns the channels with the most open incidents.
func busiest(rows []open) map[int64]bool {
	counts := map[int64]int64{}
	for _, o := range rows {
		counts[o.channel] += o.count
	}
	channels := make([]int64, 0, len(counts))
	for channel := range counts {
		channels = append(channels, channel)
	}
	slices.SortFunc(channels, func(a, b int64) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	named := map[int64]bool{}
	for _, channel := range channels[:min(len(channels), maxChannels)] {
		named[channel] = true
	}
	return named
}

// aged returns the age of the oldest open incident of each severity that matches.
func aged(match func(open) bool) func(*db.Tx, time.Time) ([]module.Sample, error) {
	return func(tx *db.Tx, now time.Time) ([]module.Sample, error) {
		rows, err := opens(tx)
		if err != nil {
			return nil, err
		}
		oldest := map[string]int64{}
		for _, o := range rows {
			if at, known := oldest[o.severity]; match(o) && (!known || o.oldest < at) {
				oldest[o.severity] = o.oldest
			}
		}
		samples := []module.Sample{}
		for severity, at := range oldest {
			samples = append(samples, module.Sample{Value: max(0, float64(now.Unix()-at)), Labels: []string{severity}})
		}
		return samples, nil
	}
}
