package schedule

import (
	"fmt"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const overrideColumns = `override_id, account_id, schedule_id, person_id, role_id, by_person, start_at, end_at, reason, revision,
	create_at, create_by, update_at, update_by`

func scanOverride(scan db.Scan) (o Override, err error) {
	o.RoleID = new(int64)
	return o, scan(&o.OverrideID, &o.AccountID, &o.ScheduleID, &o.PersonID, o.RoleID, &o.By, &o.Start, &o.End, &o.Reason, &o.Revision,
		&o.CreateAt, &o.CreateBy, &o.UpdateAt, &o.UpdateBy)
}

// overridesOf returns the overrides of a schedule in the order in which they were made.
func overridesOf(tx *db.Tx, account, schedule int64) ([]Override, error) {
	return db.All(tx, scanOverride, `SELECT `+overrideColumns+` FROM schedule_override WHERE account_id = $1 AND schedule_id = $2
		ORDER BY create_at, override_id`, account, schedule)
}

// FindOverride returns an override; found is false when the account has none of this id.
func FindOverride(tx *db.Tx, account, override int64) (o Override, found bool, err error) {
	return db.One(tx, scanOverride, `SELECT `+overrideColumns+` FROM schedule_override WHERE account_id = $1 AND override_id = $2`, account,
		override)
}

// getOverride returns an override with its schedule, or fault.Missing.
func getOverride(tx *db.Tx, account, override int64) (o Override, s *stored, err error) {
	o, found, err := FindOverride(tx, account, override)
	if err != nil {
		return o, nil, err
	}
	if !found {
		return o, nil, fault.Missing(configstore.Override, override)
	}
	s, err = get(tx, account, o.ScheduleID)
	return o, s, err
}

// insert stores a new override; it returns false when the id is taken.
func (o *Override) insert(tx *db.Tx, name string) (bool, error) {
	n, err := tx.Exec(`INSERT INTO schedule_override (`+overrideColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING`,
		o.OverrideID, o.AccountID, o.ScheduleID, o.PersonID, o.role(), o.By, o.Start, o.End, o.Reason, o.Revision, o.CreateAt, o.CreateBy,
		o.UpdateAt, o.UpdateBy)
	if err != nil || n == 0 {
		return false, err
	}
	return true, o.refer(tx, name, configstore.AddReferences)
}

// update stores a changed override. One that was past may have become live again.
func (o *Override) update(tx *db.Tx, name string) error {
	err := tx.Do(`UPDATE schedule_override SET person_id = $1, role_id = $2, by_person = $3, start_at = $4, end_at = $5, reason = $6,
		revision = $7, update_at = $8, update_by = $9, released = 0
		WHERE account_id = $10 AND override_id = $11`,
		o.PersonID, o.role(), o.By, o.Start, o.End, o.Reason, o.Revision, o.UpdateAt, o.UpdateBy, o.AccountID, o.OverrideID)
	if err != nil {
		return err
	}
	return o.refer(tx, name, configstore.SetReferences)
}

// refer stores the references of an override: its schedule, and its persons, who cannot be deleted until it is past. name
// is the schedule's.
func (o *Override) refer(tx *db.Tx, name string, store func(*db.Tx, int64, fault.Ref, ...configstore.Target) error) error {
	return store(tx, o.AccountID, configstore.RefFrom(configstore.Override, o.OverrideID, "of "+name),
		configstore.RefTo(configstore.Schedule, o.ScheduleID), configstore.RefTo(configstore.Person, o.PersonID),
		configstore.RefTo(configstore.Person, o.By))
}

// eraseOverride deletes an override with its references, whether or not it exists.
func eraseOverride(tx *db.Tx, account, override int64) error {
	if err := tx.Do(`DELETE FROM schedule_override WHERE account_id = $1 AND override_id = $2`, account, override); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Override, override)
}

// called returns what people call an override: who is on call, and until when.
func (o *Override) called() string {
	return fmt.Sprintf("person %d from %d to %d", o.By, o.Start, o.End)
}
