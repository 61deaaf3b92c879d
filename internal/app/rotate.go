package app

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/db"
	"tocsin/internal/escalation"
	"tocsin/internal/integration"
	"tocsin/internal/notify"
	"tocsin/internal/preference"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/seal"
)

// Rotation says what RotateSeal did.
type Rotation struct {
	KeyID   string // of the new sealing key
	Sealed  int    // secrets sealed anew
	Dropped int    // old keys removed from the key file
}

// settle is how long other processes may go on sealing under the old key; see seal.Box.Rotate.
const settle = 1500 * time.Millisecond

// RotateSeal adds a new sealing key, seals every secret of every room under it, and drops the old keys. A
// server that is running meanwhile picks the new key up by itself. Whatever fails, no key is dropped that
// a secret still needs.
func RotateSeal(ctx context.Context, d *db.DB, c Config) (r Rotation, err error) {
	if c.SealKey != "" {
		return r, errors.New("the sealing keys are given as text: put a new line first there, and rotate where they come from")
	}
	box, err := OpenBox(c)
	if err != nil {
		return r, err
	}
	old := box.KeyIDs()
	if r.KeyID, err = box.Rotate(); err != nil {
		return r, err
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return r, ctx.Err()
	}
	err = d.Write(ctx, func(tx *db.Tx) error {
		for _, reseal := range []func(*db.Tx, *seal.Box) (int, error){schedule.Reseal, datasource.Reseal, rum.Reseal, channel.Escalates.Reseal, integration.Kind.Reseal,
			preference.Kind.Reseal, escalation.Reseal, notify.Reseal} {
			n, err := reseal(tx, box)
			if err != nil {
				return err
			}
			r.Sealed += n
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	r.Dropped = len(old)
	return r, box.Forget(old...)
}
