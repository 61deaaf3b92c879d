// Package role holds the account's roles: named sets of permissions that persons are given.
//
// What a person may do is worked out in internal/auth, from the rows kept here; this package must never
// decide it a second time.
package role

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// maxName is the longest name of a role, in characters.
const maxName = 128

// Record is a role in the account file.
type Record struct {
	RoleID      int64    `json:"role_id"`
	RoleName    string   `json:"role_name"`
	Permissions []string `json:"permissions"` // wire names such as "Schedules Read (on-call)"
}

// Load adds the roles of an account file. Errors name the path of the fault.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		if field, err := r.check(); err != nil {
			return fault.Invalid(fmt.Sprintf("roles[%d].%s", i, field), "%v", err)
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
			return fault.Invalid(fmt.Sprintf("roles[%d].role_id", i), "must be unique, %d is there twice", r.RoleID)
		}
	}
	return nil
}

func (r Record) check() (field string, err error) {
	if r.RoleID < 1 {
		return "role_id", fmt.Errorf("must be at least 1, got %d", r.RoleID)
	}
	if n := utf8.RuneCountInString(r.RoleName); n < 1 || n > maxName {
		return "role_name", fmt.Errorf("must have 1 to %d characters, got %d", maxName, n)
	}
	for i, name := range r.Permissions {
		if _, err := auth.Parse(name); err != nil {
			return fmt.Sprintf("permissions[%d]", i), err
		}
	}
	return "", nil
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
