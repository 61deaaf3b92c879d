package team

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxName is the longest name of a team in an account file, in characters.
const maxName = 128

// Record is a team in the account file.
type Record struct {
	TeamID      int64   `json:"team_id"`
	TeamName    string  `json:"team_name" maxLength:"128"`
	PersonIDs   []int64 `json:"person_ids" maxItems:"10000"` // in the order in which they are shown
	Description string  `json:"description,omitzero" maxLength:"500"`
	RefID       string  `json:"ref_id,omitzero" maxLength:"255"`
	CreatorID   int64   `json:"creator_id,omitzero"`
	UpdatedBy   int64   `json:"updated_by,omitzero"`
	CreatedAt   int64   `json:"created_at,omitzero"` // Unix seconds, as updated_at
	UpdatedAt   int64   `json:"updated_at,omitzero"`
}

const columns = `team_id, team_name, description, ref_id, creator_id, updated_by, created_at, updated_at`

// scanTeam reads a row of the columns above, without the members.
func scanTeam(scan db.Scan) (r Record, err error) {
	return r, scan(&r.TeamID, &r.TeamName, &r.Description, &r.RefID, &r.CreatorID, &r.UpdatedBy, &r.CreatedAt, &r.UpdatedAt)
}

// Load adds the teams of an account file. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		at := configstore.PathOf("teams", i)
		if err := configstore.FirstError(
			at.AtLeast("team_id", r.TeamID, 1), at.Length("team_name", r.TeamName, 1, maxName),
			at.Length("description", r.Description, 0, 500), at.Length("ref_id", r.RefID, 0, 255),
			at.AtLeast("creator_id", r.CreatorID, 0), at.AtLeast("updated_by", r.UpdatedBy, 0),
			at.AtLeast("created_at", r.CreatedAt, 0), at.AtLeast("updated_at", r.UpdatedAt, 0),
		); err != nil {
			return err
		}
		fresh, err := r.insert(tx, account)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("team_id", r.TeamID)
		}
		if err := insertMembers(tx, account, at, r); err != nil {
			return err
		}
	}
	return nil
}

// insert stores a team without its members; fresh is false when its id is taken.
func (r Record) insert(tx *db.Tx, account int64) (fresh bool, err error) {
	n, err := tx.Exec(`INSERT INTO team (account_id, `+columns+
		`, name_folded) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING`,
		account, r.TeamID, r.TeamName, r.Description, r.RefID, r.CreatorID, r.UpdatedBy, r.CreatedAt, r.UpdatedAt, db.Fold(r.TeamName))
	if err != nil || n == 0 {
		return false, err
	}
	return true, configstore.BumpRevision(tx, account) // members are added in the same transaction
}

// join stores the members of a team, which must have none.
func insertMembers(tx *db.Tx, account int64, at configstore.RecordPath, r Record) error {
	for i, person := range r.PersonIDs {
		at := at.Element("person_ids", i)
		if err := at.AtLeast("", person, 1); err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			account, r.TeamID, person, i)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("", person)
		}
	}
	return nil
}

// Members returns the persons in a team, in the order in which they were sent.
func Members(tx *db.Tx, account, team int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT person_id FROM team_person WHERE account_id = $1 AND team_id = $2 ORDER BY position`, account,
		team)
}

// Find reads a team; found is false when the account has none of this id.
func Find(tx *db.Tx, account, team int64) (r Record, found bool, err error) {
	all, err := configstore.Once(tx, account, teamKey{team}, func() ([]Record, error) {
		all, err := db.All(tx, scanTeam, `SELECT `+columns+` FROM team WHERE account_id = $1 AND team_id = $2`, account, team)
		if err == nil && len(all) > 0 {
			all[0].PersonIDs, err = Members(tx, account, team)
		}
		return all, err
	})
	if err != nil || len(all) == 0 {
		return r, false, err
	}
	return all[0], true, nil
}

// teamKey is under which a transaction keeps a team.
type teamKey struct{ team int64 }

// get returns a team, or fault.Missing.
func get(tx *db.Tx, account, team int64) (Record, error) {
	r, found, err := Find(tx, account, team)
	if err == nil && !found {
		err = fault.Missing("team", team)
	}
	return r, err
}

// Dump returns the account's teams by id, with members in the order in which they were sent.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	teams, err := db.All(tx, scanTeam, `SELECT `+columns+` FROM team WHERE account_id = $1 ORDER BY team_id`, account)
	if err != nil {
		return nil, err
	}
	type member struct{ team, person int64 }
	members, err := db.All(tx, func(scan db.Scan) (m member, err error) {
		return m, scan(&m.team, &m.person)
	}, `SELECT team_id, person_id FROM team_person WHERE account_id = $1 ORDER BY team_id, position`, account)
	if err != nil {
		return nil, err
	}
	of := map[int64][]int64{}
	for _, m := range members {
		of[m.team] = append(of[m.team], m.person)
	}
	for i := range teams {
		teams[i].PersonIDs = of[teams[i].TeamID]
	}
	return teams, nil
}

// Erase deletes a team and its memberships.
func Erase(tx *db.Tx, account, team int64) error {
	if err := tx.Do(`DELETE FROM team_person WHERE account_id = $1 AND team_id = $2`, account, team); err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM team WHERE account_id = $1 AND team_id = $2`, account, team); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}

// Complete stores the folded names of teams of an older version. It is called when the program starts.
func Complete(tx *db.Tx) error {
	return db.Refold[int64](tx, `SELECT account_id, team_id, team_name FROM team WHERE name_folded = ''`,
		`UPDATE team SET name_folded = $1 WHERE account_id = $2 AND team_id = $3`)
}

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
