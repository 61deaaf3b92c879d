package sealkey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/node"
	"tocsin/internal/platform/secret"
	"tocsin/internal/push"
)

// Rotation is the result of Rotate.
type Rotation struct {
	KeyID   string // of the new sealing key
	Sealed  int    // secrets sealed under the new key
	Dropped int    // old keys removed from the key file
}

// settle is how long other processes may continue to seal under the old key; see secret.Keyring.Rotate.
const settle = 1500 * time.Millisecond

// Rotate adds a new sealing key, seals every stored secret under it, and drops the old keys. A server that is
// running meanwhile loads the new key without a restart. Whatever fails, no key is dropped that a secret still needs.
// Secrets whose loss was accepted stay as they are.
func (s Source) Rotate(ctx context.Context, d *db.DB) (r Rotation, err error) {
	if d.Shared() {
		return r, errors.New("every server of the database needs the new key before any seals under it: " +
			"see docs/operating.md, Keys, for tocsin key new and tocsin key reseal")
	}
	if s.Text != "" {
		return r, errors.New("the sealing keys are given as text: put a new line first there, and rotate where they come from")
	}
	keyring, err := s.Open(ctx, d)
	if err != nil {
		return r, err
	}
	old := keyring.KeyIDs()
	r.KeyID, err = keyring.Rotate()
	if err != nil {
		return r, err
	}
	if err := note(ctx, d, keyring); err != nil {
		return r, err
	}
	known, err := noted(ctx, d)
	if err != nil {
		return r, err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		err := s.Reseal(tx, func(sealed, context string) (string, error) {
			switch id := secret.KeyID(sealed); {
			case (known[id] || context == push.KeyContext) && !slices.Contains(old, id):
				return sealed, nil
			case id != "":
				r.Sealed++
			}
			return keyring.Renew(sealed, context)
		})
		if err != nil {
			return err
		}
		return tx.Do(`DELETE FROM seal_key WHERE key_id <> $1 AND NOT lost`, r.KeyID)
	})
	if err != nil {
		return r, err
	}
	r.Dropped = len(old)
	return r, keyring.Forget(old...)
}

// RenewAll seals every stored secret under the newest key, with which every live server of the database must seal already.
// It changes no key file. The older keys may be removed everywhere then.
func (s Source) RenewAll(ctx context.Context, d *db.DB) (r Rotation, err error) {
	keyring, err := s.Open(ctx, d)
	if err != nil {
		return r, err
	}
	r.KeyID = keyring.KeyIDs()[0]
	var live []node.Node
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		live, err = node.Live(tx, s.Now())
		return err
	})
	if err != nil {
		return r, err
	}
	for _, n := range live {
		if n.SealKeys[0] != r.KeyID {
			return r, fmt.Errorf("the server on %s (%s) seals under the key %s, not yet under %s: make that one the first there",
				n.Name, n.Address, n.SealKeys[0], r.KeyID)
		}
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		lost, err := db.All(tx, db.Column[string], `SELECT key_id FROM seal_key WHERE lost`)
		if err != nil {
			return err
		}
		if err := s.Reseal(tx, func(sealed, context string) (string, error) {
			id := secret.KeyID(sealed)
			if id == "" || id == r.KeyID || slices.Contains(lost, id) {
				return sealed, nil
			}
			r.Sealed++
			return keyring.Renew(sealed, context)
		}); err != nil {
			return err
		}
		dropped, err := tx.Exec(`DELETE FROM seal_key WHERE key_id <> $1 AND NOT lost`, r.KeyID)
		r.Dropped = int(dropped)
		return err
	})
	return r, err
}
