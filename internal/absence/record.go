package absence

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Load inserts the absences of an account file. It returns InvalidParameter for the first invalid value, with its path.
// The caller must roll the transaction back after an error.
func Load(tx *db.Tx, account int64, records []Absence) error {
	count := map[int64]int{}
	for i := range records {
		a, at := &records[i], configstore.PathOf("absences", i)
		if err := configstore.FirstError(
			at.AtLeast("absence_id", a.AbsenceID, 1), at.Account(a.AccountID, account), at.AtLeast("person_id", a.PersonID, 1), a.check(at),
			at.AtLeast("create_at", a.CreateAt, 0), at.AtLeast("update_at", a.UpdateAt, 0),
		); err != nil {
			return err
		}
		if count[a.PersonID]++; count[a.PersonID] > maxAbsences+maxPast {
			return at.Invalid("person_id", "person %d has more than %d absences", a.PersonID, maxAbsences+maxPast)
		}
		a.AccountID = account
		fresh, err := a.insert(tx)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("absence_id", a.AbsenceID)
		}
	}
	return configstore.BumpRevision(tx, account)
}

// Dump returns an account's absences as Load reads them, by absence_id.
func Dump(tx *db.Tx, account int64) ([]Absence, error) {
	return db.All(tx, scanRow, `SELECT `+columns+` FROM person_absence WHERE account_id = $1 ORDER BY absence_id`, account)
}

// Erase deletes an absence so that it can be loaded again.
func Erase(tx *db.Tx, account, absence int64) error {
	if err := remove(tx, account, absence); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}
