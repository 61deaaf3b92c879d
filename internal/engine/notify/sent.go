package notify

import "tocsin/internal/platform/db"

// Delivered is a notification that was sent, as reports count it.
type Delivered struct {
	ID       string
	At       int64 // when it was sent, Unix milliseconds
	Incident string
	Person   int64 // 0: a chat, or an address that belongs to no person
	Method   string
	Bundle   string // notifications of a person over a method with the same one shared a message; empty: it shared none
}

// SentAfter returns at most limit notifications that were sent between two moments (Unix milliseconds, until is
// exclusive) after one of them, in the order in which they were sent; before the first, at is from - 1. Persons names
// their persons; empty: all, and chats.
func SentAfter(tx *db.Tx, account, from, until int64, persons []int64, at int64, id string, limit int64) ([]Delivered, error) {
	return db.All(tx, func(scan db.Scan) (d Delivered, err error) {
		return d, scan(&d.ID, &d.At, &d.Incident, &d.Person, &d.Method, &d.Bundle)
	}, `SELECT notice_id, settled_at, incident_id, person_id, way, bundle FROM notice
		WHERE account_id = $1 AND settled_at >= $2 AND settled_at < $3 AND status = 'sent'
		AND ($4 = '' OR $4 LIKE '%,' || person_id || ',%')
		AND (settled_at > $5 OR settled_at = $5 AND notice_id > $6)
		ORDER BY settled_at, notice_id LIMIT $7 + 0`,
		account, max(from, at), until, db.List(persons), at, id, limit)
}
