package team

import "tocsin/internal/platform/db"

// Of returns the teams of a person.
func Of(tx *db.Tx, account, person int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT team_id FROM team_person WHERE account_id = $1 AND person_id = $2 ORDER BY team_id`,
		account, person)
}

// Join adds a person to a team, after its other members, without a check of permissions; fresh is false when the person
// is in the team already.
func Join(tx *db.Tx, account, team, person int64) (fresh bool, err error) {
	n, err := tx.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position)
		SELECT $1, $2, $3, coalesce(max(position), -1) + 1 FROM team_person WHERE account_id = $1 AND team_id = $2
		ON CONFLICT DO NOTHING`, account, team, person)
	return n > 0, err
}

// LeaveOne removes a person from a team without a check of permissions; had is false when the person was not in it.
func LeaveOne(tx *db.Tx, account, team, person int64) (had bool, err error) {
	n, err := tx.Exec(`DELETE FROM team_person WHERE account_id = $1 AND team_id = $2 AND person_id = $3`, account, team, person)
	return n > 0, err
}
