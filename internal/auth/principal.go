package auth

import (
	"time"

	"tocsin/internal/platform/db"
)

// Principal is the caller: an app key, the person it belongs to and the account of both.
type Principal struct {
	AccountID   int64
	PersonID    int64
	PersonName  string
	KeyID       int64
	Owner       bool           // the person owns the account
	Permissions Permissions    // the person's, narrowed by the key's, closed
	Narrowed    bool           // the key has permissions of its own, and is not extended with its person's roles
	ExpiresAt   int64          // of the key, Unix seconds; 0: never
	Wait        *int64         // seconds that a call of the key above a limit waits for its turn; nil: as the server is set
	Session     string         // ID of the session of a person who signed in; empty: a call with an app key
	Zone        *time.Location // the account's; the default for wall-clock rules without a zone of their own

	// Asked is called for every channel whose permission is checked in a write, granted or not, so that the audit
	// log can store which channels the call concerns; nil: not needed.
	Asked func(channel int64)
}

// MayAny reports whether the caller has any of the listed permissions; an empty list requires none.
func (p Principal) MayAny(list []Permission) bool {
	for _, q := range list {
		if p.Permissions.Has(q) {
			return true
		}
	}
	return len(list) == 0
}

// May reports whether the caller has this permission.
func (p Principal) May(q Permission) bool { return p.Permissions.Has(q) }

// InTeam reports whether the caller is in any of these teams. Membership is no permission: each package decides what
// members may do (docs/api.md, "Data permission").
func InTeam(tx *db.Tx, who Principal, teams ...int64) (bool, error) {
	for _, team := range teams {
		if team == 0 {
			continue
		}
		_, found, err := db.One(tx, db.Column[int64],
			`SELECT 1 FROM team_person WHERE account_id = $1 AND team_id = $2 AND person_id = $3`, who.AccountID, team, who.PersonID)
		if err != nil || found {
			return found, err
		}
	}
	return false, nil
}
