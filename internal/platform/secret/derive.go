package secret

import (
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
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

// Fingerprints returns a text for each key id that two keys share only when they are the same key. It reveals nothing
// about the key.
func (b *Keyring) Fingerprints() (byID map[string]string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ring.fingerprints()
}

func (r ring) fingerprints() (byID map[string]string, err error) {
	byID = map[string]string{}
	for _, k := range r {
		sum, err := hkdf.Key(sha256.New, k.secret, nil, "tocsin/fingerprint", 8)
		if err != nil {
			return nil, err
		}
		byID[k.id] = hex.EncodeToString(sum)
	}
	return byID, nil
}
