package alert

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/decide"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const decided = `alert_id, channel_id, incident_id, alert_key, integration_id,
	title_rule, title, description, alert_severity, alert_status, labels, images,
	start_time, last_time, end_time, event_cnt, ever_muted, muted, muted_by, muted_until, changes,
	group_key, flapping_until, flapping_notified, identifying, name_folded`

// Row is a stored alert, with all columns that a decision about events reads. Two rows are equal (==) if nothing that a
// decision could depend on has changed between them.
type Row struct {
	ID, Incident, Key, TitleRule, Title, Description, Severity, Status string
	Channel, Integration, Start, Last, End, Events, MutedUntil         int64
	EverMuted                                                          bool
	Muted                                                              decide.Outcome
	MutedBy                                                            string
	Labels, Images, Changes                                            string // JSON
	GroupKey                                                           string
	FlapsUntil, FlapsNotified                                          int64
	Identifying                                                        string
	Name                                                               string // folded; see searchName
}

func scanRow(scan db.Scan) (w Row, err error) {
	return w, scan(&w.ID, &w.Channel, &w.Incident, &w.Key, &w.Integration,
		&w.TitleRule, &w.Title, &w.Description, &w.Severity, &w.Status, &w.Labels, &w.Images,
		&w.Start, &w.Last, &w.End, &w.Events, &w.EverMuted, &w.Muted, &w.MutedBy, &w.MutedUntil, &w.Changes, &w.GroupKey, &w.FlapsUntil,
		&w.FlapsNotified, &w.Identifying, &w.Name)
}

// Alert returns the alert of the row, with the JSON columns parsed.
func (w *Row) Alert() (a decide.Alert, err error) {
	a = decide.Alert{
		ID:            w.ID,
		Channel:       w.Channel,
		Incident:      w.Incident,
		Key:           w.Key,
		Integration:   w.Integration,
		TitleRule:     w.TitleRule,
		Title:         w.Title,
		Description:   w.Description,
		Severity:      w.Severity,
		Status:        w.Status,
		Start:         w.Start,
		Last:          w.Last,
		End:           w.End,
		Events:        w.Events,
		EverMuted:     w.EverMuted,
		Muted:         w.Muted,
		MutedBy:       w.MutedBy,
		MutedUntil:    w.MutedUntil,
		GroupKey:      w.GroupKey,
		FlapsUntil:    w.FlapsUntil,
		FlapsNotified: w.FlapsNotified,
		Identifying:   w.Identifying,
	}
	for _, part := range []struct {
		text string
		into any
	}{{w.Labels, &a.Labels}, {w.Images, &a.Images}, {w.Changes, &a.Changes}} {
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return a, fault.Wrap(err, "alert %s", w.ID)
		}
	}
	return a, nil
}

// RowOf returns the row of an alert.
func RowOf(a *decide.Alert) (Row, error) {
	w := Row{
		ID:            a.ID,
		Channel:       a.Channel,
		Incident:      a.Incident,
		Key:           a.Key,
		Integration:   a.Integration,
		TitleRule:     a.TitleRule,
		Title:         a.Title,
		Description:   a.Description,
		Severity:      a.Severity,
		Status:        a.Status,
		Start:         a.Start,
		Last:          a.Last,
		End:           a.End,
		Events:        a.Events,
		EverMuted:     a.EverMuted,
		Muted:         a.Muted,
		MutedBy:       a.MutedBy,
		MutedUntil:    a.MutedUntil,
		GroupKey:      a.GroupKey,
		FlapsUntil:    a.FlapsUntil,
		FlapsNotified: a.FlapsNotified,
		Identifying:   a.Identifying,
		Name:          searchName(a.Title, a.Labels),
	}
	for _, part := range []struct {
		text *string
		from any
	}{{&w.Labels, a.Labels}, {&w.Images, a.Images}, {&w.Changes, a.Changes}} {
		text, err := json.Marshal(part.from, json.Deterministic(true))
		if err != nil {
			return w, err
		}
		*part.text = string(text)
	}
	return w, nil
}

func scanDecided(scan db.Scan) (a decide.Alert, err error) {
	w, err := scanRow(scan)
	if err != nil {
		return a, err
	}
	return w.Alert()
}

const latest = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND channel_id = $2 AND alert_key = $3 AND deleted_at = 0
	ORDER BY start_time DESC, CASE WHEN end_time = 0 THEN 0 ELSE 1 END, end_time DESC, alert_id DESC LIMIT 1`

// Slot is a key of alerts, or of groups of alerts, in a channel.
type Slot struct {
	Channel int64
	Key     string
}

// Slots writes slots as a list for json_each: each is 20 digits and the key. A key that such a list cannot hold is left
// out.
func Slots(all []Slot) string {
	list := make([]string, 0, len(all))
	for _, s := range all {
		if db.Listable(s.Key) {
			list = append(list, fmt.Sprintf("%020d%s", s.Channel, s.Key))
		}
	}
	return db.JSON(list)
}

// The list is read first, and each alert by its primary key.
const latestOf = `SELECT ` + decided + ` FROM json_each($2) AS slot CROSS JOIN alert WHERE account_id = $1 AND alert_id = (
	SELECT a.alert_id FROM alert a WHERE a.account_id = $1 AND a.channel_id = CAST(substr(slot.value, 1, 20) AS BIGINT)
		AND a.alert_key = substr(slot.value, 21) AND a.deleted_at = 0
	ORDER BY a.start_time DESC, CASE WHEN a.end_time = 0 THEN 0 ELSE 1 END, a.end_time DESC, a.alert_id DESC LIMIT 1)`

// LatestOf is Latest for many keys.
func LatestOf(tx *db.Tx, account int64, slots []Slot) ([]Row, error) {
	return db.All(tx, scanRow, latestOf, account, Slots(slots))
}

// RowsOf returns the rows of the alerts of some ids that the account has.
func RowsOf(tx *db.Tx, account int64, ids []string) ([]Row, error) {
	return db.All(tx, scanRow, `SELECT `+decided+` FROM json_each($2) AS one CROSS JOIN alert
		WHERE account_id = $1 AND alert_id = one.value AND deleted_at = 0`, account, db.JSON(ids))
}

// ActiveOf returns the number of active alerts by incident; incidents without any are absent.
func ActiveOf(tx *db.Tx, account int64, incidents []string) (active map[string]int64, err error) {
	active = map[string]int64{}
	_, err = db.All(tx, func(scan db.Scan) (n int64, err error) {
		incident := ""
		err = scan(&incident, &n)
		active[incident] = n
		return n, err
	}, `SELECT incident_id, count(*) FROM alert WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2))
		AND end_time = 0 AND deleted_at = 0 GROUP BY incident_id`, account, db.JSON(incidents))
	return active, err
}

// Latest returns the channel's newest alert of a key, active or not. Of alerts that began in the same second the active one
// is the newest: ids are in order only within one process.
func Latest(tx *db.Tx, account, channel int64, key string) (w Row, found bool, err error) {
	return db.One(tx, scanRow, latest, account, channel, key)
}

// FindRow returns the row of an alert. found is false when the account has none of this id.
func FindRow(tx *db.Tx, account int64, alert string) (w Row, found bool, err error) {
	return db.One(tx, scanRow, `SELECT `+decided+` FROM alert WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, account, alert)
}

// Find returns an alert as the decision about events reads it. found is false when the account has none of this id.
func Find(tx *db.Tx, account int64, alert string) (a decide.Alert, found bool, err error) {
	w, found, err := FindRow(tx, account, alert)
	if err == nil && found {
		a, err = w.Alert()
	}
	return a, found, err
}

// MaxSources is the number of alerts of a channel that Sources returns at most. It bounds the memory of one decision.
const MaxSources = 20_000

// Sources returns the channel's active alerts, which may inhibit others: at most MaxSources, those with the latest events
// first.
func Sources(tx *db.Tx, account, channel int64) ([]Row, error) {
	return db.All(tx, scanRow, `SELECT `+decided+` FROM alert
		WHERE account_id = $1 AND channel_id = $2 AND end_time = 0 AND deleted_at = 0
		ORDER BY last_time DESC, alert_id LIMIT $3 + 0`, account, channel, MaxSources)
}

// Due is an alert that must be decided again, because it is muted or changes too often.
type Due struct {
	Account int64
	ID      string
}

// DueAgain returns an account's active alerts that are muted, or change too often, until now (Unix seconds) or earlier. The
// earliest come first; limit bounds their number.
func DueAgain(tx *db.Tx, account, now, limit int64) ([]Due, error) {
	return db.All(tx, func(scan db.Scan) (d Due, err error) { return d, scan(&d.Account, &d.ID) },
		`SELECT account_id, alert_id FROM alert
			WHERE account_id = $1 AND end_time = 0 AND muted_until > 0 AND muted_until <= $2 AND deleted_at = 0
			ORDER BY muted_until, alert_id LIMIT $3 + 0`, account, now, limit)
}

// PutOff sets only the time (Unix seconds) at which a muted alert is decided again.
func PutOff(tx *db.Tx, d Due, until int64) error {
	return tx.Do(`UPDATE alert SET muted_until = $3 WHERE account_id = $1 AND alert_id = $2`, d.Account, d.ID, until)
}

// heldBack sorts by a sum, so that the database finds the channel's active alerts by their index and does not read all
// alerts of the account in order.
const heldBack = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND channel_id = $2 AND end_time = 0 AND deleted_at = 0
	AND (incident_id = '' AND muted = 'silenced' OR EXISTS (
		SELECT 1 FROM incident i JOIN escalation e ON e.account_id = i.account_id AND e.incident_id = i.incident_id
		WHERE i.account_id = alert.account_id AND i.incident_id = alert.incident_id
			AND i.progress = 'Triggered' AND i.snoozed_before <= $3 AND e.next_at > 0 AND e.next_at <= $3))
	ORDER BY start_time + 0, alert_id`

// HeldBack returns a channel's active alerts whose notifications silences may hold back until a time (Unix seconds):
// silenced alerts, and alerts of open incidents whose escalation continues by then. The oldest come first.
func HeldBack(tx *db.Tx, account, channel, until int64) ([]decide.Alert, error) {
	return db.All(tx, scanDecided, heldBack, account, channel, until)
}

// NextAgain returns the next account, by id after the given one, that has muted alerts, and when its first alert must
// be decided again (Unix seconds). found is false when there is no such account.
func NextAgain(tx *db.Tx, after int64) (account, due int64, found bool, err error) {
	account, found, err = db.One(tx, db.Column[int64], `SELECT account_id FROM alert
		WHERE end_time = 0 AND muted_until > 0 AND deleted_at = 0 AND account_id > $1
		ORDER BY account_id LIMIT 1`, after)
	if err != nil || !found {
		return account, 0, found, err
	}
	due, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(muted_until), 0) FROM alert
		WHERE account_id = $1 AND end_time = 0 AND muted_until > 0 AND deleted_at = 0`, account)
	return account, due, true, err
}

// Unmute makes all muted alerts of an account due now (Unix seconds), because its configuration has changed.
func Unmute(tx *db.Tx, account, now int64) error {
	return tx.Do(`UPDATE alert SET muted_until = $2 WHERE account_id = $1 AND end_time = 0 AND muted_until > $2`, account, now)
}

const uninhibit = `UPDATE alert SET muted_until = $3
	WHERE account_id = $1 AND end_time = 0 AND muted_until > $3 AND muted_by IN (SELECT value FROM json_each($2)) AND muted_by <> ''`

// Uninhibit makes the alerts that some sources inhibit due now (Unix seconds), because the sources are over or have changed.
func Uninhibit(tx *db.Tx, account int64, now int64, sources ...string) error {
	if len(sources) == 0 {
		return nil
	}
	return tx.Do(uninhibit, account, db.JSON(sources), now)
}

// Origin is the integration that an alert came through, as it was when the alert was stored.
type Origin struct{ Name, Type, Ref string }

// Save updates a stored alert.
func Save(tx *db.Tx, account int64, a *decide.Alert, now time.Time) error {
	w, err := RowOf(a)
	if err != nil {
		return err
	}
	return w.Update(tx, account, now)
}

var (
	changing = db.Columns(`account_id, alert_id, incident_id, description, alert_severity, alert_status, labels, images, last_time, end_time,
		event_cnt, ever_muted, muted, muted_by, muted_until, changes, updated_at, group_key, flapping_until,
		flapping_notified, identifying, name_folded`)
	inserting = db.Columns(`account_id, ` + decided + `, integration_name, integration_type, integration_ref_id,
		responder_name, responder_email, created_at, updated_at, deleted_at`)
)

// Update updates a stored row.
func (w *Row) Update(tx *db.Tx, account int64, now time.Time) error {
	return tx.Update(2, db.Rows{Table: "alert", Columns: changing, Values: [][]any{{
		account, w.ID, w.Incident, w.Description, w.Severity, w.Status, w.Labels, w.Images, w.Last, w.End,
		w.Events, w.EverMuted, string(w.Muted), w.MutedBy, w.MutedUntil, w.Changes, now.Unix(), w.GroupKey, w.FlapsUntil,
		w.FlapsNotified, w.Identifying, w.Name,
	}}})
}

// Insert stores a new row, with the integration that the alert came through.
func (w *Row) Insert(tx *db.Tx, account int64, from Origin, now time.Time) error {
	return tx.Insert(db.Rows{Table: "alert", Columns: inserting, Values: [][]any{{
		account, w.ID, w.Channel, w.Incident, w.Key, w.Integration,
		w.TitleRule, w.Title, w.Description, w.Severity, w.Status, w.Labels, w.Images,
		w.Start, w.Last, w.End, w.Events, w.EverMuted, string(w.Muted), w.MutedBy, w.MutedUntil, w.Changes, w.GroupKey, w.FlapsUntil,
		w.FlapsNotified, w.Identifying, w.Name, from.Name, from.Type, from.Ref, "", "", now.Unix(), now.Unix(), 0,
	}}})
}

const ofIncident = `SELECT ` + decided + ` FROM alert WHERE account_id = $1 AND incident_id = $2 AND deleted_at = 0
	ORDER BY start_time, alert_id LIMIT $3 + 0 OFFSET $4 + 0`

// OfIncident returns a page of the alerts of an incident, ordered by their beginning.
func OfIncident(tx *db.Tx, account int64, incident string, limit, offset int64) ([]decide.Alert, error) {
	return db.All(tx, scanDecided, ofIncident, account, incident, limit, offset)
}

// OriginOf returns the integration that an alert came through, as it was when the alert was stored.
func OriginOf(tx *db.Tx, account int64, alert string) (Origin, error) {
	o, _, err := db.One(tx, func(scan db.Scan) (o Origin, err error) { return o, scan(&o.Name, &o.Type, &o.Ref) },
		`SELECT integration_name, integration_type, integration_ref_id FROM alert WHERE account_id = $1 AND alert_id = $2`, account, alert)
	return o, err
}

// Count holds numbers of an incident: alerts, active alerts, active alerts that are over for now, and events. See
// decide.Alert.AwaitsQuiet for alerts that are over for now.
type Count struct{ Alerts, Active, Waiting, Events int64 }

// Firing returns how many alerts are active and not over for now.
func (c Count) Firing() int64 { return c.Active - c.Waiting }

const counted = `count(*), coalesce(sum(CASE WHEN end_time = 0 THEN 1 ELSE 0 END), 0),
	coalesce(sum(CASE WHEN end_time = 0 AND flapping_until > 0 AND alert_status = 'Ok' THEN 1 ELSE 0 END), 0), coalesce(sum(event_cnt), 0)`

// CountOf returns the number of alerts and events of an incident.
func CountOf(tx *db.Tx, account int64, incident string) (Count, error) {
	c, _, err := db.One(tx, func(scan db.Scan) (c Count, err error) { return c, scan(&c.Alerts, &c.Active, &c.Waiting, &c.Events) },
		`SELECT `+counted+` FROM alert WHERE account_id = $1 AND incident_id = $2 AND deleted_at = 0`, account, incident)
	return c, err
}

// CountsOf is CountOf for some incidents; those without alerts are left out.
func CountsOf(tx *db.Tx, account int64, incidents []string) (counts map[string]Count, err error) {
	counts = map[string]Count{}
	_, err = db.All(tx, func(scan db.Scan) (c Count, err error) {
		incident := ""
		err = scan(&incident, &c.Alerts, &c.Active, &c.Waiting, &c.Events)
		counts[incident] = c
		return c, err
	}, `SELECT incident_id, `+counted+` FROM alert WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2))
		AND deleted_at = 0
		GROUP BY incident_id`, account, db.JSON(incidents))
	return counts, err
}
