package ingest

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/changeevent"
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
	read "tocsin/internal/source/change"
)

// Heartbeats accepts heartbeats: GET or POST /event/push/heartbeat?integration_key=KEY.
func (r *Service) Heartbeats() api.Endpoint {
	methods := []string{http.MethodPost, http.MethodGet, http.MethodHead}
	return api.Endpoint{Path: "/event/push/heartbeat", Methods: methods, Do: r.heartbeat}
}

// heartbeat handles a heartbeat, and ends the alert of an integration whose heartbeat was missed.
func (r *Service) heartbeat(c *api.Call, req *http.Request, header http.Header, _ *api.Body) (any, error) {
	i, err := r.integration(c, keyOf(req), header)
	if err != nil {
		return nil, err
	}
	if i.IntegrationType != integration.Heartbeat {
		err := fault.Invalid("integration_key", "belongs to an integration of type %s, which is no heartbeat", i.IntegrationType)
		return nil, r.refuse(i, integration.WrongKey, err)
	}
	missed := false
	err = r.DB.Write(c.Ctx, func(tx *db.Tx) (err error) {
		missed, _, err = db.One(tx, db.Column[bool],
			`SELECT missed FROM heartbeat WHERE account_id = $1 AND integration_id = $2`, i.AccountID, i.IntegrationID)
		if err != nil {
			return err
		}
		if missed {
			if err := r.putStatus(tx, i, event.Ok, c.Now); err != nil {
				return err
			}
		}
		return beat(tx, i, c.Unix())
	})
	if err == nil && missed {
		r.Decide.Raise()
	}
	return api.Empty{}, err
}

// beat stores the time of a heartbeat.
func beat(tx *db.Tx, i integration.Integration, at int64) error {
	_, err := tx.Exec(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, integration_id) DO UPDATE SET last_at = excluded.last_at, missed = excluded.missed`,
		i.AccountID, i.IntegrationID, at, false)
	return err
}

// putStatus stores the event that a heartbeat is missing or has come back, in the transaction that stores that fact.
func (r *Service) putStatus(tx *db.Tx, i integration.Integration, status string, now time.Time) error {
	events := []event.Event{statusEvent(i, now.Unix(), status)}
	bodies, err := r.bodies(i.IntegrationID, events, now)
	if err != nil {
		return err
	}
	return triage.Accept(tx, i.AccountID, events, bodies)
}

// statusEvent returns the event that a heartbeat is missing or has come back.
func statusEvent(i integration.Integration, at int64, status string) event.Event {
	title := event.Cut(i.IntegrationName+" is silent", event.MaxTitle)
	e := event.Event{
		AlertKey:  fmt.Sprintf("heartbeat:%d", i.IntegrationID),
		TitleRule: title,
		Title:     title,
		Status:    status,
		Severity:  event.Critical,
		Labels:    map[string]string{"integration": i.IntegrationName},
		Time:      at,
	}
	if status != event.Ok {
		e.Description = fmt.Sprintf("No sign of life for %d seconds.", i.Settings.IntervalSeconds)
	}
	return e
}

// Job returns the background job that raises the alerts of heartbeats that are silent for longer than they
// may be. A new one, and one that was changed or enabled again, has its interval to begin with.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "heartbeats", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		if now.Sub(r.looked) > maxPause || now.Before(r.looked) {
			r.awake = now
		}
		r.looked = now
		late, err := r.late(ctx, now)
		for n := 0; n < len(late) && err == nil; n++ {
			err = r.raise(ctx, late[n], now)
		}
		return time.Time{}, err
	}}
}

// A server that has just started, or whose job has not run for longer than maxPause, could not receive heartbeats before.
// After its clock was set back, the times of the last heartbeats mean nothing. In these cases it waits for the interval,
// at most maxGrace, before it raises an alert.
const (
	maxPause = time.Minute
	maxGrace = 300 // seconds
)

// last is an integration with the time of its last heartbeat.
type last struct {
	integration.Integration
	at int64
}

// late returns the enabled integrations whose last heartbeat is too long ago and whose alert was not raised yet. It starts
// the interval of those that are new.
func (r *Service) late(ctx context.Context, now time.Time) (late []last, err error) {
	var added []integration.Integration
	overdue, count := 0, 0
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		all, err := r.heartbeats(tx)
		if err != nil {
			return err
		}
		count = len(all)
		for _, i := range all {
			type row struct {
				last   int64
				missed bool
			}
			h, known, err := db.One(tx, func(scan db.Scan) (h row, err error) { return h, scan(&h.last, &h.missed) },
				`SELECT last_at, missed FROM heartbeat WHERE account_id = $1 AND integration_id = $2`, i.AccountID, i.IntegrationID)
			interval := i.Settings.IntervalSeconds
			switch {
			case err != nil:
				return err
			case !known:
				added = append(added, i)
			case h.missed:
				overdue++
			case now.Unix()-max(h.last, i.UpdatedAt) > interval && now.Unix()-r.awake.Unix() > min(interval, maxGrace):
				late = append(late, last{i, h.last})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	overdue += len(late)
	r.overdue.Store(int64(overdue))
	r.up.Store(int64(count - overdue))
	for _, i := range added {
		if err := r.DB.Write(ctx, func(tx *db.Tx) error { return beat(tx, i, now.Unix()) }); err != nil {
			return late, err
		}
	}
	return late, nil
}

// beating returns how many heartbeats come and how many are missing, as the job found them last.
func (r *Service) beating(*db.Tx, time.Time) ([]module.Sample, error) {
	return []module.Sample{
		{Value: float64(r.up.Load()), Labels: []string{"up"}},
		{Value: float64(r.overdue.Load()), Labels: []string{"overdue"}},
	}, nil
}

// raise raises the alert of a missing heartbeat, unless one has come since late read it.
func (r *Service) raise(ctx context.Context, h last, now time.Time) error {
	raised := int64(0)
	err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		raised, err = tx.Exec(`UPDATE heartbeat SET missed = $3 WHERE account_id = $1 AND integration_id = $2 AND last_at = $4 AND NOT missed`,
			h.AccountID, h.IntegrationID, true, h.at)
		if err != nil || raised == 0 {
			return err
		}
		return r.putStatus(tx, h.Integration, event.Critical, now)
	})
	if err == nil && raised > 0 {
		r.Decide.Raise()
	}
	return err
}

// watched caches the heartbeat integrations of an account at a revision of its configuration.
type watched struct {
	revision int64
	list     []integration.Integration
}

// heartbeats returns the heartbeat integrations of all accounts. It reads only those of accounts whose configuration has
// changed since.
func (r *Service) heartbeats(tx *db.Tx) (all []integration.Integration, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return nil, err
	}
	for _, a := range accounts {
		w, known := r.watched[a.ID]
		if !known || w.revision != a.Revision {
			w.revision = a.Revision
			if w.list, err = integration.Heartbeats(tx, a.ID); err != nil {
				return nil, err
			}
			r.watched[a.ID] = w
		}
		all = append(all, w.list...)
	}
	return all, nil
}

// Changes accepts change events: POST /event/push/change/standard?integration_key=KEY.
func (r *Service) Changes() api.Endpoint {
	return api.Endpoint{Path: "/event/push/change", Methods: []string{http.MethodPost}, MaxBody: r.MaxBytes, Do: r.change}
}

// change handles a change event.
func (r *Service) change(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
	i, err := r.integration(c, keyOf(req), header)
	if err != nil {
		return nil, err
	}
	if i.IntegrationType != integration.Change {
		err := fault.Invalid("integration_key", "belongs to an integration of type %s, which takes no changes", i.IntegrationType)
		return nil, r.refuse(i, integration.WrongKey, err)
	}
	text, err := body.Read(i.AccountID, i.IntegrationID)
	if err != nil {
		return nil, r.refuse(i, "", err)
	}
	e, err := read.Parse(text, c.Now)
	if err != nil {
		return nil, r.refuse(i, "", err)
	}
	var reply ChangeTaken
	err = r.DB.Write(c.Ctx, func(tx *db.Tx) (err error) {
		reply.EventID, reply.ChangeID, err = changeevent.Put(tx, i, e, c.Now)
		return err
	})
	return reply, err
}

// ChangeTaken is the reply to a change event.
type ChangeTaken struct {
	EventID  string `json:"event_id" doc:"The event."`
	ChangeID string `json:"change_id" doc:"The change it is about."`
}
