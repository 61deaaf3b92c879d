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
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
	read "tocsin/internal/source/change"
)

// Heartbeats takes signs of life: GET or POST /event/push/heartbeat?integration_key=KEY.
func (r *Service) Heartbeats() api.Endpoint {
	return api.Endpoint{Path: "/event/push/heartbeat", Methods: []string{http.MethodPost, http.MethodGet, http.MethodHead}, Do: func(c *api.Call, req *http.Request, header http.Header, _ *api.Body) (any, error) {
		i, err := r.integration(c, keyOf(req), header)
		if err != nil {
			return nil, err
		}
		if i.IntegrationType != integration.Heartbeat {
			return nil, fault.Invalid("integration_key", "belongs to an integration of type %s, which is no heartbeat", i.IntegrationType)
		}
		missed := false
		err = r.DB.Write(c.Ctx, func(tx *db.Tx) (err error) {
			missed, _, err = db.One(tx, db.Column[bool], `SELECT missed FROM heartbeat WHERE account_id = $1 AND integration_id = $2`, i.AccountID, i.IntegrationID)
			if err == nil && missed {
				err = r.say(tx, i, event.Ok, c.Now)
			}
			if err != nil {
				return err
			}
			return beat(tx, i, c.Unix())
		})
		if err == nil && missed {
			r.Decide.Raise()
		}
		return api.Empty{}, err
	}}
}

// beat notes a sign of life down.
func beat(tx *db.Tx, i integration.Integration, at int64) error {
	_, err := tx.Exec(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, integration_id) DO UPDATE SET last_at = excluded.last_at, missed = excluded.missed`, i.AccountID, i.IntegrationID, at, false)
	return err
}

// say stores the event that a heartbeat is silent, or heard again, in the transaction that notes it down.
func (r *Service) say(tx *db.Tx, i integration.Integration, status string, now time.Time) error {
	events := []event.Event{silent(i, now.Unix(), status)}
	bodies, err := r.bodies(i.IntegrationID, events, now)
	if err != nil {
		return err
	}
	return insert(tx, i.AccountID, events, bodies)
}

// silent is the event that a heartbeat is silent, or heard again.
func silent(i integration.Integration, at int64, status string) event.Event {
	title := event.Cut(i.IntegrationName+" is silent", event.MaxTitle)
	e := event.Event{AlertKey: fmt.Sprintf("heartbeat:%d", i.IntegrationID), TitleRule: title, Title: title, Status: status, Severity: event.Critical, Labels: map[string]string{"integration": i.IntegrationName}, Time: at}
	if status != event.Ok {
		e.Description = fmt.Sprintf("No sign of life for %d seconds.", i.Settings.IntervalSeconds)
	}
	return e
}

// Job is the room's background work: raising the alerts of heartbeats that are silent for longer than they
// may be. A new one, and one that was changed or enabled again, has its interval to begin with.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "heartbeats", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		if now.Sub(r.looked) > asleep || now.Before(r.looked) {
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

// A server that has just begun to listen, or has not looked for as long as asleep, could not hear anything before, and
// one whose clock was set back does not know when it did: it listens for as long as listening at most before it says that something is silent.
const (
	asleep    = time.Minute
	listening = 300 // seconds
)

// last is a heartbeat's last sign of life.
type last struct {
	integration.Integration
	at int64
}

// late lists the enabled heartbeats whose last sign of life is too long ago and that were not raised yet.
func (r *Service) late(ctx context.Context, now time.Time) (late []last, err error) {
	var fresh []integration.Integration
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		all, err := r.heartbeats(tx)
		if err != nil {
			return err
		}
		for _, i := range all {
			type row struct {
				last   int64
				missed bool
			}
			h, known, err := db.One(tx, func(scan db.Scan) (h row, err error) { return h, scan(&h.last, &h.missed) }, `SELECT last_at, missed FROM heartbeat WHERE account_id = $1 AND integration_id = $2`, i.AccountID, i.IntegrationID)
			interval := i.Settings.IntervalSeconds
			switch {
			case err != nil:
				return err
			case !known:
				fresh = append(fresh, i)
			case !h.missed && now.Unix()-max(h.last, i.UpdatedAt) > interval && now.Unix()-r.awake.Unix() > min(interval, listening):
				late = append(late, last{i, h.last})
			}
		}
		return nil
	})
	for n := 0; n < len(fresh) && err == nil; n++ {
		err = r.DB.Write(ctx, func(tx *db.Tx) error { return beat(tx, fresh[n], now.Unix()) })
	}
	return late, err
}

// raise raises the alert of a heartbeat, unless a sign of life has come since it was looked at.
func (r *Service) raise(ctx context.Context, h last, now time.Time) error {
	silenced := int64(0)
	err := r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		silenced, err = tx.Exec(`UPDATE heartbeat SET missed = $3 WHERE account_id = $1 AND integration_id = $2 AND last_at = $4 AND NOT missed`, h.AccountID, h.IntegrationID, true, h.at)
		if err != nil || silenced == 0 {
			return err
		}
		return r.say(tx, h.Integration, event.Critical, now)
	})
	if err == nil && silenced > 0 {
		r.Decide.Raise()
	}
	return err
}

// watched are the heartbeats of an account as they were at a revision of its configuration.
type watched struct {
	revision int64
	list     []integration.Integration
}

// heartbeats lists those of all accounts; only of accounts that were configured since is anything read anew.
func (r *Service) heartbeats(tx *db.Tx) (all []integration.Integration, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	for n := 0; n < len(accounts) && err == nil; n++ {
		a := accounts[n]
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
	return all, err
}

// Changes takes events of changes: POST /event/push/change/standard?integration_key=KEY.
func (r *Service) Changes() api.Endpoint {
	return api.Endpoint{Path: "/event/push/change", Methods: []string{http.MethodPost}, MaxBody: maxBody, Do: func(c *api.Call, req *http.Request, header http.Header, body *api.Body) (any, error) {
		i, err := r.integration(c, keyOf(req), header)
		if err != nil {
			return nil, err
		}
		if i.IntegrationType != integration.Change {
			return nil, fault.Invalid("integration_key", "belongs to an integration of type %s, which takes no changes", i.IntegrationType)
		}
		text, err := body.Read(i.AccountID, i.IntegrationID)
		if err != nil {
			return nil, err
		}
		e, err := read.Parse(text, c.Now)
		if err != nil {
			return nil, err
		}
		var reply ChangeTaken
		err = r.DB.Write(c.Ctx, func(tx *db.Tx) (err error) {
			reply.EventID, reply.ChangeID, err = changeevent.Put(tx, i, e, c.Now)
			return err
		})
		return reply, err
	}}
}

// ChangeTaken is the reply to an event of a change.
type ChangeTaken struct {
	EventID  string `json:"event_id" doc:"The event."`
	ChangeID string `json:"change_id" doc:"The change it is about."`
}
