package auth

import (
	"time"
)

// Principal is whoever calls: an app key, the person it belongs to and the account of both.
type Principal struct {
	AccountID   int64
	PersonID    int64
	PersonName  string
	KeyID       int64
	Owner       bool           // the person owns the account
	Permissions Permissions    // the person's, narrowed by the key's, closed
	Narrowed    bool           // the key has permissions of its own, and does not grow with its person's roles
	ExpiresAt   int64          // of the key, Unix seconds; 0: never
	Zone        *time.Location // the account's; every wall-clock rule without a zone of its own reads it

	// Asked is told of every channel for which permission is asked in a write, granted or not, so that the audit log
	// knows whom the call concerns; nil: nothing wants to know.
	Asked func(channel int64)
}

// MayAny tells whether one of the listed permissions is there; an empty list asks for none.
func (p Principal) MayAny(any []Permission) bool {
	for _, q := range any {
		if p.Permissions.Has(q) {
			return true
		}
	}
	return len(any) == 0
}

// May tells whether this permission is there.
func (p Principal) May(q Permission) bool { return p.Permissions.Has(q) }
