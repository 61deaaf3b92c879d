// Package sealkey holds the keys under which a database's stored secrets are sealed: it opens them, notes in the database which
// keys its secrets need, and seals all of them under a new one.
//
// It must never give up a secret whose key is missing, unless the operator accepts that.
package sealkey

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/push"
)

// Source is where the keys of a database come from.
type Source struct {
	DB   string // the DSN
	File string // the path of the key file; empty: see Path
	Text string // the keys as text, instead of a file
	New  bool   // go on although keys of stored secrets are missing; these secrets are lost
	Now  func() time.Time

	// Reseal passes every stored secret of the database through a function.
	Reseal func(*db.Tx, secret.Renew) error
}

// Open opens the keys that seal the stored secrets of a database, and creates the key file on first use. Before it
// creates a file, it checks that no stored secret needs a key that is missing: under a new key those secrets would be
// lost. Only --new-seal-key accepts that. For a database that several machines serve the keys must be given, because each
// machine would otherwise make its own.
func (s Source) Open(ctx context.Context, d *db.DB) (*secret.Keyring, error) {
	if d.Shared() && s.Text == "" && s.File == "" {
		return nil, errors.New("with PostgreSQL the keys that seal stored secrets must be given, the same to every server of the database: " +
			"--seal-key-file FILE, or TOCSIN_SEAL_KEY (tocsin key new prints a new one)")
	}
	var keyring *secret.Keyring
	var err error
	if s.Text != "" {
		keyring, err = secret.FromText(s.Text)
	} else if _, missing := os.Stat(s.Path()); !errors.Is(missing, fs.ErrNotExist) {
		keyring, err = secret.Open(s.Path(), s.Now)
	}
	if err != nil {
		return nil, err
	}
	var have []string
	if keyring != nil {
		have = keyring.KeyIDs()
	}
	if err := s.check(ctx, d, have); err != nil {
		return nil, err
	}
	if keyring == nil {
		keyring, err = secret.Open(s.Path(), s.Now)
		if err != nil {
			return nil, err
		}
	}
	return keyring, note(ctx, d, keyring)
}

// Path returns the path of the key file: the configured path, else beside the database. It is empty for a database
// that has no path.
func (s Source) Path() string {
	if path, embedded := strings.CutPrefix(s.DB, "sqlite:"); s.File == "" && embedded {
		return path + ".key"
	}
	return s.File
}

// check checks that have includes the keys that the database was sealed with. It reads the secrets themselves
// only if a key in the table of keys is missing, or if that table is empty, as after an upgrade.
func (s Source) check(ctx context.Context, d *db.DB, have []string) error {
	known, err := noted(ctx, d)
	if err != nil {
		return err
	}
	suspect := len(known) == 0
	for id, lost := range known {
		if lost || slices.Contains(have, id) {
			continue
		}
		suspect = true
		if d.Shared() && !s.New { // others seal under it, or have handed out links, though there may be no secret yet
			return s.otherKey(id)
		}
	}
	if !suspect {
		return nil
	}
	used, err := s.used(ctx, d)
	if err != nil {
		return err
	}
	var missing []string
	secrets := 0
	for id, n := range used {
		if !known[id] && !slices.Contains(have, id) {
			missing, secrets = append(missing, id), secrets+n
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 && !s.New {
		return s.lostKeys(missing, secrets)
	}
	return d.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		if err := tx.Do(`DELETE FROM seal_key WHERE NOT lost`); err != nil {
			return err
		}
		for id := range used {
			if err := tx.Do(`INSERT INTO seal_key (key_id, lost) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
				id, slices.Contains(missing, id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// lostKeys returns the error that names the missing keys, what to do, and what is lost otherwise.
func (s Source) lostKeys(missing []string, secrets int) error {
	return fmt.Errorf("%d stored secrets are sealed under the key %s, which %s does not have: put the right keys there. "+
		"If they are lost for good, start once with --new-seal-key: it gives up these secrets "+
		"(credentials of datasources, webhooks and chats, contacts, client tokens), which must be entered again",
		secrets, strings.Join(missing, ", "), s.name())
}

// otherKey returns the error of a server whose keys are not those of the others.
func (s Source) otherKey(id string) error {
	return fmt.Errorf("the servers of this database seal under the key %s, which %s does not have: give every server the same keys. "+
		"If that key is lost for good, start once with --new-seal-key", id, s.name())
}

// name names where the keys come from.
func (s Source) name() string {
	if s.Text != "" {
		return "the keys given as text (--seal-key)"
	}
	return "the key file " + s.Path()
}

// noted reads the keys that secrets may be sealed under, and whether their loss was accepted.
func noted(ctx context.Context, d *db.DB) (lost map[string]bool, err error) {
	lost = map[string]bool{}
	err = d.Read(ctx, func(tx *db.Tx) error {
		rows, err := db.All(tx, scan, selectKeys)
		for _, r := range rows {
			lost[r.id] = r.lost
		}
		return err
	})
	return lost, err
}

var errOnlyLooked = errors.New("only looked")

// used counts the stored secrets by key. It passes all of them through Reseal and rolls back. All accounts wait: it
// happens at the start of a server whose keys may be wrong only.
func (s Source) used(ctx context.Context, d *db.DB) (secrets map[string]int, err error) {
	secrets = map[string]int{}
	err = d.Write(ctx, func(tx *db.Tx) error {
		if err := s.Reseal(tx, func(sealed, context string) (string, error) {
			// Without browsers the key for push is of no use to anyone, and with them each of them counts.
			if id := secret.KeyID(sealed); id != "" && context != push.KeyContext {
				secrets[id]++
			}
			return sealed, nil
		}); err != nil {
			return err
		}
		return errOnlyLooked
	})
	if errors.Is(err, errOnlyLooked) {
		err = nil
	}
	return secrets, err
}

// note stores the key that secrets are sealed under from now on, and checks that keys with ids that are known are
// the same keys. A key that was lost and is back is no longer lost. Of two servers that are the first on a database at once,
// one finds the key of the other here.
func note(ctx context.Context, d *db.DB, keyring *secret.Keyring) error {
	prints, err := keyring.Fingerprints()
	if err != nil {
		return err
	}
	newest := keyring.KeyIDs()[0]
	noted := false
	look := func(tx *db.Tx) error {
		noted = false
		rows, err := db.All(tx, scan, selectKeys)
		for _, r := range rows {
			known, has := prints[r.id]
			switch {
			case has && r.print != "" && r.print != known:
				return fmt.Errorf("the key %s is not the key with this id that the stored secrets are sealed under: "+
					"give every server the same keys", r.id)
			case !has && !r.lost && d.Shared():
				return fmt.Errorf("another server of this database seals under the key %s: give every server the same keys", r.id)
			}
			noted = noted || r.id == newest && !r.lost && r.print != ""
		}
		return err
	}
	if err := d.Read(ctx, look); err != nil || noted {
		return err
	}
	return d.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		if err := look(tx); err != nil {
			return err
		}
		return tx.Do(`INSERT INTO seal_key (key_id, lost, fingerprint) VALUES ($1, $2, $3)
			ON CONFLICT (key_id) DO UPDATE SET lost = excluded.lost, fingerprint = excluded.fingerprint`, newest, false, prints[newest])
	})
}

const selectKeys = `SELECT key_id, lost, fingerprint FROM seal_key`

// row is a row of the table of keys.
type row struct {
	id    string
	lost  bool
	print string // see secret.Keyring.Fingerprints; empty: not known
}

func scan(read db.Scan) (k row, err error) { return k, read(&k.id, &k.lost, &k.print) }

// Under reports whether keys, by their fingerprints, include all those that stored secrets are sealed under.
func Under(ctx context.Context, d *db.DB, prints map[string]string) (bool, error) {
	right := true
	err := d.Read(ctx, func(tx *db.Tx) error {
		rows, err := db.All(tx, scan, selectKeys)
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
