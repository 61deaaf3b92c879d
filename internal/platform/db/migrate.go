package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pressly/goose/v3"

	"tocsin/internal/platform/db/driver"
	"tocsin/internal/platform/db/migrations"
	"tocsin/internal/platform/fault"
)

// Applied is one migration that Migrate applied: the name of its file and its duration as text.
type Applied struct{ Name, Took string }

// Migrate brings the schema up to date, each migration in its own transaction, and returns what it applied.
// On a schema that is up to date it does nothing, nor on a newer one that permits this program. A migration that has to
// wait for another session is tried again, so that what waits behind it goes on meanwhile; waits are called with the reason each time.
func (d *DB) Migrate(ctx context.Context, waits ...func(why error)) (applied []Applied, err error) {
	applied = []Applied{}
	if d.current(ctx) {
		return applied, nil
	}
	for end := time.Now().Add(migrateFor); ; {
		watched, stop := context.WithCancelCause(ctx)
		blocked := d.watch(watched, stop, waits)
		more, err := d.migrate(watched)
		session := blocked()
		applied = append(applied, more...)
		if silent := context.Cause(watched); errors.Is(silent, errSilent) {
			return applied, fmt.Errorf("migrate %s: %w", d.DSN(), silent)
		}
		if err == nil || d.shared == nil || !d.shared.InTheWay(err) {
			return applied, err
		}
		if session != "" {
			err = fmt.Errorf("%w: it waited for %s", err, session)
		}
		if time.Now().After(end) {
			return applied, fmt.Errorf("%w; another session was in the way for %s: start again when it has ended", err, migrateFor)
		}
		for _, tell := range waits {
			tell(err)
		}
		select {
		case <-ctx.Done():
			return applied, errors.Join(err, ctx.Err())
		case <-time.After(migratePause):
		}
	}
}

// errSilent is in the errors of a migration that was given up because its server does not answer, or is the primary no more. A
// migration runs for as long as it needs, so its own connection cannot show that.
var errSilent = errors.New("the migration was given up, and is not stored unless it had ended: start again when the database answers")

// maxSilent is how long the database may give no answer while it is migrated.
const maxSilent = 10 * time.Second

// watch looks which session is in the way until the returned function is called, which describes the last one. When the
// database does not answer it reports that to waits, and ends the migration if that lasts.
func (d *DB) watch(ctx context.Context, end context.CancelCauseFunc, waits []func(error)) (last func() string) {
	const every = 100 * time.Millisecond
	if d.shared == nil { // it waits by itself
		return func() string { end(nil); return "" }
	}
	stop := make(chan struct{})
	found := make(chan string, 1)
	go func() {
		session, silent := "", false
		answered := time.Now()
		for {
			select {
			case <-stop:
				found <- session
				return
			case <-time.After(every):
			}
			now, err := d.shared.Blocking(ctx, d.read)
			session = cmp.Or(now, session)
			switch {
			case errors.Is(err, driver.ErrFormer), err != nil && time.Since(answered) > maxSilent:
				end(fmt.Errorf("%w: %w", errSilent, err))
			case err == nil:
				answered, silent = time.Now(), false
			case !silent:
				silent = true
				for _, tell := range waits {
					tell(err)
				}
			}
		}
	}()
	return func() string {
		close(stop)
		defer end(nil)
		return <-found
	}
}

// migrateFor is how long Migrate tries while other sessions are in the way, migratePause the time between two attempts, in
// which those go on that waited behind it.
var migrateFor, migratePause = 2 * time.Minute, time.Second

// migrate applies what is missing, and returns what it applied also when it fails.
func (d *DB) migrate(ctx context.Context) (applied []Applied, err error) {
	p, end, err := d.engine.Migrations(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrations: %w", err)
	}
	defer end()
	has, err := p.GetDBVersion(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate %s: %w", d.DSN(), err)
	}
	if has > migrations.Newest() {
		return nil, d.Outdated(ctx)
	}
	results, err := p.Up(ctx)
	var part *goose.PartialError
	if errors.As(err, &part) {
		results = part.Applied
	}
	for _, r := range results {
		applied = append(applied, Applied{r.Source.Path, r.Duration.Round(1e6).String()})
	}
	if err != nil {
		return applied, fmt.Errorf("migrate %s: %w", d.DSN(), err)
	}
	return applied, nil
}

// Outdated returns an error when a newer program has changed the schema so that this one must not run on it: it would
// not write what the newer one relies on. A newer schema permits it unless its floor is higher than what this program
// knows (docs/decisions/0027-many-nodes.md).
func (d *DB) Outdated(ctx context.Context) error {
	var why error
	err := d.Read(ctx, func(tx *Tx) (err error) {
		why, err = belowFloor(tx)
		return err
	})
	if err == nil && why != nil {
		err = fmt.Errorf("%s %w", d.DSN(), why)
	}
	return err
}

// reason returns the error of a transaction: that this program is too old for the schema, if its statement failed because
// of that.
func (d *DB) reason(ctx context.Context, err error) error {
	if d.shared == nil || !d.shared.Unknown(err) {
		return err
	}
	return cmp.Or(d.snapshot(ctx, d.permitted), err)
}

// permitted returns the error of a program that is too old for the schema; see Outdated. It waits for the statements that
// were sent before. On an engine that others share it asks in each transaction that writes, and after it has the lock: a
// newer program may have raised the floor while this one runs.
func (d *DB) permitted(tx *Tx) error {
	if d.shared == nil {
		return tx.Flush() // the program was permitted when it opened the database
	}
	why, err := belowFloor(tx)
	if err != nil || why == nil {
		return err
	}
	return &fault.Error{Kind: fault.Unavailable, Message: "this server is older than the database schema: use another server",
		Cause: fmt.Errorf("%s %w", d.DSN(), why)}
}

// belowFloor returns why this program must not run on the schema; nil: it may.
func belowFloor(tx *Tx) (why, err error) {
	floor, _, err := One(tx, Column[int64], `SELECT version FROM schema_floor WHERE one = 1`)
	if err != nil || floor <= migrations.Newest() {
		return nil, err
	}
	return fmt.Errorf("%w (it needs schema %d, this one knows %d): use that version, or restore a backup from before the upgrade",
		ErrTooOld, floor, migrations.Newest()), nil
}

// ErrTooOld is in the errors of a program that is too old for the schema.
var ErrTooOld = errors.New("was written by a newer version of this program, which this one cannot run beside")

// Schema returns the version of the schema that this program makes.
func Schema() int64 { return migrations.Newest() }

// current reports whether the database has exactly the migrations of this program. Most starts find it so, and asking costs
// less than the migration tool, which opens the database with a connection of its own.
func (d *DB) current(ctx context.Context) bool {
	var has []int64
	err := d.Read(ctx, func(tx *Tx) (err error) {
		has, err = All(tx, Column[int64], `SELECT version_id FROM goose_db_version WHERE is_applied AND version_id > 0 ORDER BY version_id`)
		return err
	})
	return err == nil && slices.Equal(has, migrations.Numbers())
}
