package ingest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/core/event"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/source"
)

// unknownSeverities counts events with unknown severities in memory until the job stores the counts. Counting thus costs no
// writes of its own. A process that is killed loses the counts of the last seconds.
type unknownSeverities struct {
	mu      sync.Mutex
	pending map[sender]map[string]int64 // events by word; of each integration at most integration.MaxUnknownSeverities words
	counter *prom.CounterVec
}

// sender is an integration that sends events.
type sender struct{ account, integration int64 }

func newUnknownSeverities(metrics prom.Registerer) *unknownSeverities {
	u := &unknownSeverities{
		pending: map[sender]map[string]int64{},
		counter: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_events_unknown_severity_total",
			Help: "Events whose severity is a word that neither Tocsin nor the integration's map has.",
		}, []string{"integration"}),
	}
	if metrics != nil {
		metrics.MustRegister(u.counter)
	}
	return u
}

// add counts an integration's events that have an unknown severity. An Ok does not count, because an alert ends with any
// word.
func (u *unknownSeverities) add(i integration.Integration, events []event.Event) {
	var words map[string]int64
	count := 0.0
	for n := range events {
		if !events[n].UnknownWord || events[n].Status == event.Ok {
			continue
		}
		if words == nil {
			words = map[string]int64{}
		}
		words[source.SeverityKey(events[n].Word)]++
		count++
	}
	if words != nil {
		u.counter.WithLabelValues(strconv.FormatInt(i.IntegrationID, 10)).Add(count)
		u.addWords(sender{i.AccountID, i.IntegrationID}, words)
	}
}

// addWords adds counts by word. Senders choose the words, so only the metric counts words beyond the bound.
func (u *unknownSeverities) addWords(from sender, words map[string]int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	have := u.pending[from]
	if have == nil {
		have = map[string]int64{}
		u.pending[from] = have
	}
	for word, n := range words {
		if _, there := have[word]; there || len(have) < integration.MaxUnknownSeverities {
			have[word] += n
		}
	}
}

// UnknownSeverityJob returns the background job that stores the counts of unknown severities.
func (r *Service) UnknownSeverityJob() jobs.Job {
	return jobs.Job{Name: "unknown severities", Interval: 5 * time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		return time.Time{}, r.storeUnknownSeverities(ctx, now)
	}}
}

// storeUnknownSeverities stores the counts since its last call. Counts that cannot be stored are kept for the next call.
func (r *Service) storeUnknownSeverities(ctx context.Context, now time.Time) error {
	r.unknown.mu.Lock()
	pending := r.unknown.pending
	r.unknown.pending = map[sender]map[string]int64{}
	r.unknown.mu.Unlock()
	var failed error
	for from, words := range pending { // each integration in its own transaction, so that none prevents the others
		err := r.DB.WriteOf(ctx, from.account, func(tx *db.Tx) error {
			_, found, err := integration.Kind.Find(tx, from.account, strconv.FormatInt(from.integration, 10))
			if err != nil || !found {
				return err
			}
			return integration.AddUnknownSeverities(tx, from.account, from.integration, words, now)
		})
		if err != nil {
			failed = errors.Join(failed, err)
			r.unknown.addWords(from, words)
		}
	}
	return failed
}

// StoreCounts stores all counts that are in memory.
func (r *Service) StoreCounts(ctx context.Context, now time.Time) error {
	return errors.Join(r.StoreRefused(ctx, now), r.storeUnknownSeverities(ctx, now))
}
