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
// lost. Only --new-seal-key accepts that.
func OpenBox(ctx context.Context, d *db.DB, c Config) (*secret.Keyring, error) {
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
		if keyring, err = secret.Open(SealFile(c), c.Clock.Now); err != nil {
			return nil, err
		}
	}
	return keyring, noteSealKey(ctx, d, keyring.KeyIDs()[0])
}

// SealFile returns the path of the key file: the configured path, else beside the database.
func SealFile(c Config) string {
	if c.SealKeyFile != "" {
		return c.SealKeyFile
	}
	return strings.TrimPrefix(c.DB, "sqlite:") + ".key"
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
		suspect = suspect || !lost && !slices.Contains(have, id)
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
	return d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec(`DELETE FROM seal_key WHERE NOT lost`); err != nil {
			return err
		}
		for id := range used {
			if _, err := tx.Exec(`INSERT INTO seal_key (key_id, lost) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
				id, slices.Contains(missing, id)); err != nil {
				return err
			}
		}
		return nil
	})
}

// lostKeys returns the error that names the missing keys, what to do, and what is lost otherwise.
func lostKeys(c Config, missing []string, secrets int) error {
	where := "the key file " + SealFile(c)
	if c.SealKey != "" {
		where = "the keys given as text (--seal-key)"
	}
	return fmt.Errorf("%d stored secrets are sealed under the key %s, which %s does not have: put the right keys there. "+
		"If they are lost for good, start once with --new-seal-key: it gives up these secrets "+
		"(credentials of datasources, webhooks and chats, contacts, client tokens), which must be entered again",
		secrets, strings.Join(missing, ", "), where)
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

// usedSealKeys counts the stored secrets by key. It passes all of them through reseal and rolls back.
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

// noteSealKey stores the key that secrets are sealed under from now on. A key that was lost and is back is no longer lost.
func noteSealKey(ctx context.Context, d *db.DB, id string) error {
	noted, err := sealKeys(ctx, d)
	if lost, known := noted[id]; err != nil || known && !lost {
		return err
	}
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO seal_key (key_id, lost) VALUES ($1, $2)
		ON CONFLICT (key_id) DO UPDATE SET lost = excluded.lost`, id, false)
		return err
	})
}
