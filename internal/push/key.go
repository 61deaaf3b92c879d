package push

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Key is the key pair that names this server to push services, in base64url.
type Key struct {
	Public, Private string
}

// KeyContext is what the sealed private key is bound to.
const KeyContext = "push_key"

// PublicKey returns the public key of this server; empty: it has none.
func PublicKey(tx *db.Tx) (string, error) {
	public, _, err := db.One(tx, db.Column[string], `SELECT public_key FROM push_key WHERE key_id = 1`)
	return public, err
}

// OpenKey returns the key of this server.
func OpenKey(tx *db.Tx, keyring *secret.Keyring) (k Key, err error) {
	sealed := ""
	_, found, err := db.One(tx, func(scan db.Scan) (struct{}, error) { return struct{}{}, scan(&k.Public, &sealed) },
		`SELECT public_key, private_key FROM push_key WHERE key_id = 1`)
	switch {
	case err != nil:
		return k, err
	case !found:
		return k, errors.New("this server has no key for push")
	}
	k.Private, err = keyring.Open(sealed, KeyContext)
	return k, err
}

// ensureKey makes the key of this server at its first start. A key whose sealing key was given up is replaced: the browsers
// that were given it cannot be reached any more, and are shown so. No other failure replaces it.
func ensureKey(tx *db.Tx, keyring *secret.Keyring) error {
	old, found, err := db.One(tx, db.Column[string], `SELECT private_key FROM push_key WHERE key_id = 1`)
	if err != nil || found && slices.Contains(keyring.KeyIDs(), secret.KeyID(old)) {
		return err
	}
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	text := base64.RawURLEncoding.EncodeToString
	sealed, err := keyring.Seal(text(private.Bytes()), KeyContext)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO push_key (key_id, public_key, private_key) VALUES (1, $1, $2)
		ON CONFLICT (key_id) DO UPDATE SET public_key = excluded.public_key, private_key = excluded.private_key`,
		text(private.PublicKey().Bytes()), sealed)
}

// resealKey passes the private key through renew.
func resealKey(tx *db.Tx, renew secret.Renew) (int, error) {
	sealed, found, err := db.One(tx, db.Column[string], `SELECT private_key FROM push_key WHERE key_id = 1`)
	if err != nil || !found {
		return 0, err
	}
	sealed, err = renew(sealed, KeyContext)
	if err != nil {
		return 0, err
	}
	err = tx.Do(`UPDATE push_key SET private_key = $1 WHERE key_id = 1`, sealed)
	return 1, err
}
