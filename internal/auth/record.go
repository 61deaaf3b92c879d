package auth

import (
	"cmp"
	"regexp"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// KeyRecord is an app key in the account file. A file that people write holds the secret itself (app_key). An exported
// file holds the stored hash (key_hash): the secret cannot be recovered from it, but keeps working after an import.
type KeyRecord struct {
	KeyID       int64     `json:"key_id,omitzero"` // absent: a random one
	Name        string    `json:"name" maxLength:"128"`
	PersonID    int64     `json:"person_id"`
	AppKey      string    `json:"app_key,omitzero" maxLength:"256"`           // the secret, 32 to 256 characters
	KeyHash     string    `json:"key_hash,omitzero" maxLength:"64"`           // its SHA-256, 64 lower-case hexadecimal digits
	Permissions *[]string `json:"permissions" maxItems:"200" maxLength:"255"` // null: all of the person's
	Status      string    `json:"status,omitzero" maxLength:"16"`             // enabled or disabled; absent: enabled
	ExpiresAt   int64     `json:"expires_at,omitzero"`                        // Unix seconds; 0: never
	CreatedAt   int64     `json:"created_at,omitzero"`                        // Unix seconds; absent: the time of the import
	Wait        *int64    `json:"wait,omitzero"`                              // seconds; absent: as the server is set
}

var sha256Hex = regexp.MustCompile(`^[0-9a-f]{64}$`)

// LoadKeys adds the app keys of an account file at now (Unix seconds). Unlike CreateKey it accepts permissions beyond
// the person's own: roles may have been narrowed after the key was created, and a key can never do more than its person
// in any case. Errors are fault.Invalid with the record's path, and never hold a secret.
func LoadKeys(tx *db.Tx, account int64, records []KeyRecord, now int64) error {
	seen := map[int64]bool{}
	for i, r := range records {
		at := configstore.PathOf("app_keys", i)
		s, err := r.stored(at, now)
		if err != nil {
			return err
		}
		if seen[s.id] {
			return at.Twice("key_id", s.id)
		}
		seen[s.id] = true
		if fresh, err := insert(tx, account, s); err != nil || !fresh {
			return orInUse(string(at), err)
		}
	}
	return nil
}

// stored checks the record and returns its row.
func (r KeyRecord) stored(at configstore.RecordPath, now int64) (stored, error) {
	s := stored{
		hash: r.KeyHash, id: cmp.Or(r.KeyID, id.Number()), person: r.PersonID, name: r.Name,
		status: cmp.Or(r.Status, KeyEnabled), expires: r.ExpiresAt, created: cmp.Or(r.CreatedAt, now), wait: r.Wait,
	}
	if r.AppKey != "" {
		s.hash = hashOf(r.AppKey)
	}
	if r.Permissions != nil {
		s.permissions = *r.Permissions
	}
	return s, configstore.FirstError(
		at.AtLeast("key_id", s.id, 1), r.checkSecret(at), at.Length("name", r.Name, 0, maxKeyName), s.checkPermissions(at),
		at.OneOf("status", s.status, KeyEnabled, KeyDisabled),
		at.AtLeast("expires_at", r.ExpiresAt, 0), at.AtLeast("created_at", r.CreatedAt, 0), checkWait(at, r.Wait),
	)
}

func (r KeyRecord) checkSecret(at configstore.RecordPath) error {
	switch {
	case r.AppKey != "" && r.KeyHash != "":
		return at.Invalid("key_hash", "must be absent when app_key is set")
	case r.AppKey != "":
		return checkSecret(string(at.Member("app_key")), r.AppKey)
	case r.KeyHash == "":
		return at.Invalid("app_key", "is required")
	case !sha256Hex.MatchString(r.KeyHash):
		return at.Invalid("key_hash", "must be 64 lower-case hexadecimal digits")
	}
	return nil
}

func (s stored) checkPermissions(at configstore.RecordPath) error {
	for i, name := range s.permissions {
		if _, err := Parse(name); err != nil {
			return at.Element("permissions", i).Invalid("", "%v", err)
		}
	}
	return nil
}

// DumpKeys returns the account's keys with their hashes, by id. Hashes are for exports with secrets only.
func DumpKeys(tx *db.Tx, account int64) ([]KeyRecord, error) {
	return db.All(tx, func(scan db.Scan) (r KeyRecord, err error) {
		var narrowed *string
		if err := scan(&r.KeyID, &r.Name, &r.PersonID, &r.KeyHash, &narrowed, &r.Status, &r.ExpiresAt, &r.CreatedAt, &r.Wait); err != nil {
			return r, err
		}
		list, err := names(narrowed)
		if list != nil {
			r.Permissions = &list
		}
		return r, err
	}, `SELECT key_id, key_name, person_id, key_hash, permissions, status, expires_at, created_at, limit_wait
		FROM app_key WHERE account_id = $1 ORDER BY key_id`, account)
}
