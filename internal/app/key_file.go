package app

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// keyFileGrace is how long the key file is in trouble before an alert is raised: a program that writes it again, not by a
// rename, leaves it empty for a moment.
const keyFileGrace = 15 * time.Second

// keyFile follows the file of the sealing keys while the program runs.
type keyFile struct {
	alert   condition
	trouble atomic.Pointer[string] // its kind; nil: none
	logged  string
	since   time.Time
}

// job reads the key file every second, and logs, shows and alerts when it is not what the program uses.
func (k *keyFile) job(a *App) jobs.Job {
	return jobs.Job{Name: "key file", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		failed := a.Keyring.Check(func(prints map[string]string) (bool, error) { return sealedUnder(ctx, a.DB, prints) })
		err := a.Keyring.Trouble()
		k.log(a, err, now)
		alert := selfalert.Alert{
			Key: "keys/" + host(), Severity: event.Critical, Lasts: 30 * time.Minute,
			Title: "The key file of " + host() + " cannot be used", Text: k.problem(),
		}
		lasts := err != nil && now.Sub(k.since) >= keyFileGrace
		return time.Time{}, errors.Join(failed, a.keep(ctx, &k.alert, alert, lasts, true, now))
	}}
}

// log logs a trouble when it begins, changes and ends.
func (k *keyFile) log(a *App, err error, now time.Time) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text == k.logged {
		return
	}
	if k.logged == "" {
		k.since = now
	}
	k.logged = text
	if err == nil {
		k.trouble.Store(nil)
		a.Log.Info("the key file is in order again")
		return
	}
	kind := keyTrouble(err)
	k.trouble.Store(&kind)
	a.Log.Error("the key file cannot be used; the keys in memory are kept, but the server does not start again without it", "error", err)
}

// The kinds of trouble with the key file.
const (
	keysMissing    = "missing"
	keysExposed    = "exposed"
	keysMalformed  = "malformed"
	keysOther      = "other_keys"
	keysUnreadable = "unreadable"
)

func keyTrouble(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return keysMissing
	case errors.Is(err, secret.ErrExposed):
		return keysExposed
	case errors.Is(err, secret.ErrMalformed):
		return keysMalformed
	case errors.Is(err, secret.ErrOtherKeys):
		return keysOther
	}
	return keysUnreadable
}

// state returns the kind of trouble with the key file; empty: none.
func (k *keyFile) state() string {
	if kind := k.trouble.Load(); kind != nil {
		return *kind
	}
	return ""
}

// problem describes the trouble, without the path, which only the log has.
func (k *keyFile) problem() string {
	what := map[string]string{
		keysMissing:    "is missing",
		keysExposed:    "can be read or changed by others than its owner",
		keysMalformed:  "holds no valid keys",
		keysOther:      "has other keys than those that the stored secrets are sealed under",
		keysUnreadable: "cannot be read",
	}[k.state()]
	if what == "" {
		return ""
	}
	return "the file of the sealing keys " + what + "; the server goes on with the keys in memory, " +
		"but does not start again without the file: put it right now, see the server's log"
}

// sealedUnder reports whether keys, by their fingerprints, include all those that stored secrets are sealed under.
func sealedUnder(ctx context.Context, d *db.DB, prints map[string]string) (bool, error) {
	right := true
	err := d.Read(ctx, func(tx *db.Tx) error {
		rows, err := db.All(tx, scanSealKey, `SELECT key_id, lost, fingerprint FROM seal_key`)
		for _, r := range rows {
			known, has := prints[r.id]
			if has && r.print != "" && r.print != known || !has && !r.lost {
				right = false
			}
		}
		return err
	})
	return right, err
}
