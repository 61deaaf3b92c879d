// Package session stores who is signed in to the console: sessions, each with a secret that the browser keeps in a
// cookie.
//
// Only hashes of secrets are stored. It must never extend what a person may do: a session has the person's rights of the
// moment, and one that began with an app key has that key's.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// The limits of a session.
const (
	Idle     = 14 * 24 * time.Hour // after the last use
	Longest  = 90 * 24 * time.Hour // after the sign-in, whatever happens
	maxAgent = 200                 // characters
	maxEach  = 50                  // of a person at once; a newer one ends the one that was unused for longest
)

// usedEvery is how precisely the last use is stored: a write for every page would make reading a page as expensive as a
// change.
const usedEvery = time.Minute

// The ways to sign in.
const (
	ByAppKey   = "app_key"
	ByPassword = "password"
	ByOpenID   = "oidc"
	ByLink     = "link"
)

// Session is one sign-in.
type Session struct {
	AccountID int64
	ID        string
	PersonID  int64
	Way       string
	KeyID     int64 // of ByAppKey
	CreatedAt int64 // Unix seconds
	UsedAt    int64 // Unix seconds, to the minute
	EndsAt    int64 // Unix seconds
	IP        string
	Agent     string
}

// Begin stores a new session and returns its secret: the only time that it can be seen. The secret is always new, so that
// no one can know it who has put a cookie into the browser before.
func Begin(tx *db.Tx, s Session, now time.Time) (secret string, err error) {
	secret = id.Token(32)
	agent := []rune(s.Agent)
	err = tx.Do(`INSERT INTO session
		(secret_hash, account_id, session_id, person_id, way, key_id, created_at, used_at, ends_at, ip, agent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9, $10)`,
		hash(secret), s.AccountID, id.Short(), s.PersonID, s.Way, s.KeyID, now.Unix(), now.Add(Longest).Unix(), s.IP,
		string(agent[:min(len(agent), maxAgent)]))
	if err != nil {
		return "", err
	}
	err = tx.Do(`DELETE FROM session WHERE account_id = $1 AND person_id = $2 AND session_id NOT IN (
		SELECT session_id FROM session WHERE account_id = $1 AND person_id = $2 ORDER BY used_at DESC, created_at DESC LIMIT $3)`,
		s.AccountID, s.PersonID, maxEach)
	return secret, err
}

// First reports whether no session of a person is stored.
func First(tx *db.Tx, account, person int64) (bool, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM session WHERE account_id = $1 AND person_id = $2`, account, person)
	return n == 0, err
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func scanSession(scan db.Scan) (s Session, err error) {
	return s, scan(&s.AccountID, &s.ID, &s.PersonID, &s.Way, &s.KeyID, &s.CreatedAt, &s.UsedAt, &s.EndsAt, &s.IP, &s.Agent)
}

// Find returns the session of a secret with the rights that its person has now; found is false when there is none, or
// it has ended, or its person may no longer call.
func Find(tx *db.Tx, secret string, now time.Time) (s Session, who auth.Principal, found bool, err error) {
	s, found, err = db.One(tx, scanSession, `SELECT `+columns+` FROM session WHERE secret_hash = $1`, hash(secret))
	if err != nil || !found || s.Ended(now) {
		return s, who, false, err
	}
	if s.Way == ByAppKey {
		who, found, err = auth.OfKey(tx, s.AccountID, s.KeyID, now)
	} else {
		who, found, err = auth.OfPerson(tx, s.AccountID, s.PersonID)
	}
	who.Session = s.ID
	return s, who, found, err
}

const columns = `account_id, session_id, person_id, way, key_id, created_at, used_at, ends_at, ip, agent`

// End returns when a session ends if it is not used any more, in Unix seconds.
func (s Session) End() int64 { return min(s.EndsAt, s.UsedAt+int64(Idle/time.Second)) }

// Ended reports whether a session has ended by itself.
func (s Session) Ended(now time.Time) bool { return now.Unix() >= s.End() }

// Of returns the sessions of a person that have not ended, the one used last first.
func Of(tx *db.Tx, account, person int64, now time.Time) ([]Session, error) {
	all, err := db.All(tx, scanSession, `SELECT `+columns+` FROM session WHERE account_id = $1 AND person_id = $2
		ORDER BY used_at DESC, created_at DESC, session_id`, account, person)
	return slices.DeleteFunc(all, func(s Session) bool { return s.Ended(now) }), err
}

// Any reports whether a session of a person is stored.
func Any(tx *db.Tx, account, person int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM session WHERE account_id = $1 AND person_id = $2 LIMIT 1`, account, person)
	return found, err
}

// EndWay deletes the sessions of a person that began in one way.
func EndWay(tx *db.Tx, account, person int64, way string) error {
	return tx.Do(`DELETE FROM session WHERE account_id = $1 AND person_id = $2 AND way = $3`, account, person, way)
}

// Stale reports whether the stored time of the last use is old enough to be stored again.
func (s Session) Stale(now time.Time) bool {
	return now.Unix()-s.UsedAt >= int64(usedEvery/time.Second)
}

// Use stores that a session was used.
func Use(tx *db.Tx, account int64, session string, now time.Time) error {
	return tx.Do(`UPDATE session SET used_at = $1 WHERE account_id = $2 AND session_id = $3 AND used_at < $1`,
		now.Unix(), account, session)
}

// EndOne deletes a session.
func EndOne(tx *db.Tx, account int64, session string) error {
	return tx.Do(`DELETE FROM session WHERE account_id = $1 AND session_id = $2`, account, session)
}

// EndOthers deletes the sessions of a person but one; with an empty id all of them.
func EndOthers(tx *db.Tx, account, person int64, but string) error {
	return tx.Do(`DELETE FROM session WHERE account_id = $1 AND person_id = $2 AND session_id <> $3`, account, person, but)
}

// EndAll deletes the sessions of a person.
func EndAll(tx *db.Tx, account, person int64) error { return EndOthers(tx, account, person, "") }

// batch is the largest number of sessions that one call of Prune deletes.
const batch = 1000

// Prune deletes sessions that have ended. more reports that others may be left.
func Prune(tx *db.Tx, now time.Time) (more bool, err error) {
	n, err := tx.Exec(`DELETE FROM session WHERE secret_hash IN (
		SELECT secret_hash FROM session WHERE ends_at < $1 OR used_at < $2 LIMIT $3)`, now.Unix(), now.Add(-Idle).Unix(), batch)
	return n == batch, err
}
