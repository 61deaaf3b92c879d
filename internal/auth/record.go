package auth

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/id"
)

// KeyRecord is an app key in the account file. A file that people write holds the secret in clear
// (app_key); one that was exported holds what is stored of it (key_hash), from which the secret cannot be
// had but with which it keeps working.
type KeyRecord struct {
	KeyID       int64    `json:"key_id,omitzero"` // absent: a new one is drawn
	Name        string   `json:"name"`
	PersonID    int64    `json:"person_id"`
	AppKey      string   `json:"app_key,omitzero"`  // the secret, 32 to 256 characters
	KeyHash     string   `json:"key_hash,omitzero"` // its SHA-256, 64 lower-case hexadecimal digits
	Permissions []string `json:"permissions,format:emitnull"`
	Status      string   `json:"status,omitzero"`     // enabled or disabled; absent: enabled
	ExpiresAt   int64    `json:"expires_at,omitzero"` // Unix seconds; 0: never
	CreatedAt   int64    `json:"created_at,omitzero"` // Unix seconds; absent: the moment of the import
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// LoadKeys adds the app keys of an account file at now (Unix seconds). Unlike CreateKey it accepts
// permissions beyond the person's own: roles may have been narrowed after the key was made, and a key
// can never do more than its person in any case. Errors name the path and never hold a secret.
func LoadKeys(tx *db.Tx, account int64, records []KeyRecord, now int64) error {
	seen := map[int64]bool{}
	for i, r := range records {
		path := fmt.Sprintf("app_keys[%d]", i)
		s, err := r.stored(path, now)
		if err != nil {
			return err
		}
		if seen[s.id] {
			return fault.Invalid(path+".key_id", "must be unique, %d is there twice", s.id)
		}
		seen[s.id] = true
		if fresh, err := insert(tx, account, s); err != nil || !fresh {
			return orInUse(path, err)
		}
	}
	return nil
}

// stored checks the record and gives the row it stands for.
func (r KeyRecord) stored(path string, now int64) (s stored, err error) {
	s = stored{hash: r.KeyHash, id: r.KeyID, person: r.PersonID, name: r.Name, permissions: r.Permissions, status: r.Status, expires: r.ExpiresAt, created: r.CreatedAt}
	switch {
	case r.KeyID < 0:
		return s, fault.Invalid(path+".key_id", "must be at least 1, got %d", r.KeyID)
	case r.AppKey != "" && r.KeyHash != "":
		return s, fault.Invalid(path+".key_hash", "must not stand beside app_key")
	case r.AppKey != "":
		if err := checkSecret(path+".app_key", r.AppKey); err != nil {
			return s, err
		}
		s.hash = hashOf(r.AppKey)
	case r.KeyHash == "":
		return s, fault.Invalid(path+".app_key", "is required")
	case !sha256Hex.MatchString(r.KeyHash):
		return s, fault.Invalid(path+".key_hash", "must be 64 lower-case hexadecimal digits")
	}
	if n := utf8.RuneCountInString(r.Name); n > maxKeyName {
		return s, fault.Invalid(path+".name", "must have at most %d characters, got %d", maxKeyName, n)
	}
	for i, name := range r.Permissions {
		if _, err := Parse(name); err != nil {
			return s, fault.Invalid(fmt.Sprintf("%s.permissions[%d]", path, i), "%v", err)
		}
	}
	switch r.Status {
	case "":
		s.status = KeyEnabled
	case KeyEnabled, KeyDisabled:
	default:
		return s, fault.Invalid(path+".status", "must be %s or %s, got %q", KeyEnabled, KeyDisabled, r.Status)
	}
	if r.ExpiresAt < 0 {
		return s, fault.Invalid(path+".expires_at", "must be at least 0, got %d", r.ExpiresAt)
	}
	if r.CreatedAt < 0 {
		return s, fault.Invalid(path+".created_at", "must be at least 0, got %d", r.CreatedAt)
	}
	if s.id == 0 {
		s.id = id.Number()
	}
	if s.created == 0 {
		s.created = now
	}
	return s, nil
}

// DumpKeys gives the account's keys with their hashes, by id. Hashes are for exports with secrets only.
func DumpKeys(tx *db.Tx, account int64) ([]KeyRecord, error) {
	return db.All(tx, func(scan db.Scan) (r KeyRecord, err error) {
		var narrowed *string
		if err := scan(&r.KeyID, &r.Name, &r.PersonID, &r.KeyHash, &narrowed, &r.Status, &r.ExpiresAt, &r.CreatedAt); err != nil {
			return r, err
		}
		r.Permissions, err = names(narrowed)
		return r, err
	}, `SELECT key_id, key_name, person_id, key_hash, permissions, status, expires_at, created_at
		FROM app_key WHERE account_id = $1 ORDER BY key_id`, account)
}
