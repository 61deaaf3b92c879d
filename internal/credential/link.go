package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// The kinds of links.
const (
	LinkPassword = "password" // sets a password, once
	LinkEmail    = "email"    // proves the address that it was mailed to, once, in a session of the person
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
	MakerID             int64  // who made it; 0: the server or its operator
	MailedTo            string // the address that it was mailed to; empty: it was handed over
	EndsAt              int64  // Unix seconds

	permissions auth.Permissions // of the person when it was made
	teams       string           // likewise, by id
}

// LinkPath returns the path of a link on this server.
func LinkPath(token string) string { return "/link/" + token }

// NewLink stores a link and returns its token: the only time that it can be seen.
func NewLink(tx *db.Tx, l Link, now time.Time) (token string, err error) {
	token = id.Token(32)
	permissions, teams, err := opened(tx, l)
	if err != nil {
		return "", err
	}
	err = tx.Do(`INSERT INTO sign_in_link (token_hash, account_id, person_id, kind, created_at, ends_at, maker_id, mailed_to, permissions,
			teams)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		hash(token), l.AccountID, l.PersonID, l.Kind, now.Unix(), l.EndsAt, l.MakerID, l.MailedTo, int64(permissions), strings.Join(teams, ","))
	if err != nil {
		return "", err
	}
	err = tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2 AND token_hash NOT IN (
		SELECT token_hash FROM sign_in_link WHERE account_id = $1 AND person_id = $2 ORDER BY ends_at DESC, created_at DESC LIMIT $3)`,
		l.AccountID, l.PersonID, maxLinks)
	return token, err
}

// PasswordLink stores a link that sets a person's password, and returns its path and when it ends (Unix seconds).
func PasswordLink(tx *db.Tx, l Link, now time.Time) (path string, endsAt int64, err error) {
	l.Kind, l.EndsAt = LinkPassword, now.Add(LinkLasts).Unix()
	token, err := NewLink(tx, l, now)
	return LinkPath(token), l.EndsAt, err
}

const linkColumns = `account_id, person_id, kind, maker_id, mailed_to, ends_at, permissions, teams`

func scanLink(scan db.Scan) (l Link, err error) {
	var permissions int64
	err = scan(&l.AccountID, &l.PersonID, &l.Kind, &l.MakerID, &l.MailedTo, &l.EndsAt, &permissions, &l.teams)
	l.permissions = auth.Permissions(permissions)
	return l, err
}

// FindLink returns the link of a token; found is false when there is none, it has ended or been used, or its person may do
// more than when it was made.
func FindLink(tx *db.Tx, token string, now time.Time) (l Link, found bool, err error) {
	l, found, err = db.One(tx, scanLink, `SELECT `+linkColumns+` FROM sign_in_link WHERE token_hash = $1`, hash(token))
	if err != nil || !found || now.Unix() >= l.EndsAt {
		return l, false, err
	}
	more, err := l.opensMore(tx)
	return l, !more, err
}

// everyTeam stands for the teams of the account's owner, who reads what every team does.
const everyTeam = "*"

// opened returns what a link opens now: the permissions and the teams of its person.
func opened(tx *db.Tx, l Link) (permissions auth.Permissions, teams []string, err error) {
	permissions, err = auth.PersonPermissions(tx, l.AccountID, l.PersonID)
	if err != nil {
		return 0, nil, err
	}
	owner, err := auth.OwnerOf(tx, l.AccountID)
	if err != nil || owner == l.PersonID {
		return permissions, []string{everyTeam}, err
	}
	of, err := team.Of(tx, l.AccountID, l.PersonID)
	for _, id := range of {
		teams = append(teams, strconv.FormatInt(id, 10))
	}
	return permissions, teams, err
}

// opensMore reports whether the person of a link that sets a password got a permission or joined a team since it was made. It
// compares at each use, so that no way to grant can be forgotten: roles, account files, providers, a role that changes.
func (l Link) opensMore(tx *db.Tx) (bool, error) {
	if l.Kind != LinkPassword {
		return false, nil
	}
	permissions, teams, err := opened(tx, l)
	if err != nil {
		return false, err
	}
	before := strings.Split(l.teams, ",")
	fresh := l.teams != everyTeam && slices.ContainsFunc(teams, func(id string) bool { return !slices.Contains(before, id) })
	return fresh || permissions&^l.permissions != 0, nil
}

// Outgrown returns those of the persons who have links that set a password and work no more, because the person may do more than
// when they were made.
func Outgrown(tx *db.Tx, account int64, persons []int64, now time.Time) (list []int64, err error) {
	links, err := db.All(tx, scanLink, `SELECT `+linkColumns+` FROM sign_in_link
		WHERE account_id = $1 AND kind = 'password' AND ends_at > $2 AND $3 LIKE '%,' || person_id || ',%' ORDER BY person_id`,
		account, now.Unix(), db.List(persons))
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if slices.Contains(list, l.PersonID) {
			continue
		}
		more, err := l.opensMore(tx)
		if err != nil {
			return nil, err
		}
		if more {
			list = append(list, l.PersonID)
		}
	}
	return list, nil
}

// Waiting reports whether a person has a link of a kind that was made after a moment, or will be mailed one.
func Waiting(tx *db.Tx, account, person int64, kind string, after time.Time) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM sign_in_link
			WHERE account_id = $1 AND person_id = $2 AND kind = $3 AND created_at > $4
		UNION ALL SELECT 1 FROM invitation WHERE account_id = $1 AND person_id = $2 AND kind = $3 LIMIT 1`,
		account, person, kind, after.Unix())
	return found, err
}

// EndLinks deletes the links of a person that set a password or prove an address, and the mail with one that waits. The link
// of a demo stays.
func EndLinks(tx *db.Tx, account, person int64) error {
	err := tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2 AND kind <> 'open'`, account, person)
	if err != nil {
		return err
	}
	return EndInvitation(tx, account, person)
}

// EndProofs deletes the links of a person that prove an address.
func EndProofs(tx *db.Tx, account, person int64) error {
	return tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2 AND kind = 'email'`, account, person)
}

// SignedIn deletes the links that set a password of a person who signs in, and the mail with one that waits. With an app key
// those of the operator stay: a person who has nothing else needs one.
func SignedIn(tx *db.Tx, account, person int64, withKey bool) error {
	spared := int64(-1)
	if withKey {
		spared = 0
	}
	err := tx.Do(`DELETE FROM sign_in_link WHERE account_id = $1 AND person_id = $2 AND kind = 'password' AND maker_id <> $3`,
		account, person, spared)
	if err != nil {
		return err
	}
	return tx.Do(`DELETE FROM invitation WHERE account_id = $1 AND person_id = $2 AND kind = 'password' AND maker_id <> $3`,
		account, person, spared)
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
