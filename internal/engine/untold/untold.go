package untold

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Silences returns a function for the incidents of an account that returns until when (Unix seconds) one is silent by
// choice, and why, in words; 0 when it is not. steps is how many filter steps that took. It is not called in a transaction.
type Silences func(ctx context.Context, account int64, now time.Time) func(channel int64, incident string) (
	until int64, why sentence.Value, steps int64, err error)

// Service keeps what reached no person. It holds the dependencies.
type Service struct {
	DB       *db.DB
	Bus      *activity.Bus
	Log      *slog.Logger
	Notify   *notify.Service
	Wake     *jobs.Signal // wakes the job
	Silences Silences     // nil: no incident is silent by choice

	accounts *jobs.RoundRobin
}

// New returns a service; of r it takes the dependencies.
func New(r Service) *Service {
	r.accounts = jobs.NewRoundRobin(r.Wake, r.DB.Meter(), func() bool { return r.DB.Crowded() }) // of the service: DB may be set after New
	return &r
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
	why, choice          sentence.Value
	state                string
	since, last, events  int64
	next, attempt, at    int64  // at is when the last message was stored
	key                  string // what the keys of its notifications begin with; empty: its result is known
}

const columns = `account_id, ref_id, incident_id, channel_id, integration_id, event_id, title, severity, why, by_choice, state, since,
	last_at, events, next_at, attempt, told_at, told_key`

func scanRow(scan db.Scan) (w row, err error) {
	return w, scan(&w.account, &w.ref, &w.incident, &w.channel, &w.integration, &w.event, &w.title, &w.severity,
		(*string)(&w.why), (*string)(&w.choice),
		&w.state, &w.since, &w.last, &w.events, &w.next, &w.attempt, &w.at, &w.key)
}

// values returns the values of the columns. The first two are the key.
func (w *row) values() []any {
	return []any{w.account, w.ref, w.incident, w.channel, w.integration, w.event, w.title, w.severity,
		string(w.why), string(w.choice), w.state, w.since,
		w.last, w.events, w.next, w.attempt, w.at, w.key}
}

var saving = db.Columns(columns)

// update updates rows.
func update(tx *db.Tx, rows ...row) error {
	all := db.Rows{Table: "untold", Columns: saving}
	for n := range rows {
		all.Values = append(all.Values, rows[n].values())
	}
	return tx.Update(2, all)
}

// notifyAgain makes the fallback be notified of a row in its time.
func (w *row) notifyAgain(now time.Time) {
	w.state = waiting
	w.choice = ""
	w.key = ""
	w.attempt = 0
	w.next = due(w.severity, now)
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
func (r *Service) Add(tx *db.Tx, i *incident.Incident, why sentence.Value, now time.Time) error {
	w := newRow(i, now)
	w.why = why
	w.notifyAgain(now)
	tx.OnCommit(func() { r.Wake.RaiseFor(i.AccountID) })
	return tx.Upsert(2, db.Rows{Table: "untold", Columns: saving, Values: [][]any{w.values()}}, rise)
}

// rise changes a row whose incident was silent by choice, or is more severe now.
const rise = `title = excluded.title, severity = excluded.severity, why = excluded.why, last_at = excluded.last_at,
		state = excluded.state, by_choice = '', told_key = '', attempt = 0, next_at = excluded.next_at
	WHERE untold.state = 'by_choice' OR CASE excluded.severity
		WHEN 'Critical' THEN untold.severity <> 'Critical'
		WHEN 'Warning' THEN untold.severity NOT IN ('Critical', 'Warning')
		WHEN 'Info' THEN untold.severity NOT IN ('Critical', 'Warning', 'Info') END`

// Hold notes that an incident is silent by choice, unless it is noted already.
func Hold(tx *db.Tx, i *incident.Incident, choice sentence.Value, now time.Time) error {
	w := newRow(i, now)
	w.state, w.choice = byChoice, choice
	return tx.Do(`INSERT INTO untold (`+columns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) ON CONFLICT DO NOTHING`, w.values()...)
}

func newRow(i *incident.Incident, now time.Time) row {
	return row{account: i.AccountID, ref: i.IncidentID, incident: i.IncidentID, channel: i.ChannelID, title: i.Title,
		severity: i.Severity, since: now.Unix(), last: now.Unix()}
}

// Forget deletes what is noted of incidents, because persons are notified of them or they are over.
func Forget(tx *db.Tx, account int64, incidents ...string) error {
	if len(incidents) == 0 {
		return nil
	}
	return tx.Do(`DELETE FROM untold WHERE account_id = $1 AND ref_id IN (SELECT value FROM json_each($2))`, account, db.JSON(incidents))
}

// Release deletes what is noted of an incident whose escalation was held by choice, because it goes on.
func Release(tx *db.Tx, account int64, incident string) error {
	return tx.Do(`DELETE FROM untold WHERE account_id = $1 AND ref_id = $2 AND state = 'by_choice'`, account, incident)
}

// Recheck makes incidents (a list, see db.JSON) that are silent by choice due now, because they or their alerts have
// changed.
func Recheck(tx *db.Tx, account int64, incidents string, now time.Time) error {
	return tx.Do(`UPDATE untold SET next_at = $3 WHERE account_id = $1 AND ref_id IN (SELECT value FROM json_each($2))
		AND next_at > $3 AND state = 'by_choice'`, account, incidents, now.Unix())
}

// Reconsider makes everything that is silent by choice due now, and what could not reach the fallback, because the
// account's configuration has changed.
func Reconsider(tx *db.Tx, account int64, now time.Time) error {
	return tx.Do(`UPDATE untold SET next_at = $2
		WHERE account_id = $1 AND next_at > 0 AND next_at > $2 AND state IN ('by_choice', 'unreached')`, account, now.Unix())
}

// Handle forgets incidents of an account that a person answers for or that are over.
func (r *Service) Handle(tx *db.Tx, items []activity.Item) error {
	var answered []string
	for _, item := range items {
		switch e := item.Event.(type) {
		case activity.Acknowledged, activity.RespondersAdded, activity.Resolved:
			answered = append(answered, item.ID)
		case activity.Merged:
			answered = append(answered, e.SourceIncidentIDs...)
		case activity.Assigned:
			if e.How != "escalate" {
				answered = append(answered, item.ID)
			}
		}
	}
	if len(answered) == 0 {
		return nil
	}
	return Forget(tx, items[0].Account, answered...)
}

// keyOf returns what the keys of one message about an incident begin with.
func (w *row) keyOf() string {
	return fmt.Sprintf("%s/fallback/%d/%s/%d", w.incident, w.since, w.severity, w.attempt)
}
