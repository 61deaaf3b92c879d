package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// The two statuses of an app key.
const (
	KeyEnabled  = "enabled"
	KeyDisabled = "disabled"
)

// The bounds of a secret that a person chose, in characters.
const (
	minSecret = 32
	maxSecret = 256
)

// maxKeyName is the longest name of a key, in characters.
const maxKeyName = 128

// MaxWait is how many seconds a call above a limit may wait for its turn: half of the minute in which a reply must be
// written.
const MaxWait = 30

// NewKey describes the key to create and its person.
type NewKey struct {
	Account, Person int64
	Name            string   // a label, at most 128 characters
	Secret          string   // 32 to 256 characters without white space; empty: a random one is generated
	Permissions     []string // narrows the person's permissions; nil: all of them; empty: none
	ExpiresAt       int64    // Unix seconds; 0: never
	Wait            *int64   // seconds that calls above a limit wait for their turn; nil: as the server is set
}

// Key is an app key as it is listed: everything but the secret, which is not stored.
type Key struct {
	ID          int64
	Name        string
	PersonID    int64
	PersonName  string   // empty when the person is deleted
	Permissions []string // nil: all of the person's
	Status      string   // KeyEnabled or KeyDisabled
	ExpiresAt   int64    // Unix seconds; 0: never
	CreatedAt   int64    // Unix seconds
	LastUsedAt  int64    // Unix seconds; 0: never
	Wait        *int64   // seconds that calls above a limit wait for their turn; nil: as the server is set
}

// stored is a row of app_key, but for the account and the last use.
type stored struct {
	hash        string
	id, person  int64
	name        string
	permissions []string // nil: all of the person's
	status      string
	expires     int64
	created     int64
	wait        *int64
}

// CreateKey creates a key, enabled from now (Unix seconds) on, and returns its id and its secret: the only
// time the secret can be seen. It rejects a person who does not exist or may not call, and a permission that the
// person does not have. If the person's roles are narrowed later, the key is narrowed as well. Most callers need
// person.CreateKey, which also changes the status of a person who is pending.
func CreateKey(tx *db.Tx, k NewKey, now int64) (keyID int64, secret string, err error) {
	if err := checkPerson(tx, k.Account, k.Person); err != nil {
		return 0, "", err
	}
	if err := checkWithin(tx, k); err != nil {
		return 0, "", err
	}
	if err := configstore.RecordPath("").Length("name", k.Name, 0, maxKeyName); err != nil {
		return 0, "", err
	}
	if err := checkWait("", k.Wait); err != nil {
		return 0, "", err
	}
	if k.ExpiresAt != 0 && k.ExpiresAt <= now {
		return 0, "", fault.Invalid("expires_at", "must be after now, which is %d, got %d", now, k.ExpiresAt)
	}
	secret = k.Secret
	if secret == "" {
		secret = id.AppKey()
	}
	if err := checkSecret("app_key", secret); err != nil {
		return 0, "", err
	}
	s := stored{
		hash: hashOf(secret), id: id.Number(), person: k.Person, name: k.Name,
		permissions: k.Permissions, status: KeyEnabled, expires: k.ExpiresAt, created: now, wait: k.Wait,
	}
	if fresh, err := insert(tx, k.Account, s); err != nil || !fresh {
		return 0, "", orInUse("app_key", err)
	}
	return s.id, secret, nil
}

// checkWait checks how long the calls of a key wait.
func checkWait(at configstore.RecordPath, wait *int64) error {
	if wait == nil {
		return nil
	}
	if *wait < 0 || *wait > MaxWait {
		return at.Invalid("wait", "must be from 0 to %d seconds, got %d", MaxWait, *wait)
	}
	return nil
}

// checkPerson rejects keys that could never be used.
func checkPerson(tx *db.Tx, account, person int64) error {
	status, found, err := personStatus(tx, account, person)
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("person", person)
	}
	if status == "deleted" {
		return fault.Invalid("person_id", "must be a person who may call, %d is %s", person, status)
	}
	return nil
}

// KnownPerson reports whether the account has a person who is not deleted, for packages below person.
func KnownPerson(tx *db.Tx, account, person int64) (bool, error) {
	status, found, err := personStatus(tx, account, person)
	return found && status != "deleted", err
}

// HasKey reports whether a person has an app key, enabled or not.
func HasKey(tx *db.Tx, account, person int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM app_key WHERE account_id = $1 AND person_id = $2 LIMIT 1`, account, person)
	return found, err
}

func personStatus(tx *db.Tx, account, person int64) (status string, found bool, err error) {
	return db.One(tx, db.Column[string], `SELECT status FROM person WHERE account_id = $1 AND person_id = $2`, account, person)
}

// checkWithin rejects permissions that the key's person does not have.
func checkWithin(tx *db.Tx, k NewKey) error {
	if len(k.Permissions) == 0 {
		return nil
	}
	own, err := PersonPermissions(tx, k.Account, k.Person)
	if err != nil {
		return err
	}
	for _, name := range k.Permissions {
		p, err := Parse(name)
		if err != nil {
			return fault.Invalid("permissions", "%v", err)
		}
		if !own.Has(p) {
			return fault.Invalid("permissions", "must be within the person's own, which lack %q", name)
		}
	}
	return nil
}

// checkSecret checks a chosen secret. Its errors must never repeat the secret.
func checkSecret(field, secret string) error {
	if err := configstore.RecordPath("").Length(field, secret, minSecret, maxSecret); err != nil {
		return err
	}
	if strings.ContainsFunc(secret, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return fault.Invalid(field, "must hold no white space and no control characters")
	}
	return nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// insert stores a key; fresh is false when its secret or its id is in use already.
func insert(tx *db.Tx, account int64, s stored) (fresh bool, err error) {
	var narrowed *string
	if s.permissions != nil {
		b, err := json.Marshal(s.permissions)
		if err != nil {
			return false, err
		}
		text := string(b)
		narrowed = &text
	}
	n, err := tx.Exec(`INSERT INTO app_key
		(key_hash, account_id, key_id, key_name, person_id, permissions, status, expires_at, created_at, last_used_at, limit_wait)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, $10) ON CONFLICT DO NOTHING`,
		s.hash, account, s.id, s.name, s.person, narrowed, s.status, s.expires, s.created, s.wait)
	return n == 1, err
}

func orInUse(field string, err error) error {
	if err != nil {
		return err
	}
	return fault.Invalid(field, "is in use already; every key needs a secret of its own")
}

// ListKeys returns the account's keys, oldest first.
func ListKeys(tx *db.Tx, account int64) ([]Key, error) {
	return db.All(tx, func(scan db.Scan) (k Key, err error) {
		var narrowed *string
		err = scan(&k.ID, &k.Name, &k.PersonID, &k.PersonName, &narrowed, &k.Status, &k.ExpiresAt, &k.CreatedAt, &k.LastUsedAt, &k.Wait)
		if err != nil {
			return k, err
		}
		k.Permissions, err = names(narrowed)
		return k, err
	}, `SELECT k.key_id, k.key_name, k.person_id, COALESCE(p.person_name, ''), k.permissions, k.status,
			k.expires_at, k.created_at, k.last_used_at, k.limit_wait
		FROM app_key k LEFT JOIN person p ON p.account_id = k.account_id AND p.person_id = k.person_id
		WHERE k.account_id = $1 ORDER BY k.created_at, k.key_id`, account)
}

// names decodes the permissions column: nil when it is NULL.
func names(column *string) (list []string, err error) {
	if column != nil {
		err = json.Unmarshal([]byte(*column), &list)
	}
	return list, err
}

// AccountOfKey returns the account of a key id, for commands that have only the id. Ids are random below 2^53, so an
// id names a single key. If two accounts have the same id after all, it returns an error.
func AccountOfKey(tx *db.Tx, keyID int64) (int64, error) {
	accounts, err := db.All(tx, db.Column[int64], `SELECT account_id FROM app_key WHERE key_id = $1`, keyID)
	switch {
	case err != nil:
		return 0, err
	case len(accounts) == 0:
		return 0, fault.Missing("app key", keyID)
	case len(accounts) > 1:
		return 0, fault.Invalid("account", "must name one of the accounts %v, which all have a key %d", accounts, keyID)
	}
	return accounts[0], nil
}

// SetKeyStatus enables or disables a key. A disabled key is refused within a second, on every node.
func SetKeyStatus(tx *db.Tx, account, keyID int64, status string) error {
	if status != KeyEnabled && status != KeyDisabled {
		return fault.Invalid("status", "must be %s or %s, got %q", KeyEnabled, KeyDisabled, status)
	}
	n, err := tx.Exec(`UPDATE app_key SET status = $1 WHERE account_id = $2 AND key_id = $3`, status, account, keyID)
	return orMissing(keyID, n, err)
}

// DeleteKeysOf deletes all keys of a person.
func DeleteKeysOf(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM app_key WHERE account_id = $1 AND person_id = $2`, account, person)
}

// DeleteKey deletes a key. The key is refused within a second, on every node.
func DeleteKey(tx *db.Tx, account, keyID int64) error {
	n, err := tx.Exec(`DELETE FROM app_key WHERE account_id = $1 AND key_id = $2`, account, keyID)
	return orMissing(keyID, n, err)
}

func orMissing(keyID, changed int64, err error) error {
	if err == nil && changed == 0 {
		return fault.Missing("app key", keyID)
	}
	return err
}

// OwnerOf returns the person who owns the account, or an error when there is no such account.
func OwnerOf(tx *db.Tx, account int64) (int64, error) {
	return configstore.Once(tx, account, ownerKey{}, func() (int64, error) {
		owner, found, err := db.One(tx, db.Column[int64], `SELECT owner_id FROM account WHERE account_id = $1`, account)
		if err == nil && !found {
			err = fault.Missing("account", account)
		}
		return owner, err
	})
}

// ownerKey is under which a transaction keeps the account's owner.
type ownerKey struct{}

// RenameKey changes the label of a key.
func RenameKey(tx *db.Tx, account, keyID int64, name string) error {
	if err := configstore.RecordPath("").Length("key_name", name, 0, maxKeyName); err != nil {
		return err
	}
	n, err := tx.Exec(`UPDATE app_key SET key_name = $1 WHERE account_id = $2 AND key_id = $3`, name, account, keyID)
	return orMissing(keyID, n, err)
}
