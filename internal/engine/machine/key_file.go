package machine

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sealkey"
)

// keyFileGrace is how long the key file is in trouble before an alert is raised: a program that writes it again, not by a
// rename, leaves it empty for a moment.
const keyFileGrace = 15 * time.Second

// keyFile follows the file of the sealing keys while the program runs.
type keyFile struct {
	alert   selfalert.Condition
	trouble atomic.Pointer[string] // its kind; nil: none
	logged  string
	since   time.Time
}

// keyFileJob reads the key file every second, and logs, shows and alerts when it is not what the program uses.
func (s *Service) keyFileJob() jobs.Job {
	k := &s.keys
	return jobs.Job{Name: "key file", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		failed := s.Keyring.Check(func(prints map[string]string) (bool, error) { return sealkey.Under(ctx, s.DB, prints) })
		err := s.Keyring.Trouble()
		k.note(s.Log, err, now)
		alert := selfalert.Alert{
			Key: "keys/" + s.Host, Severity: event.Critical, Lasts: 30 * time.Minute,
			Title: "The key file of " + s.Host + " cannot be used", Text: k.problem(),
		}
		lasts := err != nil && now.Sub(k.since) >= keyFileGrace
		return time.Time{}, errors.Join(failed, s.Alerts.Keep(ctx, &k.alert, alert, lasts, true, now))
	}}
}

// note logs a trouble when it begins, changes and ends.
func (k *keyFile) note(log *slog.Logger, err error, now time.Time) {
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
		log.Info("the key file is in order again")
		return
	}
	kind := keyTrouble(err)
	k.trouble.Store(&kind)
	log.Error("the key file cannot be used; the keys in memory are kept, but the server does not start again without it", "error", err)
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
