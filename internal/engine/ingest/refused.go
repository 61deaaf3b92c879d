package ingest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// refusals counts refused events in memory until the job stores them: a flood of them must cost no writes of its own. A
// process that is killed loses those of the last seconds.
type refusals struct {
	mu      sync.Mutex
	pending map[refusal]tally
	counter *prom.CounterVec

	unlogged map[refusal]tally // what the log does not have yet; of the job alone, as the next
	logged   map[refusal]int64 // the minute of the last line
}

// refusal is an integration with a reason. There are few reasons, so the number of integrations bounds the maps.
type refusal struct {
	account, integration int64
	reason               string
}

// tally is how many events were refused.
type tally struct {
	events int64
	detail sentence.Value // of the last one
}

func newRefusals(metrics prom.Registerer) *refusals {
	r := &refusals{
		pending:  map[refusal]tally{},
		unlogged: map[refusal]tally{},
		logged:   map[refusal]int64{},
		counter: prom.NewCounterVec(prom.CounterOpts{
			Name: "tocsin_events_refused_total",
			Help: "Events of known integrations that were not taken, by reason; a request whose events are not known counts as one.",
		}, []string{"integration", "reason"}),
	}
	if metrics != nil {
		metrics.MustRegister(r.counter)
	}
	return r
}

// add counts events of an integration.
func (r *refusals) add(i integration.Integration, reason string, events int64, detail sentence.Value) {
	r.counter.WithLabelValues(strconv.FormatInt(i.IntegrationID, 10), reason).Add(float64(events))
	r.mu.Lock()
	defer r.mu.Unlock()
	addTo(r.pending, refusal{i.AccountID, i.IntegrationID, reason}, tally{events, detail})
}

func addTo(all map[refusal]tally, key refusal, t tally) {
	t.events += all[key].events
	all[key] = t
}

// RefusedJob returns the background job that stores and logs refused events, and raises an alert for each integration
// that has some.
func (r *Service) RefusedJob() jobs.Job {
	return jobs.Job{Name: "refused events", Interval: 5 * time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		return time.Time{}, r.StoreRefused(ctx, now)
	}}
}

// StoreRefused stores the refused events since its last call. Those that cannot be stored are kept for the next call.
func (r *Service) StoreRefused(ctx context.Context, now time.Time) error {
	r.refused.mu.Lock()
	pending := r.refused.pending
	r.refused.pending = map[refusal]tally{}
	r.refused.mu.Unlock()
	r.logRefused(pending, now)
	accounts := map[int64]map[refusal]tally{}
	for key, t := range pending {
		if accounts[key.account] == nil {
			accounts[key.account] = map[refusal]tally{}
		}
		accounts[key.account][key] = t
	}
	var failed error
	for account, some := range accounts { // each in a transaction of its own, so that none prevents the others
		err := r.DB.WriteOf(ctx, account, func(tx *db.Tx) error { return r.storeRefused(tx, account, some, now) })
		if err == nil {
			continue
		}
		failed = errors.Join(failed, err)
		r.refused.mu.Lock()
		for key, t := range some {
			addTo(r.refused.pending, key, t)
		}
		r.refused.mu.Unlock()
	}
	return failed
}

// storeRefused stores refused events of an account, and raises the alerts. Those of an integration that was deleted
// meanwhile are left out.
func (r *Service) storeRefused(tx *db.Tx, account int64, some map[refusal]tally, now time.Time) error {
	sources := map[int64]integration.Integration{}
	for key, t := range some {
		i, found, err := integration.Kind.Find(tx, account, strconv.FormatInt(key.integration, 10))
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := integration.AddRefused(tx, account, key.integration, key.reason, t.events, t.detail, now); err != nil {
			return err
		}
		i.AccountID = account
		sources[key.integration] = i
	}
	for _, i := range sources {
		if err := r.alertRefused(tx, i, now); err != nil {
			return err
		}
	}
	return nil
}

// logRefused logs refused events: one line a minute for each integration and reason.
func (r *Service) logRefused(pending map[refusal]tally, now time.Time) {
	minute := now.Unix() / 60
	for key, t := range pending {
		addTo(r.refused.unlogged, key, t)
	}
	for key, t := range r.refused.unlogged {
		if r.refused.logged[key] == minute {
			continue
		}
		r.Log.Warn("events were refused", "account_id", key.account, "integration_id", key.integration, "reason", key.reason, "events", t.events)
		delete(r.refused.unlogged, key)
		r.refused.logged[key] = minute
	}
	maps.DeleteFunc(r.refused.logged, func(_ refusal, at int64) bool { return at < minute })
}

// refusedWindow is the time in which refused events are one alert. It ends when none was refused for so long.
const refusedWindow = 5 * time.Minute

// lost are the reasons for which any event may have been refused, also a Critical one that no other will follow. The
// others are the choice of a person, or concern single events.
var lost = map[string]bool{integration.TooMany: true, integration.TooLarge: true, integration.Rate: true, integration.TooMuch: true,
	integration.WrongKey: true}

// alertRefused raises the alert that events of an integration are refused.
func (r *Service) alertRefused(tx *db.Tx, i integration.Integration, now time.Time) error {
	list, err := integration.RefusedOf(tx, i.AccountID, i.IntegrationID, now.Add(-refusedWindow))
	if err != nil {
		return err
	}
	events, why := integration.Sum(list)
	a := selfalert.Alert{
		Account:  i.AccountID,
		Key:      fmt.Sprintf("refused/%d", i.IntegrationID),
		Channel:  i.ChannelID,
		Title:    fmt.Sprintf("Integration %s: %s events refused in 5 minutes: %s", i.IntegrationName, integration.Count(events), why),
		Severity: event.Warning,
		Labels:   map[string]string{"integration": i.IntegrationName, "integration_id": strconv.FormatInt(i.IntegrationID, 10)},
		Lasts:    refusedWindow,
	}
	a.Text = fmt.Sprintf("Integration %s refused events in the last 5 minutes.\n", i.IntegrationName)
	for _, each := range list {
		a.Text += fmt.Sprintf("%s (%s): %s\n", each.Words(), integration.Count(each.Events), each.Detail)
		if lost[each.Reason] {
			a.Severity = event.Critical
		}
	}
	a.Text += "Nobody is notified of these events. /integration/info shows what was refused."
	return r.Own.Raise(tx, a, now)
}
