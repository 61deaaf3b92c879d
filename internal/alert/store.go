package alert

import (
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/db"
	"tocsin/internal/decide"
	"tocsin/internal/fault"
	"tocsin/internal/id"
)

const decided = `alert_id, channel_id, incident_id, alert_key, integration_id, title_rule, title, description, alert_severity, alert_status, labels, images,
	start_time, last_time, end_time, event_cnt, ever_muted, muted, muted_by, muted_until, changes`

func scanDecided(scan db.Scan) (a decide.Alert, err error) {
	var labels, images, changes string
	if err = scan(&a.ID, &a.Channel, &a.Incident, &a.Key, &a.Integration, &a.TitleRule, &a.Title, &a.Description, &a.Severity, &a.Status, &labels, &images,
		&a.Start, &a.Last, &a.End, &a.Events, &a.EverMuted, &a.Muted, &a.MutedBy, &a.MutedUntil, &changes); err != nil {
		return a, err
	}
	for _, part := range []struct {
		text string
		into any
	}{{labels, &a.Labels}, {images, &a.Images}, {changes, &a.Changes}} {
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return a, fault.Wrap(err, "alert %s", a.ID)
		}
	}
	return a, nil
}

const latest = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND channel_id = $2 AND alert_key = $3 AND deleted_at = 0 ORDER BY start_time DESC, alert_id DESC LIMIT 1`

// Latest is the channel's newest alert of a key, over or not; nil: there is none.
func Latest(tx *db.Tx, account, channel int64, key string) (*decide.Alert, error) {
	a, found, err := db.One(tx, scanDecided, latest, account, channel, key)
	if err != nil || !found {
		return nil, err
	}
	return &a, nil
}

// Find reads an alert as deciding knows it.
func Find(tx *db.Tx, account int64, alert string) (a decide.Alert, found bool, err error) {
	return db.One(tx, scanDecided, `SELECT `+decided+` FROM alert WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, account, alert)
}

// Sources lists the channel's active alerts that had an event at since or later, at most 1,000 of them, the
// newest first, and whether their incidents are acknowledged.
func Sources(tx *db.Tx, account, channel, since int64) ([]decide.Source, error) {
	return db.All(tx, func(scan db.Scan) (s decide.Source, err error) {
		s.Alert, err = scanDecided(func(dest ...any) error { return scan(append(dest, &s.Acked)...) })
		return s, err
	}, `SELECT `+decided+`, EXISTS (SELECT 1 FROM incident i WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id AND i.progress = 'Processing')
		FROM alert WHERE account_id = $1 AND channel_id = $2 AND end_time = 0 AND last_time >= $3 AND deleted_at = 0 ORDER BY last_time DESC, alert_id LIMIT 1000`, account, channel, since)
}

// Due is a muted alert that is to be decided again.
type Due struct {
	Account int64
	ID      string
}

// DueAgain lists active alerts that are muted until now or earlier, the longest due first.
func DueAgain(tx *db.Tx, now, limit int64) ([]Due, error) {
	return db.All(tx, func(scan db.Scan) (d Due, err error) { return d, scan(&d.Account, &d.ID) },
		`SELECT account_id, alert_id FROM alert WHERE end_time = 0 AND muted_until > 0 AND muted_until <= $1 AND deleted_at = 0 ORDER BY muted_until, alert_id LIMIT $2 + 0`, now, limit)
}

// PutOff makes a muted alert due at a later moment (Unix seconds), whatever else is stored of it.
func PutOff(tx *db.Tx, d Due, until int64) error {
	_, err := tx.Exec(`UPDATE alert SET muted_until = $3 WHERE account_id = $1 AND alert_id = $2`, d.Account, d.ID, until)
	return err
}

// heldBack sorts by a sum so that the engine looks up the channel's active alerts, and not all of the account in order.
const heldBack = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND channel_id = $2 AND end_time = 0 AND deleted_at = 0
	AND (incident_id = '' AND muted = 'silenced' OR EXISTS (SELECT 1 FROM incident i JOIN escalation e ON e.account_id = i.account_id AND e.incident_id = i.incident_id
		WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id AND i.progress = 'Triggered' AND i.snoozed_before <= $3 AND e.next_at > 0 AND e.next_at <= $3))
	ORDER BY start_time + 0, alert_id`

// HeldBack lists a channel's active alerts of which silences may keep people from being told until a moment (Unix
// seconds): those that are silenced, and those of open incidents whose escalation is to go on by then. The oldest
// come first.
func HeldBack(tx *db.Tx, account, channel, until int64) ([]decide.Alert, error) {
	return db.All(tx, scanDecided, heldBack, account, channel, until)
}

// NextAgain is when the next muted alert is due, Unix seconds; 0: none.
func NextAgain(tx *db.Tx) (int64, error) {
	next, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(min(muted_until), 0) FROM alert WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0`)
	return next, err
}

// Unmute makes all muted alerts of an account due, because its configuration has changed.
func Unmute(tx *db.Tx, account, now int64) error {
	_, err := tx.Exec(`UPDATE alert SET muted_until = $2 WHERE account_id = $1 AND end_time = 0 AND muted_until > $2`, account, now)
	return err
}

const uninhibit = `UPDATE alert SET muted_until = $3 WHERE account_id = $1 AND end_time = 0 AND muted_until > $3 AND muted_by = $2 AND muted_by <> ''`

// Uninhibit makes those due that an alert has inhibited, because it is over.
func Uninhibit(tx *db.Tx, account int64, source string, now int64) error {
	_, err := tx.Exec(uninhibit, account, source, now)
	return err
}

// Origin is the integration that an alert came through, as it was then.
type Origin struct{ Name, Type, Ref string }

// Save stores an alert as it is from now on. One without an ID gets one.
func Save(tx *db.Tx, account int64, a *decide.Alert, from Origin, now time.Time) error {
	labels, err := json.Marshal(a.Labels, json.Deterministic(true))
	if err != nil {
		return err
	}
	images, err := json.Marshal(a.Images)
	if err != nil {
		return err
	}
	changes, err := json.Marshal(a.Changes)
	if err != nil {
		return err
	}
	if a.ID != "" {
		_, err := tx.Exec(`UPDATE alert SET incident_id = $3, description = $4, alert_severity = $5, alert_status = $6, labels = $7, images = $8, last_time = $9, end_time = $10,
			event_cnt = $11, ever_muted = $12, muted = $13, muted_by = $14, muted_until = $15, changes = $16, updated_at = $17 WHERE account_id = $1 AND alert_id = $2`,
			account, a.ID, a.Incident, a.Description, a.Severity, a.Status, string(labels), string(images), a.Last, a.End,
			a.Events, a.EverMuted, string(a.Muted), a.MutedBy, a.MutedUntil, string(changes), now.Unix())
		return err
	}
	a.ID = id.Object(now)
	_, err = tx.Exec(`INSERT INTO alert (account_id, `+decided+`, integration_name, integration_type, integration_ref_id, responder_name, responder_email, created_at, updated_at, deleted_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, '', '', $26, $26, 0)`,
		account, a.ID, a.Channel, a.Incident, a.Key, a.Integration, a.TitleRule, a.Title, a.Description, a.Severity, a.Status, string(labels), string(images),
		a.Start, a.Last, a.End, a.Events, a.EverMuted, string(a.Muted), a.MutedBy, a.MutedUntil, string(changes), from.Name, from.Type, from.Ref, now.Unix())
	return err
}

const ofIncident = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND incident_id = $2 AND deleted_at = 0 ORDER BY start_time, alert_id LIMIT $3 + 0 OFFSET $4 + 0`

// OfIncident lists the alerts of an incident by their beginning.
func OfIncident(tx *db.Tx, account int64, incident string, limit, offset int64) ([]decide.Alert, error) {
	return db.All(tx, scanDecided, ofIncident, account, incident, limit, offset)
}

// OriginOf is the integration that an alert came through, as it was then.
func OriginOf(tx *db.Tx, account int64, alert string) (Origin, error) {
	o, _, err := db.One(tx, func(scan db.Scan) (o Origin, err error) { return o, scan(&o.Name, &o.Type, &o.Ref) },
		`SELECT integration_name, integration_type, integration_ref_id FROM alert WHERE account_id = $1 AND alert_id = $2`, account, alert)
	return o, err
}

// Count says how many alerts an incident has, how many of them are active, and how many events they had.
type Count struct{ Alerts, Active, Events int64 }

// CountOf counts the alerts of an incident.
func CountOf(tx *db.Tx, account int64, incident string) (Count, error) {
	c, _, err := db.One(tx, func(scan db.Scan) (c Count, err error) { return c, scan(&c.Alerts, &c.Active, &c.Events) },
		`SELECT count(*), coalesce(sum(CASE WHEN end_time = 0 THEN 1 ELSE 0 END), 0), coalesce(sum(event_cnt), 0) FROM alert WHERE account_id = $1 AND incident_id = $2 AND deleted_at = 0`, account, incident)
	return c, err
}
