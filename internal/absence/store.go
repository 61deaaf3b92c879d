package absence

import (
	"cmp"
	"slices"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const columns = `absence_id, account_id, person_id, start_at, end_at, note, create_at, create_by, update_at, update_by`

func scanRow(scan db.Scan) (a Absence, err error) {
	return a, scan(&a.AbsenceID, &a.AccountID, &a.PersonID, &a.Start, &a.End, &a.Note, &a.CreateAt, &a.CreateBy, &a.UpdateAt, &a.UpdateBy)
}

// absentKey is the cache key of the persons of an account who have absences.
type absentKey struct{}

// Of returns the absences of persons as the engine computes them. Most persons have none, so it first reads who has.
func Of(tx *db.Tx, account int64, persons []int64) (list []oncall.Absence, err error) {
	absent, _, err := configstore.Kept(tx, account, absentKey{}, func() (map[int64]bool, bool, error) {
		ids, err := db.All(tx, db.Column[int64], `SELECT DISTINCT person_id FROM person_absence WHERE account_id = $1`, account)
		set := make(map[int64]bool, len(ids))
		for _, id := range ids {
			set[id] = true
		}
		return set, true, err
	})
	for _, person := range persons {
		if err != nil {
			return nil, err
		}
		if absent[person] {
			var found []Absence
			found, err = all(tx, account, person)
			list = append(list, engine(found)...)
		}
	}
	return list, err
}

// Until returns by person the end of the absence that holds at a moment, both in Unix seconds. The map lacks persons who are
// present. Absences that touch count as one.
func Until(tx *db.Tx, account int64, persons []int64, at int64) (until map[int64]int64, err error) {
	list, err := Of(tx, account, persons)
	if err != nil {
		return nil, err
	}
	until = map[int64]int64{}
	for _, a := range list { // absences of each person by start
		if end, away := until[a.PersonID]; away && a.Start <= end || !away && a.Start <= at && at < a.End {
			until[a.PersonID] = max(end, a.End)
		}
	}
	return until, nil
}

// all returns the absences of a person, the earliest start first.
func all(tx *db.Tx, account, person int64) ([]Absence, error) {
	return db.All(tx, scanRow, `SELECT `+columns+` FROM person_absence WHERE account_id = $1 AND person_id = $2
		ORDER BY start_at, absence_id`, account, person)
}

// get returns an absence, or fault.Missing.
func get(tx *db.Tx, account, absence int64) (Absence, error) {
	a, found, err := db.One(tx, scanRow, `SELECT `+columns+` FROM person_absence WHERE account_id = $1 AND absence_id = $2`, account, absence)
	if err == nil && !found {
		err = fault.Missing(configstore.Absence, absence)
	}
	return a, err
}

// insert stores a new absence; it returns false when the id is taken.
func (a *Absence) insert(tx *db.Tx) (bool, error) {
	n, err := tx.Exec(`INSERT INTO person_absence (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		a.AbsenceID, a.AccountID, a.PersonID, a.Start, a.End, a.Note, a.CreateAt, a.CreateBy, a.UpdateAt, a.UpdateBy)
	return n == 1, err
}

// update stores a changed absence.
func (a *Absence) update(tx *db.Tx) error {
	return tx.Do(`UPDATE person_absence SET start_at = $1, end_at = $2, note = $3, update_at = $4, update_by = $5
		WHERE account_id = $6 AND absence_id = $7`, a.Start, a.End, a.Note, a.UpdateAt, a.UpdateBy, a.AccountID, a.AbsenceID)
}

// remove deletes an absence, whether or not it exists.
func remove(tx *db.Tx, account, absence int64) error {
	return tx.Do(`DELETE FROM person_absence WHERE account_id = $1 AND absence_id = $2`, account, absence)
}

// forgetOldest deletes the oldest past absences beyond maxPast, because each of them costs time whenever a timeline is
// computed.
func forgetOldest(tx *db.Tx, list []Absence, now int64) error {
	past := slices.DeleteFunc(slices.Clone(list), func(a Absence) bool { return a.End > now })
	slices.SortFunc(past, func(a, b Absence) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.AbsenceID, b.AbsenceID))
	})
	for i := range max(len(past)-maxPast, 0) {
		if err := remove(tx, past[i].AccountID, past[i].AbsenceID); err != nil {
			return err
		}
	}
	return nil
}

// kept is how long absences are kept after their end: as long as timelines of the past are asked for.
const kept = 400 * 24 * time.Hour

// prune deletes the absences that ended long ago, a batch at a time.
func prune(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	const batch = 500
	old, err := db.All(tx, scanRow, `SELECT `+columns+` FROM person_absence
		WHERE account_id = $1 AND end_at < $2 ORDER BY end_at LIMIT $3 + 0`, account, now.Add(-kept).Unix(), batch)
	if err != nil {
		return false, err
	}
	for i := range old {
		if err := Erase(tx, old[i].AccountID, old[i].AbsenceID); err != nil {
			return false, err
		}
	}
	return len(old) == batch, nil
}
