package secret

import (
	"crypto/hkdf"
	"crypto/sha256"
)

// DeriveKey returns 32 secret bytes for one other purpose, such as signing
// cursors. They stay the same until the key ring's newest key changes, so they
// suit data that may become invalid then. They reveal nothing about the keys.
func (b *Keyring) DeriveKey(purpose string) ([]byte, error) {
	k, err := b.newest()
	if err != nil {
		return nil, err
	}
	return hkdf.Key(sha256.New, k.secret, nil, "tocsin/"+purpose, 32)
}
