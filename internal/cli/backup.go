package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"tocsin/internal/app"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/hold"
)

type backupCmd struct {
	database
	File    string `arg:"" help:"Where to write; a file that exists is refused."`
	WithKey bool   `help:"Also copy the key file, to FILE.key. The two together hold every stored secret in clear."`
}

// Run writes the backup while a server may run on the database. It does not touch the schema.
func (cmd *backupCmd) Run(con *console) (err error) {
	if err := db.MustExist(cmd.DB); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	d, err := db.Connect(ctx, cmd.DB)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.Finished(ctx); err != nil {
		return err
	}
	if d.Shared() { // before a key is copied
		_, err := d.Backup(ctx, cmd.File)
		return err
	}
	key := cmd.config().SealKeys().Path()
	if cmd.WithKey {
		if err := copyKey(key, cmd.File+".key"); err != nil {
			return err
		}
	}
	size, err := d.Backup(ctx, cmd.File)
	if err != nil {
		return fmt.Errorf("backup of %s: %w", db.Name(cmd.DB), err)
	}
	fmt.Fprintf(con.out, "wrote %s: %s, checked\n", cmd.File, bytesText(size))
	switch {
	case cmd.WithKey:
		fmt.Fprintf(con.out, "wrote %s.key: the keys of the stored secrets; keep it apart from the backup\n", cmd.File)
	case cmd.SealKey != "":
		fmt.Fprintln(con.out, "not in it: the keys of the stored secrets (--seal-key)")
	default:
		fmt.Fprintf(con.out, "not in it: the keys of the stored secrets, %s; keep a copy of that file at another place\n", key)
	}
	return nil
}

// copyKey copies the key file to a new file that only its owner can read.
func copyKey(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// bytesText returns a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

type restoreCmd struct {
	database
	File    string `arg:"" help:"The backup."`
	Replace bool   `help:"Replace the database if it exists."`
}

// Run makes the database from the backup, held.
func (cmd *restoreCmd) Run(con *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	c := cmd.config()
	size, err := db.Restore(ctx, cmd.DB, cmd.File, cmd.Replace, func(d *db.DB) error {
		return hold.Hold(ctx, d, "this database was restored from "+cmd.File, c.Clock.Now())
	})
	if err != nil {
		return fmt.Errorf("restore of %s: %w", db.Name(cmd.DB), err)
	}
	fmt.Fprintf(con.out, "restored %s from %s: %s, checked\n", db.Name(cmd.DB), cmd.File, bytesText(size))
	if _, err := os.Stat(c.SealKeys().Path()); cmd.SealKey == "" && errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(con.out, "the key file is missing: copy the one of the backup to %s before the start\n", c.SealKeys().Path())
	}
	fmt.Fprintf(con.out, "it is held: a server on it takes events and sends nothing, until: %s\n", releaseLine(cmd.DB))
	return nil
}

type releaseCmd struct{ database }

// Run releases a held database. A running server notices within a second.
func (cmd *releaseCmd) Run(con *console) error {
	return onExisting(cmd.DB, func(ctx context.Context, d *db.DB) error {
		reason, err := app.Release(ctx, d, cmd.config().Clock)
		if err != nil {
			return err
		}
		if reason == "" {
			fmt.Fprintf(con.out, "%s was not held\n", db.Name(cmd.DB))
			return nil
		}
		fmt.Fprintf(con.out, "released %s, which was held because %s\n", db.Name(cmd.DB), reason)
		return nil
	})
}

// releaseLine returns the command that releases a database.
func releaseLine(dsn string) string { return "tocsin release --db " + db.Name(dsn) }
