// Package team holds the account's teams and who is in them.
//
// A team may name persons who do not exist (yet): people are often created later or elsewhere. This
// package must never take membership for a permission; that is internal/auth's.
package team

import (
	"tocsin/internal/check"
	"tocsin/internal/db"
)

// maxName is the longest name of a team, in characters.
const maxName = 128

// Record is a team in the account file.
type Record struct {
	TeamID    int64   `json:"team_id"`
	TeamName  string  `json:"team_name"`
	PersonIDs []int64 `json:"person_ids"` // in the order in which they are shown
}

// Load adds the teams of an account file. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		at := check.Record("teams", i)
		if err := check.First(at.AtLeast("team_id", r.TeamID, 1), at.Length("team_name", r.TeamName, 1, maxName)); err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			account, r.TeamID, r.TeamName)
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("team_id", r.TeamID)
		}
		if err := join(tx, account, at, r); err != nil {
			return err
		}
	}
	return nil
}

func join(tx *db.Tx, account int64, at check.At, r Record) error {
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

// Dump gives the account's teams by id, members in the order in which they were given.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	teams, err := db.All(tx, func(scan db.Scan) (r Record, err error) {
		return r, scan(&r.TeamID, &r.TeamName)
	}, `SELECT team_id, team_name FROM team WHERE account_id = $1 ORDER BY team_id`, account)
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

// Erase takes a team and its memberships away.
func Erase(tx *db.Tx, account, team int64) error {
	if _, err := tx.Exec(`DELETE FROM team_person WHERE account_id = $1 AND team_id = $2`, account, team); err != nil {
		return err
	}
	_, err := tx.Exec(`DELETE FROM team WHERE account_id = $1 AND team_id = $2`, account, team)
	return err
}
