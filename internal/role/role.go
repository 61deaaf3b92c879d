// Package role holds the account's roles: named sets of permissions that persons are given.
//
// What a person may do is worked out in internal/auth, from the rows kept here; this package must never
// decide it a second time.
package role

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/check"
	"tocsin/internal/db"
)

// maxName is the longest name of a role, in characters.
const maxName = 128

// Record is a role in the account file.
type Record struct {
	RoleID      int64    `json:"role_id"`
	RoleName    string   `json:"role_name"`
	Permissions []string `json:"permissions"` // wire names such as "Schedules Read (on-call)"
}

// Load adds the roles of an account file. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		at := check.Record("roles", i)
		if err := r.check(at); err != nil {
			return err
		}
		permissions, err := json.Marshal(r.Permissions)
		if err != nil {
			return err
		}
		n, err := tx.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, account, r.RoleID, r.RoleName, string(permissions))
		if err != nil {
			return err
		}
		if n == 0 {
			return at.Twice("role_id", r.RoleID)
		}
	}
	return nil
}

func (r Record) check(at check.At) error {
	if err := check.First(at.AtLeast("role_id", r.RoleID, 1), at.Length("role_name", r.RoleName, 1, maxName)); err != nil {
		return err
	}
	for i, name := range r.Permissions {
		if _, err := auth.Parse(name); err != nil {
			return at.Element("permissions", i).Invalid("", "%v", err)
		}
	}
	return nil
}

// Dump gives the account's roles by id, permissions in the order in which they were given.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	return db.All(tx, func(scan db.Scan) (r Record, err error) {
		var permissions string
		if err := scan(&r.RoleID, &r.RoleName, &permissions); err != nil {
			return r, err
		}
		return r, json.Unmarshal([]byte(permissions), &r.Permissions)
	}, `SELECT role_id, role_name, permissions FROM role WHERE account_id = $1 ORDER BY role_id`, account)
}

// Erase takes a role away; who holds it keeps holding it, in case it is loaded anew.
func Erase(tx *db.Tx, account, role int64) error {
	_, err := tx.Exec(`DELETE FROM role WHERE account_id = $1 AND role_id = $2`, account, role)
	return err
}
