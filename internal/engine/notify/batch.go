package notify

import (
	"slices"

	"tocsin/internal/platform/db"
)

// batch holds the notifications about some incidents of an account, as OfIncident returns them.
type batch map[subject][]Notification

// subject is an incident of an account.
type subject struct {
	account  int64
	incident string
}

// batchKey is the key of the batch among the values of its transaction.
type batchKey struct{}

// batchOf returns the batch of a transaction; nil: it has none.
func batchOf(tx *db.Tx) batch {
	b, _ := tx.Value(batchKey{}).(batch)
	return b
}

// Begin reads the notifications about some incidents at once, for what the transaction asks of them; those about others are
// read incident by incident.
func Begin(tx *db.Tx, account int64, incidents []string) error {
	tx.SetValue(batchKey{}, nil)
	all, err := db.All(tx, scanDelivered, ofIncidents+`incident_id IN (SELECT value FROM json_each($2)) ORDER BY created_at, notice_id`,
		account, db.JSON(incidents))
	if err != nil {
		return err
	}
	b := batch{}
	for _, id := range incidents {
		b[subject{account, id}] = nil
	}
	for _, n := range all {
		at := subject{account, n.Incident}
		b[at] = append(b[at], n)
	}
	tx.SetValue(batchKey{}, b)
	return nil
}

// put adds a notification that is stored, unless its key was.
func (b batch) put(n *Notification) {
	at := subject{n.Account, n.Incident}
	if all, known := b[at]; known && !slices.ContainsFunc(all, func(o Notification) bool { return o.Key == n.Key }) {
		b[at] = append(all, *n)
	}
}

// forget removes the notifications about incidents, which have changed.
func (b batch) forget(account int64, incidents ...string) {
	for _, id := range incidents {
		delete(b, subject{account, id})
	}
}
