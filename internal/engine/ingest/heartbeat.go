package ingest

import (
	"fmt"
	"net/http"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/changeevent"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	read "tocsin/internal/source/change"
)

// Heartbeats accepts heartbeats: POST, PUT or GET /event/push/heartbeat?integration_key=KEY.
func (r *Service) Heartbeats() api.Endpoint {
	methods := []string{http.MethodPost, http.MethodPut, http.MethodGet, http.MethodHead}
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
	err = r.DB.WriteOf(c.Ctx, i.AccountID, func(tx *db.Tx) (err error) {
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

// beat stores the time of a heartbeat. The interval is that of the row: an integration that is cached may be older.
func beat(tx *db.Tx, i integration.Integration, at int64) error {
	return tx.Do(`INSERT INTO heartbeat (account_id, integration_id, last_at, missed, missing_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, integration_id) DO UPDATE SET last_at = excluded.last_at, missed = excluded.missed,
			missing_at = CASE WHEN heartbeat.missing_at = 0 THEN 0 ELSE excluded.last_at + heartbeat.interval_s + 1 END`,
		i.AccountID, i.IntegrationID, at, false, unknown)
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

// maxSilent is how many characters of an integration's name the title of its alert has: a call cuts the title at 150, and must
// not lose what the silence means.
const maxSilent = 100

// statusEvent returns the event that a heartbeat is missing or has come back.
func statusEvent(i integration.Integration, at int64, status string) event.Event {
	title := event.Cut(i.IntegrationName, maxSilent) + " is silent: all of its alerts may be missing"
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
		e.Description = fmt.Sprintf(
			"No sign of life for %d seconds. Until it is back, check by hand what it watches.", i.Settings.IntervalSeconds)
	}
	return e
}

// Changes accepts change events: POST or PUT /event/push/change/standard?integration_key=KEY.
func (r *Service) Changes() api.Endpoint {
	return api.Endpoint{Path: "/event/push/change", Methods: pushMethods, MaxBody: r.MaxBytes, Do: r.change}
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
	if err := r.tooMuch(c, i, integration.RefusedAt, header); err != nil {
		return nil, err
	}
	text, err := body.Read(i.AccountID, i.IntegrationID)
	if err != nil {
		return nil, r.refuse(i, "", err)
	}
	e, err := read.Parse(text, c.Now)
	if err != nil {
		return nil, r.refuse(i, "", err)
	}
	return r.putChange(c, i, e, len(text))
}

// putChange stores a change event of an integration, whose body had a number of bytes.
func (r *Service) putChange(c *api.Call, i integration.Integration, e read.Event, bytes int) (ChangeTaken, error) {
	r.count(i, int64(bytes), 0, c.Now)
	var reply ChangeTaken
	err := r.DB.WriteOf(c.Ctx, i.AccountID, func(tx *db.Tx) (err error) {
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
