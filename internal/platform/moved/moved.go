// Package moved stores which accounts were moved to another database, and answers their senders. It must never know a
// key, only its hash, nor an account that is here.
package moved

import (
	"crypto/sha256"
	"encoding/hex"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Account is an account that was moved.
type Account struct {
	ID      int64
	Address string // where it is served now; empty: not known
	At      int64  // Unix seconds
}

// Find returns an account that was moved away.
func Find(tx *db.Tx, account int64) (a Account, found bool, err error) {
	return db.One(tx, func(scan db.Scan) (a Account, err error) { return a, scan(&a.ID, &a.Address, &a.At) },
		`SELECT moved_account, address, moved_at FROM moved WHERE moved_account = $1`, account)
}

// Save stores that an account was moved away, with the hashes of its keys.
func Save(tx *db.Tx, a Account, keys []string) error {
	if err := tx.Do(`INSERT INTO moved (moved_account, address, moved_at) VALUES ($1, $2, $3)`, a.ID, a.Address, a.At); err != nil {
		return err
	}
	for _, hash := range keys {
		if err := tx.Do(`INSERT INTO moved_key (key_hash, moved_account) VALUES ($1, $2)`, hash, a.ID); err != nil {
			return err
		}
	}
	return nil
}

// Forget stores that an account is here again.
func Forget(tx *db.Tx, account int64) error {
	return tx.Do(`DELETE FROM moved WHERE moved_account = $1`, account)
}

// ByKey returns an error when a key belongs to an account that was moved away. The error is Unavailable, which senders
// answer with a retry: what they send must not be lost while they, or what is in front of the servers, still point here.
func ByKey(tx *db.Tx, key string) error { return ByHash(tx, hashOf(key)) }

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// AddressOf returns where the account of a key is served, if it was moved away; empty: that is not known.
func AddressOf(tx *db.Tx, key string) (address string, found bool, err error) {
	return addressOf(tx, hashOf(key))
}

func addressOf(tx *db.Tx, hash string) (string, bool, error) {
	return db.One(tx, db.Column[string], `SELECT m.address FROM moved_key k JOIN moved m ON m.moved_account = k.moved_account
		WHERE k.key_hash = $1`, hash)
}

// ByHash is ByKey of the hash of a key.
func ByHash(tx *db.Tx, hash string) error {
	address, found, err := addressOf(tx, hash)
	switch {
	case err != nil || !found:
		return err
	case address == "":
		return fault.New(fault.Unavailable, "the account of this key has moved to another server")
	}
	return fault.New(fault.Unavailable, "the account of this key has moved to %s", address)
}
