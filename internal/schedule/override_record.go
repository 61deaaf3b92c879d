package schedule

import (
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
)

// LoadOverrides inserts the overrides of an account file, whose schedules are loaded. It returns InvalidParameter for the
// first invalid value, with its path. The caller must roll the transaction back after an error.
func LoadOverrides(tx *db.Tx, account int64, records []Override) error {
	count, schedules := map[int64]int{}, map[int64]*stored{}
	for i := range records {
		o, at := &records[i], configstore.PathOf("schedule_overrides", i)
		if o.RoleID == nil {
			role := oncall.AnyRole
			o.RoleID = &role
		}
		if err := configstore.FirstError(
			at.AtLeast("override_id", o.OverrideID, 1), at.Account(o.AccountID, account), o.check(string(at)+"."),
			at.AtLeast("create_at", o.CreateAt, 0), at.AtLeast("update_at", o.UpdateAt, 0),
		); err != nil {
			return err
		}
		if count[o.ScheduleID]++; count[o.ScheduleID] > maxOverrides+maxPastOverrides {
			return at.Invalid("schedule_id", "schedule %d has more than %d overrides", o.ScheduleID, maxOverrides+maxPastOverrides)
		}
		if schedules[o.ScheduleID] == nil {
			s, err := find(tx, account, o.ScheduleID)
			if err != nil {
				return err
			}
			if s == nil {
				return at.Invalid("schedule_id", "names schedule %d, which does not exist", o.ScheduleID)
			}
			if err := s.revise(tx); err != nil {
				return err
			}
			schedules[o.ScheduleID] = s
		}
		if err := schedules[o.ScheduleID].checkCovered(string(at)+".schedule_id", count[o.ScheduleID]); err != nil {
			return err
		}
		o.AccountID, o.Revision = account, 0
		fresh, err := o.insert(tx, schedules[o.ScheduleID].Name)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("override_id", o.OverrideID)
		}
	}
	return nil
}

// DumpOverrides returns an account's overrides as LoadOverrides reads them, by override_id.
func DumpOverrides(tx *db.Tx, account int64) ([]Override, error) {
	all, err := db.All(tx, scanOverride, `SELECT `+overrideColumns+` FROM schedule_override WHERE account_id = $1 ORDER BY override_id`,
		account)
	for i := range all {
		all[i].Revision = 0
	}
	return all, err
}

// EraseOverride deletes an override so that it can be loaded again.
func EraseOverride(tx *db.Tx, account, override int64) error {
	err := tx.Do(`UPDATE schedule SET revision = revision + 1 WHERE account_id = $1 AND schedule_id IN
		(SELECT schedule_id FROM schedule_override WHERE account_id = $1 AND override_id = $2)`, account, override)
	if err != nil {
		return err
	}
	if err := eraseOverride(tx, account, override); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}
