package team

import "tocsin/internal/platform/db"

// Of returns the teams of a person.
func Of(tx *db.Tx, account, person int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT team_id FROM team_person WHERE account_id = $1 AND person_id = $2`, account, person)
}

// Leave removes a person from all teams.
func Leave(tx *db.Tx, account, person int64) error {
	_, err := tx.Exec(`DELETE FROM team_person WHERE account_id = $1 AND person_id = $2`, account, person)
	return err
}
