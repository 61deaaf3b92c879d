package channel

import "tocsin/internal/platform/db"

// Named returns the ids of the channels that have exactly this name, the oldest first, at most 100.
func Named(tx *db.Tx, account int64, name string) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT channel_id FROM channel
		WHERE account_id = $1 AND channel_name = $2 AND $2 <> '' ORDER BY created_at, channel_id LIMIT 100`, account, name)
}

// CreatedBy returns the ids of the channels that a person created.
func CreatedBy(tx *db.Tx, account, person int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT channel_id FROM channel WHERE account_id = $1 AND creator_id = $2`, account, person)
}
