// Package push stores the browsers that persons receive notifications with by Web Push, and the key with which this server
// sends to them (RFC 8292).
//
// The endpoint of a browser is a secret, with which anyone can send to the browser. It must never be shown, and never be
// stored unsealed.
package push

import (
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// MaxBrowsers is how many browsers a person can have: each gets every message.
const MaxBrowsers = 10

// Service holds the dependencies of the operations.
type Service struct {
	Keyring *secret.Keyring
	// Test stores a test message to a browser, to be sent like any other.
	Test func(tx *db.Tx, s Subscription, now time.Time) error
}

// Module returns the package's operations, resealing of secrets and completion of older databases.
func (r *Service) Module() module.Module {
	return module.Module{
		Name: "push", Ops: r.Ops(), Complete: ensureKey,
		Reseal: []func(*db.Tx, secret.Renew) (int, error){resealKey, Reseal},
	}
}

// Subscription is a browser that a person receives notifications with.
type Subscription struct {
	AccountID int64
	ID        int64
	PersonID  int64
	Digest    string // hexadecimal SHA-256 of the endpoint
	Name      string // of the browser, for people
	Host      string // of the endpoint
	PublicKey string // of this server, which the browser was given
	CreatedAt int64  // Unix seconds, as all times here
	TriedAt   int64  // the last message, to the minute; 0: none was sent
	Problem   string // why the last message was not taken; empty: it was
	target    string // sealed
}

// Target is where messages to a browser go, and the browser's keys that encrypt them (RFC 8291).
type Target struct {
	Endpoint string `json:"endpoint"`
	P256dh   string `json:"p256dh"`
	Auth     string `json:"auth"`
}

const columns = `account_id, subscription_id, person_id, digest, name, host, target, public_key, created_at, tried_at, problem`

func scanned(scan db.Scan) (s Subscription, err error) {
	return s, scan(&s.AccountID, &s.ID, &s.PersonID, &s.Digest, &s.Name, &s.Host, &s.target, &s.PublicKey, &s.CreatedAt, &s.TriedAt,
		&s.Problem)
}

// Of returns the browsers of a person, the oldest first.
func Of(tx *db.Tx, account, person int64) ([]Subscription, error) {
	return configstore.Once(tx, account, subscriptionsKey{person}, func() ([]Subscription, error) {
		return db.All(tx, scanned, `SELECT `+columns+` FROM push_subscription WHERE account_id = $1 AND person_id = $2
			ORDER BY created_at, subscription_id`, account, person)
	})
}

// subscriptionsKey is under which a transaction keeps the browsers of a person.
type subscriptionsKey struct{ person int64 }

// Find returns a browser; found is false when it was removed.
func Find(tx *db.Tx, account, id int64) (s Subscription, found bool, err error) {
	return db.One(tx, scanned, `SELECT `+columns+` FROM push_subscription WHERE account_id = $1 AND subscription_id = $2`, account, id)
}

// Remove deletes a browser.
func Remove(tx *db.Tx, account, id int64) error {
	return tx.Do(`DELETE FROM push_subscription WHERE account_id = $1 AND subscription_id = $2`, account, id)
}

// Forget deletes the browsers of a person who leaves.
func Forget(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM push_subscription WHERE account_id = $1 AND person_id = $2`, account, person)
}

// Tried stores what came of a message to a browser: why it was not taken; empty: it was. A write for every message would
// make a storm more expensive, so the time is to the minute.
func Tried(tx *db.Tx, s Subscription, problem string, now time.Time) error {
	return tx.Do(`UPDATE push_subscription SET tried_at = $3, problem = $4 WHERE account_id = $1 AND subscription_id = $2`,
		s.AccountID, s.ID, minute(now), problem)
}

// News reports whether the result of a message differs from what Tried stored last.
func (s Subscription) News(problem string, now time.Time) bool {
	return s.Problem != problem || s.TriedAt != minute(now)
}

func minute(now time.Time) int64 { return now.Unix() - now.Unix()%60 }

// context is what the sealed target is bound to: moved to another row, it cannot be opened.
func (s Subscription) context() string {
	return fmt.Sprintf("push_subscription/%d/%d", s.AccountID, s.ID)
}

// Open returns where messages to a browser go.
func (s Subscription) Open(keyring *secret.Keyring) (t Target, err error) {
	plain, err := keyring.Open(s.target, s.context())
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal([]byte(plain), &t)
}

// Reseal passes the targets of all browsers through renew and returns their number. It stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (int, error) {
	rows, err := db.All(tx, scanned, `SELECT `+columns+` FROM push_subscription`)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		sealed, err := renew(rows[i].target, rows[i].context())
		if err != nil {
			return i, err
		}
		err = tx.Do(`UPDATE push_subscription SET target = $3 WHERE account_id = $1 AND subscription_id = $2`,
			rows[i].AccountID, rows[i].ID, sealed)
		if err != nil {
			return i, err
		}
	}
	return len(rows), nil
}

// Digest returns by what a browser recognises its own endpoint in the list.
func Digest(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return hex.EncodeToString(sum[:])
}

// check returns the host of a target, or fault.Invalid for one that no message could be sent to. Which addresses may be
// called is decided when they are.
func (t Target) check() (host string, err error) {
	u, err := url.Parse(t.Endpoint)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return "", fault.Invalid("endpoint", "must be an https URL without a user and a fragment")
	}
	public, err := decode(t.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(public)
	}
	if err != nil {
		return "", fault.Invalid("keys.p256dh", "must be an uncompressed point of P-256 in base64url, got %d characters", len(t.P256dh))
	}
	if auth, err := decode(t.Auth); err != nil || len(auth) != 16 {
		return "", fault.Invalid("keys.auth", "must be 16 bytes in base64url, got %d characters", len(t.Auth))
	}
	return strings.ToLower(u.Host), nil
}

// decode reads base64url with or without its padding.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
}
