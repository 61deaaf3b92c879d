// Package team holds the account's teams and who is in them.
//
// A team may name persons who do not exist (yet): people are often created later or elsewhere. This
// package must never take membership for a permission; that is internal/auth's.
package team

import (
	"fmt"
	"unicode/utf8"

	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// maxName is the longest name of a team, in characters.
const maxName = 128

// Record is a team in the account file.
type Record struct {
	TeamID    int64   `json:"team_id"`
	TeamName  string  `json:"team_name"`
	PersonIDs []int64 `json:"person_ids"` // in the order in which they are shown
}

// Load adds the teams of an account file. Errors name the path of the fault.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		path := fmt.Sprintf("teams[%d]", i)
		if r.TeamID < 1 {
			return fault.Invalid(path+".team_id", "must be at least 1, got %d", r.TeamID)
		}
		if n := utf8.RuneCountInString(r.TeamName); n < 1 || n > maxName {
			return fault.Invalid(path+".team_name", "must have 1 to %d characters, got %d", maxName, n)
		}
		n, err := tx.Exec(`INSERT INTO team (account_id, team_id, team_name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			account, r.TeamID, r.TeamName)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Invalid(path+".team_id", "must be unique, %d is there twice", r.TeamID)
		}
		if err := join(tx, account, path, r); err != nil {
			return err
		}
	}
	return nil
}

func join(tx *db.Tx, account int64, path string, r Record) error {
	for i, person := range r.PersonIDs {
		if person < 1 {
			return fault.Invalid(fmt.Sprintf("%s.person_ids[%d]", path, i), "must be at least 1, got %d", person)
		}
		n, err := tx.Exec(`INSERT INTO team_person (account_id, team_id, person_id, position) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
			account, r.TeamID, person, i)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Invalid(fmt.Sprintf("%s.person_ids[%d]", path, i), "must be unique, %d is there twice", person)
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
