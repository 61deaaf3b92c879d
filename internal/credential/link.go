package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// The kinds of links.
const (
	LinkPassword = "password" // sets a password, once
	LinkOpen     = "open"     // opens the console, until it ends; the demo prints one
)

// LinkLasts is how long a link that sets a password is valid: over a weekend.
const LinkLasts = 72 * time.Hour

// maxLinks is how many links a person has at once. A newer one ends the oldest.
const maxLinks = 5

// Link is a link to the console that stands for a person.
type Link struct {
	AccountID, PersonID int64
	Kind                string
	EndsAt              int64 // Unix seconds
}

// LinkPath returns the path of a link on this server.
func LinkPath(token string) string { return "/link/" + token }

// NewLink stores a link and returns its token: the only time that it can be seen.
func NewLink(tx *db.Tx, l Link, now time.Time) (token string, err error) {
	token = id.Token(32)
	err = tx.Do(`INSERT INTO sign_in_link (token_hash, account_id, person_id, kind, created_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		hash(token), l.AccountID, l.PersonID, l.Kind, now.Unix(), l.EndsAt)
	if err != nil {
		return "", err
	}
	err = tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2 AND token_hash NOT IN (
		SELECT token_hash FROM sign_in_link WHERE account_id = $1 AND person_id = $2 ORDER BY ends_at DESC, created_at DESC LIMIT $3)`,
		l.AccountID, l.PersonID, maxLinks)
	return token, err
}

// PasswordLink stores a link that sets a person's password, and returns its path and when it ends (Unix seconds).
func PasswordLink(tx *db.Tx, account, person int64, now time.Time) (path string, endsAt int64, err error) {
	endsAt = now.Add(LinkLasts).Unix()
	token, err := NewLink(tx, Link{account, person, LinkPassword, endsAt}, now)
	return LinkPath(token), endsAt, err
}

// FindLink returns the link of a token; found is false when there is none, or it has ended or been used.
func FindLink(tx *db.Tx, token string, now time.Time) (l Link, found bool, err error) {
	l, found, err = db.One(tx, func(scan db.Scan) (l Link, err error) { return l, scan(&l.AccountID, &l.PersonID, &l.Kind, &l.EndsAt) },
		`SELECT account_id, person_id, kind, ends_at FROM sign_in_link WHERE token_hash = $1`, hash(token))
	return l, found && now.Unix() < l.EndsAt, err
}

func forgetLinks(tx *db.Tx, account, person int64) error {
	if err := tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2`, account, person); err != nil {
		return err
	}
	return EndInvitation(tx, account, person)
}

// hash returns how a secret is stored that is long and random.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
