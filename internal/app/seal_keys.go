package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/push"
)

// offline returns the modules of a program that has no database and no keys.
func offline(c Config) *App {
	a := &App{Config: c, metrics: prometheus.NewRegistry()}
	a.assemble(nil, nil, nil)
	return a
}

// reseal passes every stored secret of the database through a function, module by module. It does so before there is a
// program, so it lists the modules of one that has no database and no keys.
func reseal(c Config, tx *db.Tx, renew secret.Renew) error {
	for _, m := range offline(c).Modules {
		for _, each := range m.Reseal {
			if _, err := each(tx, renew); err != nil {
				return err
			}
		}
	}
	return nil
}

// OpenBox opens the keys that seal the stored secrets of a database, and creates the key file on first use. Before it
// creates a file, it checks that no stored secret needs a key that is missing: under a new key those secrets would be
// lost. Only --new-seal-key accepts that. For a database that several machines serve the keys must be given, because each
// machine would otherwise make its own.
func OpenBox(ctx context.Context, d *db.DB, c Config) (*secret.Keyring, error) {
	if d.Shared() && c.SealKey == "" && c.SealKeyFile == "" {
		return nil, errors.New("with PostgreSQL the keys that seal stored secrets must be given, the same to every server of the database: " +
			"--seal-key-file FILE, or TOCSIN_SEAL_KEY (tocsin key new prints a new one)")
	}
	var keyring *secret.Keyring
	var err error
	if c.SealKey != "" {
		keyring, err = secret.FromText(c.SealKey)
	} else if _, missing := os.Stat(SealFile(c)); !errors.Is(missing, fs.ErrNotExist) {
		keyring, err = secret.Open(SealFile(c), c.Clock.Now)
	}
	if err != nil {
		return nil, err
	}
	var have []string
	if keyring != nil {
		have = keyring.KeyIDs()
	}
	if err := checkSealKeys(ctx, d, c, have); err != nil {
		return nil, err
	}
	if keyring == nil {
		keyring, err = secret.Open(SealFile(c), c.Clock.Now)
		if err != nil {
			return nil, err
		}
	}
	return keyring, noteSealKeys(ctx, d, keyring)
}

// SealFile returns the path of the key file: the configured path, else beside the database. It is empty for a database
// that has no path.
func SealFile(c Config) string {
	if path, embedded := strings.CutPrefix(c.DB, "sqlite:"); c.SealKeyFile == "" && embedded {
		return path + ".key"
	}
	return c.SealKeyFile
}

// checkSealKeys checks that have includes the keys that the database was sealed with. It reads the secrets themselves
// only if a key in the table of keys is missing, or if that table is empty, as after an upgrade.
func checkSealKeys(ctx context.Context, d *db.DB, c Config, have []string) error {
	noted, err := sealKeys(ctx, d)
	if err != nil {
		return err
	}
	suspect := len(noted) == 0
	for id, lost := range noted {
		if lost || slices.Contains(have, id) {
			continue
		}
		suspect = true
		if d.Shared() && !c.NewSealKey { // others seal under it, or have handed out links, though there may be no secret yet
			return otherKey(c, id)
		}
	}
	if !suspect {
		return nil
	}
	used, err := usedSealKeys(ctx, d, c)
	if err != nil {
		return err
	}
	var missing []string
	secrets := 0
	for id, n := range used {
		if !noted[id] && !slices.Contains(have, id) {
			missing, secrets = append(missing, id), secrets+n
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 && !c.NewSealKey {
		return lostKeys(c, missing, secrets)
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
func lostKeys(c Config, missing []string, secrets int) error {
	return fmt.Errorf("%d stored secrets are sealed under the key %s, which %s does not have: put the right keys there. "+
		"If they are lost for good, start once with --new-seal-key: it gives up these secrets "+
		"(credentials of datasources, webhooks and chats, contacts, client tokens), which must be entered again",
		secrets, strings.Join(missing, ", "), sealedBy(c))
}

// otherKey returns the error of a server whose keys are not those of the others.
func otherKey(c Config, id string) error {
	return fmt.Errorf("the servers of this database seal under the key %s, which %s does not have: give every server the same keys. "+
		"If that key is lost for good, start once with --new-seal-key", id, sealedBy(c))
}

// sealedBy names where the keys come from.
func sealedBy(c Config) string {
	if c.SealKey != "" {
		return "the keys given as text (--seal-key)"
	}
	return "the key file " + SealFile(c)
}

// sealKeys reads the keys that secrets may be sealed under, and whether their loss was accepted.
func sealKeys(ctx context.Context, d *db.DB) (lost map[string]bool, err error) {
	type row struct {
		id   string
		lost bool
	}
	lost = map[string]bool{}
	err = d.Read(ctx, func(tx *db.Tx) error {
		rows, err := db.All(tx, func(scan db.Scan) (r row, err error) { return r, scan(&r.id, &r.lost) }, `SELECT key_id, lost FROM seal_key`)
		for _, r := range rows {
			lost[r.id] = r.lost
		}
		return err
	})
	return lost, err
}

var errOnlyLooked = errors.New("only looked")

// usedSealKeys counts the stored secrets by key. It passes all of them through reseal and rolls back. All accounts wait: it
// happens at the start of a server whose keys may be wrong only.
func usedSealKeys(ctx context.Context, d *db.DB, c Config) (secrets map[string]int, err error) {
	secrets = map[string]int{}
	err = d.Write(ctx, func(tx *db.Tx) error {
		if err := reseal(c, tx, func(sealed, context string) (string, error) {
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

// noteSealKeys stores the key that secrets are sealed under from now on, and checks that keys with ids that are known are
// the same keys. A key that was lost and is back is no longer lost. Of two servers that are the first on a database at once,
// one finds the key of the other here.
func noteSealKeys(ctx context.Context, d *db.DB, keyring *secret.Keyring) error {
	prints, err := keyring.Fingerprints()
	if err != nil {
		return err
	}
	newest := keyring.KeyIDs()[0]
	noted := false
	look := func(tx *db.Tx) error {
		noted = false
		rows, err := db.All(tx, scanSealKey, `SELECT key_id, lost, fingerprint FROM seal_key`)
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

// sealKey is a row of the table of keys.
type sealKey struct {
	id    string
	lost  bool
	print string // see secret.Keyring.Fingerprints; empty: not known
}

func scanSealKey(scan db.Scan) (k sealKey, err error) { return k, scan(&k.id, &k.lost, &k.print) }
