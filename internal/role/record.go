package role

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxName is the longest name of a role in an account file, in characters.
const maxName = 128

// Record is a role in the account file.
type Record struct {
	RoleID      int64    `json:"role_id"`
	RoleName    string   `json:"role_name" maxLength:"128"`
	Permissions []string `json:"permissions" maxItems:"200" maxLength:"255"` // wire names such as "Schedules Read (on-call)"
	Description string   `json:"description,omitzero" maxLength:"499"`
	Status      string   `json:"status,omitzero" maxLength:"16"` // disabled: it grants nothing; absent: enabled
	CreatedAt   int64    `json:"created_at,omitzero"`            // Unix seconds, as updated_at
	UpdatedAt   int64    `json:"updated_at,omitzero"`
}

const columns = `role_id, role_name, permissions, description, status, created_at, updated_at`

// scanRole reads a row of the columns above.
func scanRole(scan db.Scan) (r Record, err error) {
	var permissions string
	if err := scan(&r.RoleID, &r.RoleName, &permissions, &r.Description, &r.Status, &r.CreatedAt, &r.UpdatedAt); err != nil {
		return r, err
	}
	if r.Status == "enabled" {
		r.Status = ""
	}
	return r, json.Unmarshal([]byte(permissions), &r.Permissions)
}

// Load inserts the roles of an account file. Errors are fault.Invalid with the record's path.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		at := configstore.PathOf("roles", i)
		if err := r.check(at); err != nil {
			return err
		}
		_, found, err := find(tx, account, r.RoleID)
		if err != nil {
			return err
		}
		if found {
			return at.Twice("role_id", r.RoleID)
		}
		if err := r.put(tx, account); err != nil {
			return err
		}
	}
	return nil
}

func (r Record) check(at configstore.RecordPath) error {
	if err := configstore.FirstError(
		at.AtLeast("role_id", r.RoleID, 1), at.Length("role_name", r.RoleName, 1, maxName),
		at.Length("description", r.Description, 0, 499), at.OneOf("status", r.Status, "", "enabled", "disabled"),
		at.AtLeast("created_at", r.CreatedAt, 0), at.AtLeast("updated_at", r.UpdatedAt, 0),
	); err != nil {
		return err
	}
	for i, name := range r.Permissions {
		if _, err := auth.Parse(name); err != nil {
			return at.Element("permissions", i).Invalid("", "%v", err)
		}
	}
	return nil
}

// put inserts or updates a role.
func (r Record) put(tx *db.Tx, account int64) error {
	permissions, err := json.Marshal(r.Permissions)
	if err != nil {
		return err
	}
	if r.Status == "" {
		r.Status = "enabled"
	}
	err = tx.Do(`INSERT INTO role (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (account_id, role_id) DO UPDATE SET role_name = excluded.role_name, permissions = excluded.permissions,
			description = excluded.description,
			status = excluded.status, created_at = excluded.created_at, updated_at = excluded.updated_at`,
		account, r.RoleID, r.RoleName, string(permissions), r.Description, r.Status, r.CreatedAt, r.UpdatedAt)
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}

// find returns a role; found is false when the account has none of this id.
func find(tx *db.Tx, account, role int64) (Record, bool, error) {
	return db.One(tx, scanRole, `SELECT `+columns+` FROM role WHERE account_id = $1 AND role_id = $2`, account, role)
}

// get returns a role, or fault.Missing.
func get(tx *db.Tx, account, role int64) (Record, error) {
	r, found, err := find(tx, account, role)
	if err == nil && !found {
		err = fault.Missing("role", role)
	}
	return r, err
}

// Dump returns the account's roles by id, with permissions in the order in which they were sent.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	return db.All(tx, scanRole, `SELECT `+columns+` FROM role WHERE account_id = $1 ORDER BY role_id`, account)
}

// Erase deletes a role. It stays assigned to its persons in case the role is loaded again.
func Erase(tx *db.Tx, account, role int64) error {
	if err := tx.Do(`DELETE FROM role WHERE account_id = $1 AND role_id = $2`, account, role); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}
