package incident

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// Window selects incidents by when they began, and by what queries can test.
type Window struct {
	From, Until int64    // Unix seconds; Until is exclusive
	Severities  []string // empty: all, as in the lists below
	Channels    []int64
	Hidden      []int64 // channels whose incidents are left out
	IDs         []string
	Persons     []int64 // of whom one is or was responsible
}

const inWindow = ` FROM incident i WHERE i.account_id = $1 AND i.start_time >= $2 AND i.start_time < $3
	AND ($4 = '' OR $4 LIKE '%,' || i.severity || ',%')
	AND ($5 = '' OR $5 LIKE '%,' || i.channel_id || ',%')
	AND NOT ($6 LIKE '%,' || i.channel_id || ',%')
	AND ($7 = '' OR $7 LIKE '%,' || i.incident_id || ',%')
	AND ($8 = '' OR EXISTS (SELECT 1 FROM incident_assignment a WHERE a.account_id = i.account_id AND a.incident_id = i.incident_id
		AND $8 LIKE '%,' || a.person_id || ',%'))`

const (
	windowUp = `SELECT ` + columns + inWindow + ` AND (i.start_time > $9 OR i.start_time = $9 AND i.incident_id > $10)
		ORDER BY i.start_time, i.incident_id LIMIT $11 + 0`
	windowDown = `SELECT ` + columns + inWindow + ` AND (i.start_time < $9 OR i.start_time = $9 AND i.incident_id < $10)
		ORDER BY i.start_time DESC, i.incident_id DESC LIMIT $11 + 0`
)

func (w Window) args(account, from, until int64) []any {
	return []any{account, from, until, db.List(w.Severities), db.List(w.Channels), db.List(w.Hidden),
		db.List(lower(w.IDs)), db.List(w.Persons)}
}

// After returns at most limit incidents of the window after a position, in the order of their beginning, without their
// assignments; the zero Position is before the first. A page costs as much as its rows, however far into the window it is.
func (w Window) After(tx *db.Tx, account int64, from api.Position, oldestFirst bool, limit int64) ([]Incident, error) {
	query := windowUp
	begin := w.From
	end := w.Until
	switch {
	case oldestFirst && from == (api.Position{}):
		from.At = begin - 1
	case oldestFirst:
		begin = max(begin, from.At)
	case from == (api.Position{}):
		query, from.At = windowDown, end
	default:
		query, end = windowDown, min(end, from.At+1)
	}
	found, err := db.All(tx, scanIncident, query, append(w.args(account, begin, end), from.At, from.ID, limit)...)
	for i := range found {
		found[i].AccountID = account
	}
	return found, err
}

// Count returns how many incidents the window has, at most limit.
func (w Window) Count(tx *db.Tx, account, limit int64) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM (SELECT 1`+inWindow+` LIMIT $9 + 0) AS x`,
		append(w.args(account, w.From, w.Until), limit)...)
	return n, err
}

// Responders returns who is responsible for an incident now, with names.
func Responders(tx *db.Tx, account int64, id string) ([]Responder, error) {
	all, err := assignments(tx, account, id)
	if err != nil {
		return nil, err
	}
	r := Incident{AccountID: account, IncidentID: id, Assignments: all}
	return r.responders(tx)
}

// ChannelOf returns the channel of an incident; found is false when the account has no such incident.
func ChannelOf(tx *db.Tx, account int64, id string) (channel int64, found bool, err error) {
	return db.One(tx, db.Column[int64], `SELECT channel_id FROM incident WHERE account_id = $1 AND incident_id = $2`, account, id)
}
