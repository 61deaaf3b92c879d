// Package untold keeps what reached no person by a rule: incidents that no escalation rule takes or whose rule reached
// no one, and events that no channel takes. It notifies the account's fallback of them, which is the owner until another
// is set: at once of Critical, of the rest every 15 minutes. What is silent by choice is listed and notifies no one.
//
// It must never forget an incident before a person was reached, nor notify twice of the same severity.
package untold

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Service keeps what reached no person. It holds the dependencies.
type Service struct {
	DB     *db.DB
	Bus    *activity.Bus
	Log    *slog.Logger
	Notify *notify.Service
	Wake   *jobs.Signal // wakes the job
	// Silenced returns until when (Unix seconds) an incident is silent by choice, and why, in words; 0 when it is not. It is
	// not called in a transaction. nil: none is.
	Silenced func(ctx context.Context, account, channel int64, incident string, now time.Time) (until int64, why string, err error)
}

// The states of a row.
const (
	waiting   = "waiting"   // the fallback is notified in its time, or the result is not known yet
	told      = "fallback"  // the fallback was reached
	unreached = "unreached" // the fallback cannot be reached, nor can the owner
	byChoice  = "by_choice" // no person is to be notified now
)

var states = []string{waiting, told, unreached, byChoice}

// digest is from one message about what is not Critical to the next, in seconds.
const digest = 15 * 60

// row is an incident, or the events of one alert key that no channel took. All times are Unix seconds.
type row struct {
	account              int64
	ref, incident        string // incident is empty for events
	channel, integration int64
	event                string // the last event
	title, severity      string // severity is the highest so far
	why, choice, state   string
	since, last, events  int64
	next, attempt, at    int64  // at is when the last message was stored
	key                  string // what the keys of its notifications begin with; empty: its result is known
}

const columns = `account_id, ref_id, incident_id, channel_id, integration_id, event_id, title, severity, why, by_choice, state, since,
	last_at, events, next_at, attempt, told_at, told_key`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.ref, &w.incident, &w.channel, &w.integration, &w.event, &w.title, &w.severity, &w.why, &w.choice,
		&w.state, &w.since, &w.last, &w.events, &w.next, &w.attempt, &w.at, &w.key)
}

func find(tx *db.Tx, account int64, ref string) (row, bool, error) {
	return db.One(tx, scanRow, `SELECT `+columns+` FROM untold WHERE account_id = $1 AND ref_id = $2`, account, ref)
}

// save inserts or updates a row.
func (w *row) save(tx *db.Tx) error {
	_, err := tx.Exec(`INSERT INTO untold (`+columns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (account_id, ref_id) DO UPDATE SET event_id = excluded.event_id, title = excluded.title, severity = excluded.severity,
			why = excluded.why, by_choice = excluded.by_choice, state = excluded.state, last_at = excluded.last_at, events = excluded.events,
			next_at = excluded.next_at, attempt = excluded.attempt, told_at = excluded.told_at, told_key = excluded.told_key`,
		w.account, w.ref, w.incident, w.channel, w.integration, w.event, w.title, w.severity, w.why, w.choice, w.state, w.since,
		w.last, w.events, w.next, w.attempt, w.at, w.key)
	return err
}

// notifyAgain makes the fallback be notified of a row in its time.
func (w *row) notifyAgain(now time.Time) {
	w.state, w.choice, w.key, w.attempt, w.next = waiting, "", "", 0, due(w.severity, now)
}

// due returns when the fallback is notified of something that happens now: at once of Critical, else with the next
// digest.
func due(severity string, now time.Time) int64 {
	if severity == event.Critical {
		return now.Unix()
	}
	return (now.Unix()/digest + 1) * digest
}

// Add notes that an incident reached no person, and why. The fallback is notified of each severity that the incident rises
// to, once.
func (r *Service) Add(tx *db.Tx, i *incident.Incident, why string, now time.Time) error {
	w, found, err := find(tx, i.AccountID, i.IncidentID)
	if err != nil {
		return err
	}
	switch {
	case !found:
		w = newRow(i, now)
	case w.state != byChoice && event.Rank(i.Severity) <= event.Rank(w.severity):
		return nil
	}
	w.severity, w.title, w.why, w.last = i.Severity, i.Title, why, now.Unix()
	w.notifyAgain(now)
	tx.OnCommit(r.Wake.Raise)
	return w.save(tx)
}

// Hold notes that an incident is silent by choice, unless it is noted already.
func Hold(tx *db.Tx, i *incident.Incident, choice string, now time.Time) error {
	_, found, err := find(tx, i.AccountID, i.IncidentID)
	if err != nil || found {
		return err
	}
	w := newRow(i, now)
	w.state, w.choice = byChoice, choice
	return w.save(tx)
}

func newRow(i *incident.Incident, now time.Time) row {
	return row{account: i.AccountID, ref: i.IncidentID, incident: i.IncidentID, channel: i.ChannelID, title: i.Title,
		severity: i.Severity, since: now.Unix(), last: now.Unix()}
}

// Forget deletes what is noted of an incident, because persons are notified of it or it is over.
func Forget(tx *db.Tx, account int64, incident string) error {
	_, err := tx.Exec(`DELETE FROM untold WHERE account_id = $1 AND ref_id = $2`, account, incident)
	return err
}

// Release deletes what is noted of an incident whose escalation was held by choice, because it goes on.
func Release(tx *db.Tx, account int64, incident string) error {
	_, err := tx.Exec(`DELETE FROM untold WHERE account_id = $1 AND ref_id = $2 AND state = 'by_choice'`, account, incident)
	return err
}

// Recheck makes an incident that is silent by choice due now, because it or one of its alerts has changed.
func Recheck(tx *db.Tx, account int64, incident string, now time.Time) error {
	_, err := tx.Exec(`UPDATE untold SET next_at = $3 WHERE account_id = $1 AND ref_id = $2 AND next_at > $3 AND state = 'by_choice'`,
		account, incident, now.Unix())
	return err
}

// Reconsider makes everything that is silent by choice due now, and what could not reach the fallback, because the
// account's configuration has changed.
func Reconsider(tx *db.Tx, account int64, now time.Time) error {
	_, err := tx.Exec(`UPDATE untold SET next_at = $2
		WHERE account_id = $1 AND next_at > 0 AND next_at > $2 AND state IN ('by_choice', 'unreached')`, account, now.Unix())
	return err
}

// Handle forgets an incident that a person answers for or that is over.
func (r *Service) Handle(tx *db.Tx, item activity.Item) error {
	switch e := item.Event.(type) {
	case activity.Acknowledged, activity.RespondersAdded, activity.Resolved:
		return Forget(tx, item.Account, item.ID)
	case activity.Merged:
		for _, id := range e.SourceIncidentIDs {
			if err := Forget(tx, item.Account, id); err != nil {
				return err
			}
		}
	case activity.Assigned:
		if e.How != "escalate" {
			return Forget(tx, item.Account, item.ID)
		}
	}
	return nil
}

// publish records in an incident's feed who was notified instead of others, or that no one could be.
func (r *Service) publish(tx *db.Tx, i *incident.Incident, why string, to []int64, now time.Time) error {
	return r.Bus.Publish(tx, activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now,
		Event: activity.Exhausted{Reason: why, To: to}})
}

// keyOf returns what the keys of one message about an incident begin with.
func (w *row) keyOf() string {
	return fmt.Sprintf("%s/fallback/%d/%s/%d", w.incident, w.since, w.severity, w.attempt)
}
