package schedule

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// keptPast is how long overrides are kept after their end: as long as timelines of the past are asked for.
const keptPast = 400 * 24 * time.Hour

// pruneOverrides deletes the overrides that ended long ago, and the references of those that are past to persons: a person
// who has left must not be held by them. It processes a batch of each.
func pruneOverrides(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	const batch = 500
	long, err := db.All(tx, scanOverride, `SELECT `+overrideColumns+` FROM schedule_override
		WHERE account_id = $1 AND end_at < $2 ORDER BY end_at LIMIT $3 + 0`, account, now.Add(-keptPast).Unix(), batch)
	if err != nil {
		return false, err
	}
	for i := range long {
		if err := eraseOverride(tx, long[i].AccountID, long[i].OverrideID); err != nil {
			return false, err
		}
		if err := configstore.BumpRevision(tx, long[i].AccountID); err != nil { // cached schedules have it
			return false, err
		}
	}
	past, err := db.All(tx, scanOverride, `SELECT `+overrideColumns+` FROM schedule_override
		WHERE account_id = $1 AND end_at < $2 AND released = 0 ORDER BY end_at LIMIT $3 + 0`, account, now.Unix(), batch)
	if err != nil {
		return false, err
	}
	for i := range past {
		o := &past[i]
		if err := tx.Do(`UPDATE schedule_override SET released = 1 WHERE account_id = $1 AND override_id = $2`, o.AccountID,
			o.OverrideID); err != nil {
			return false, err
		}
		s, err := find(tx, o.AccountID, o.ScheduleID)
		if err != nil {
			return false, err
		}
		if s == nil {
			s = &stored{} // an account file may delete a schedule before its overrides
		}
		err = configstore.SetReferences(tx, o.AccountID, configstore.RefFrom(configstore.Override, o.OverrideID, "of "+s.Name),
			configstore.RefTo(configstore.Schedule, o.ScheduleID))
		if err != nil {
			return false, err
		}
	}
	return len(long) == batch || len(past) == batch, nil
}
