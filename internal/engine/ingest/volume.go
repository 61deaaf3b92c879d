package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/source"
)

// volumes counts the bytes of events by integration, of the present day, in memory: to count must cost no writes. What is
// much is stored by the job, so that it holds after a restart, and that all processes together are bounded.
type volumes struct {
	shortened *prom.CounterVec

	mu  sync.Mutex
	day int64
	all map[int64]*volume
}

// volume is what an integration has sent today.
type volume struct {
	integration      integration.Integration
	stored, unstored int64 // bytes: by all processes, and by this one since
	cut              int64 // events that were shortened since the job ran
}

func (v *volume) bytes() int64 { return v.stored + v.unstored }

func newVolumes(metrics prom.Registerer) *volumes {
	v := &volumes{shortened: prom.NewCounterVec(prom.CounterOpts{
		Name: "tocsin_events_shortened_total",
		Help: "Events whose labels, images and description were cut, because their integration has sent more bytes than it may in a day.",
	}, []string{"integration"})}
	if metrics != nil {
		metrics.MustRegister(v.shortened)
	}
	return v
}

// of returns the volume of an integration for the day of now; known is false if this process has not counted it yet. The
// lock must be held.
func (v *volumes) of(i integration.Integration, now time.Time) (one *volume, known bool) {
	if day := integration.Day(now); v.all == nil || v.day != day {
		v.day, v.all = day, map[int64]*volume{}
	}
	one, known = v.all[i.IntegrationID]
	if !known {
		one = &volume{}
		v.all[i.IntegrationID] = one
	}
	one.integration = i
	return one, known
}

// sent returns how many bytes an integration has sent today. The first request of a day, and of a process, reads what is
// stored.
func (r *Service) sent(ctx context.Context, i integration.Integration, now time.Time) (int64, error) {
	r.volumes.mu.Lock()
	one, known := r.volumes.of(i, now)
	bytes := one.bytes()
	r.volumes.mu.Unlock()
	if known {
		return bytes, nil
	}
	var stored int64
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		stored, err = integration.EventBytes(tx, i.AccountID, i.IntegrationID, now)
		return err
	})
	r.volumes.mu.Lock()
	defer r.volumes.mu.Unlock()
	if err != nil {
		delete(r.volumes.all, i.IntegrationID) // it is read again by the next request
		return 0, err
	}
	one.stored = max(one.stored, stored)
	return one.bytes(), nil
}

// tooMuch refuses the request of an integration that has sent so many times as much as it may.
func (r *Service) tooMuch(c *api.Call, i integration.Integration, times int64, header http.Header) error {
	err := r.over(c, i, times, header)
	if fault.KindOf(err) == fault.TooFrequent {
		err = r.refuse(i, integration.TooMuch, err)
	}
	return err
}

// over returns the error for an integration that has sent so many times as much as it may.
func (r *Service) over(c *api.Call, i integration.Integration, times int64, header http.Header) error {
	bytes, err := r.sent(c.Ctx, i, c.Now)
	most := times * i.BytesPerDay()
	if err != nil || bytes < most {
		return err
	}
	header.Set("Retry-After", strconv.FormatInt(86400-c.Unix()%86400, 10))
	return fault.New(fault.TooFrequent,
		"this integration has sent %d bytes of events today: at most %d, %d times its settings.max_bytes_per_day, are taken until 0:00 UTC",
		bytes, most, times)
}

// onlyEnds leaves the events of a batch that end alerts, if their integration has sent too much for others. It returns the
// error for a batch without such events.
func (r *Service) onlyEnds(c *api.Call, i integration.Integration, header http.Header, batch *source.Batch) error {
	over := r.over(c, i, integration.RefusedAt, header)
	if fault.KindOf(over) != fault.TooFrequent {
		return over
	}
	begins := func(e event.Event) bool { return e.Status != event.Ok }
	all, first := len(batch.Events), slices.IndexFunc(batch.Events, begins)
	batch.Events = slices.DeleteFunc(batch.Events, begins)
	if len(batch.Events) == 0 {
		return r.refuse(i, integration.TooMuch, over)
	}
	header.Del("Retry-After")
	if others := all - len(batch.Events); others > 0 {
		batch.Refused = append(batch.Refused, source.Refused{Index: first, Field: "integration_key", Count: others, Reason: source.TooMuch,
			Message: over.Error() + "; only events that end an alert were taken"})
	}
	return nil
}

// shorten cuts the events of an integration that has sent more than it may in a day, and counts their bytes.
func (r *Service) shorten(i integration.Integration, events []event.Event, now time.Time) {
	var bytes, cut int64
	r.volumes.mu.Lock()
	one, _ := r.volumes.of(i, now)
	left := i.BytesPerDay() - one.bytes()
	r.volumes.mu.Unlock()
	for n := range events {
		e := &events[n]
		if bytes >= left && e.Shorten() {
			cut++
		}
		bytes += e.Size()
	}
	if cut > 0 {
		r.volumes.shortened.WithLabelValues(strconv.FormatInt(i.IntegrationID, 10)).Add(float64(cut))
	}
	r.count(i, bytes, cut, now)
}

// count counts bytes of an integration, and events that were shortened.
func (r *Service) count(i integration.Integration, bytes, cut int64, now time.Time) {
	r.volumes.mu.Lock()
	defer r.volumes.mu.Unlock()
	one, _ := r.volumes.of(i, now)
	one.unstored += bytes
	one.cut += cut
}

// storedParts is in how many parts of its bound the bytes of an integration are stored.
const storedParts = 16

// VolumeJob returns the background job that stores the bytes of events, and notifies the owner of an integration whose
// events are shortened.
func (r *Service) VolumeJob() jobs.Job {
	return jobs.Job{Name: "bytes of events", Interval: 5 * time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		var failed error
		for _, v := range r.volumes.due(now) { // each in a transaction of its own, so that none prevents the others
			failed = errors.Join(failed, r.storeVolume(ctx, v, now))
		}
		return time.Time{}, failed
	}}
}

// due returns what is to be stored of each integration, or notified.
func (v *volumes) due(now time.Time) (list []volume) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.day != integration.Day(now) {
		return nil
	}
	for _, one := range v.all {
		if one.cut > 0 || one.unstored >= one.integration.BytesPerDay()/storedParts {
			list = append(list, *one)
		}
	}
	return list
}

// storeVolume stores the bytes that an integration has sent, and notifies the owner if its events are shortened.
func (r *Service) storeVolume(ctx context.Context, v volume, now time.Time) error {
	i := v.integration
	var sum int64
	err := r.DB.WriteOf(ctx, i.AccountID, func(tx *db.Tx) (err error) {
		if _, found, err := integration.Kind.Find(tx, i.AccountID, strconv.FormatInt(i.IntegrationID, 10)); err != nil || !found {
			return err
		}
		sum, err = integration.AddEventBytes(tx, i.AccountID, i.IntegrationID, v.unstored, now)
		if err != nil || v.cut == 0 {
			return err
		}
		return r.Own.Raise(tx, shortenedAlert(i), now)
	})
	if err != nil {
		return err
	}
	r.volumes.mu.Lock()
	defer r.volumes.mu.Unlock()
	if one := r.volumes.all[i.IntegrationID]; one != nil && r.volumes.day == integration.Day(now) {
		one.stored = sum
		one.unstored -= v.unstored
		one.cut -= v.cut
	}
	return nil
}

// shortenedLasts is how long the owner is not notified again of an integration whose events are shortened day by day.
const shortenedLasts = 25 * time.Hour

func shortenedAlert(i integration.Integration) selfalert.Alert {
	return selfalert.Alert{
		Account: i.AccountID, Key: fmt.Sprintf("volume/%d", i.IntegrationID), Severity: event.Warning, Lasts: shortenedLasts,
		Title: fmt.Sprintf("Integration %s sends more than %d MiB a day: its events are shortened", i.IntegrationName, i.BytesPerDay()>>20),
		Text: fmt.Sprintf("Labels, images and description of an event have %d bytes together until 0:00 UTC, and beyond %d times the bound "+
			"events are refused, except those that end an alert. Send less, or set max_bytes_per_day of the integration's settings.",
			event.MaxShortened, integration.RefusedAt),
	}
}
