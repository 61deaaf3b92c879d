package copydb

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
	"tocsin/internal/platform/hold"
	"tocsin/internal/platform/moved"
)

// Move is an account to move between two databases that both serve other accounts. The account leaves the source for an
// archive, a file of the embedded engine, in one transaction, and enters the target from it in another. Between the two it
// is served nowhere, and its senders are answered that they must try again. The steps that are done are seen in the two
// databases, so Run can be called again after any failure.
type Move struct {
	From, To string // DSNs
	Account  int64
	Archive  string // path of the file; it stays
	Address  string // where the account is served afterwards; empty: not known
	Back     bool   // the account leaves the archive for the source again, which it has left
	Now      time.Time
	Progress func(Progress)
	Step     func(string) // called at the begin of each step
}

// Leaving is the step from whose begin on the account's senders and callers wait, until the last step ends. No others do.
const Leaving = "the account leaves the source: its senders and callers wait"

// errTried ends the rehearsal.
var errTried = errors.New("only tried")

// Run moves the account. results are those of the last step; none when the target has the account already.
func (m Move) Run(ctx context.Context) (results []Result, err error) {
	if m.From == m.To {
		return nil, errors.New("source and target are the same database")
	}
	from, to, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close(), to.Close()) }()
	left, arrived, err := m.where(ctx, from, to)
	switch {
	case err != nil:
		return nil, err
	case arrived && m.Back:
		return nil, fmt.Errorf("account %d is in %s: move it from there", m.Account, to.DSN())
	case arrived:
		return nil, nil
	case m.Back && !left:
		return nil, fmt.Errorf("account %d is still in %s", m.Account, from.DSN())
	case m.Back:
		m.Step("the account enters the source again")
		return m.enter(ctx, from)
	}
	if err := mayMove(ctx, from, to); err != nil {
		return nil, err
	}
	if !left {
		m.Step("rehearsal: the account enters the target, and nothing of it is kept")
		if err := m.rehearse(ctx, from, to); err != nil {
			return nil, fmt.Errorf("nothing was moved: %w", err)
		}
		m.Step(Leaving)
		if _, err := m.leave(ctx, from); err != nil {
			return nil, fmt.Errorf("nothing was moved: %w", err)
		}
	}
	m.Step("the account enters the target")
	results, err = m.enter(ctx, to)
	if err != nil {
		return nil, fmt.Errorf("account %d has left the source and waits in %s: run the command again, or with --back: %w",
			m.Account, m.Archive, err)
	}
	return results, nil
}

func (m Move) open(ctx context.Context) (from, to *db.DB, err error) {
	for _, dsn := range []string{m.From, m.To} {
		if err := db.MustExist(dsn); err != nil {
			return nil, nil, err
		}
	}
	from, err = db.Connect(ctx, m.From)
	if err != nil {
		return nil, nil, err
	}
	to, err = db.Connect(ctx, m.To)
	if err != nil {
		return nil, nil, errors.Join(err, from.Close())
	}
	if err := sameSchema(ctx, from, to); err != nil {
		return nil, nil, errors.Join(err, from.Close(), to.Close())
	}
	return from, to, nil
}

// where returns whether the account has left the source, and has arrived in the target.
func (m Move) where(ctx context.Context, from, to *db.DB) (left, arrived bool, err error) {
	inSource, gone, err := m.in(ctx, from)
	if err != nil {
		return false, false, err
	}
	inTarget, _, err := m.in(ctx, to)
	switch _, missing := os.Stat(m.Archive); {
	case err != nil:
		return false, false, err
	case inSource && inTarget:
		return false, false, fmt.Errorf("both databases have an account %d", m.Account)
	case inSource:
		return false, false, nil
	case inTarget:
		return true, true, nil
	case !gone:
		return false, false, fmt.Errorf("%s has no account %d", from.DSN(), m.Account)
	case errors.Is(missing, fs.ErrNotExist):
		return false, false, fmt.Errorf("account %d has left %s, but its archive %s is missing: name the file with --archive",
			m.Account, from.DSN(), m.Archive)
	}
	return true, false, nil
}

// in returns whether a database has the account, and whether the account was moved away from it.
func (m Move) in(ctx context.Context, d *db.DB) (here, gone bool, err error) {
	err = d.Snapshot(ctx, func(tx *db.Tx) error {
		tables, err := d.Tables(tx)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if !t.OfAccounts() || here {
				continue
			}
			here, err = db.HasRows(tx, t, m.Account)
			if err != nil {
				return err
			}
		}
		_, gone, err = moved.Find(tx, m.Account)
		return err
	})
	return here, gone, err
}

// mayMove returns an error when one of the databases is held, or when the servers of the target lack keys of the source.
func mayMove(ctx context.Context, from, to *db.DB) error {
	keys := map[*db.DB][]string{}
	for _, d := range []*db.DB{from, to} {
		err := d.Snapshot(ctx, func(tx *db.Tx) error {
			s, _, err := hold.Find(tx)
			if err != nil {
				return err
			}
			if s.Reason != "" {
				return fmt.Errorf("%s is held, because %s: release it first", d.DSN(), s.Reason)
			}
			keys[d], err = d.Texts(tx, "seal_key", "key_id", 0)
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, key := range keys[from] {
		if !slices.Contains(keys[to], key) {
			return fmt.Errorf("stored secrets of %s may be sealed under the key %s, which the servers on %s do not have: start them with a "+
				"key file that has the keys of both", from.DSN(), key, to.DSN())
		}
	}
	return nil
}

// rehearse lets the account enter the target and takes it back, so that what the target refuses is known while the
// account is still served.
func (m Move) rehearse(ctx context.Context, from, to *db.DB) error {
	err := from.Snapshot(ctx, func(in *db.Tx) error {
		if err := from.Unhurried(in); err != nil {
			return err
		}
		return to.WriteOf(ctx, m.Account, func(out *db.Tx) error {
			if err := to.Unhurried(out); err != nil {
				return err
			}
			p := passage{in: side{from, in}, out: side{to, out}, account: m.Account, renumber: true, progress: m.Progress}
			if _, err := p.all(ctx); err != nil {
				return err
			}
			return errTried
		})
	})
	if errors.Is(err, errTried) {
		return nil
	}
	return err
}

// leave writes the archive and deletes the account from the source, in one transaction: what was accepted before it is in
// the archive, and nothing is accepted after it.
func (m Move) leave(ctx context.Context, from *db.DB) (results []Result, err error) {
	if err := os.Remove(m.Archive); err != nil && !errors.Is(err, fs.ErrNotExist) { // of a move that failed: the source has it all
		return nil, err
	}
	err = from.WriteOf(ctx, m.Account, func(in *db.Tx) error {
		if err := errors.Join(from.Unhurried(in), from.LockRow(in, "account", m.Account)); err != nil {
			return err
		}
		err := db.Archive(ctx, m.Archive, func(to *db.DB, out *db.Tx) (err error) {
			p := passage{in: side{from, in}, out: side{to, out}, account: m.Account, renumber: true, progress: m.Progress}
			results, err = p.all(ctx)
			if err != nil {
				return err
			}
			return hold.Save(out, hold.State{Reason: "this database is the archive of an account that was moved", Since: m.Now.Unix()})
		})
		if err != nil {
			return err
		}
		return m.remove(from, in)
	})
	return results, err
}

// senders are the tables of keys whose callers are answered where the account is served afterwards.
var senders = []string{"app_key", "integration_key", "edge_key"}

// remove deletes the account and stores that it has moved.
func (m Move) remove(from *db.DB, tx *db.Tx) error {
	tables, err := from.Tables(tx)
	if err != nil {
		return err
	}
	var keys []string
	for _, t := range tables {
		if t.OfAccounts() && slices.Contains(senders, t.Name) {
			hashes, err := from.Texts(tx, t.Name, "key_hash", m.Account)
			if err != nil {
				return err
			}
			keys = append(keys, hashes...)
		}
	}
	for _, t := range slices.Backward(tables) {
		if t.OfAccounts() {
			if err := db.DeleteAccount(tx, t, m.Account); err != nil {
				return fmt.Errorf("table %s: %w", t.Name, err)
			}
		}
	}
	return moved.Save(tx, moved.Account{ID: m.Account, Address: m.Address, At: m.Now.Unix()}, keys)
}

// enter writes the account from its archive. From the commit on the servers there serve it.
func (m Move) enter(ctx context.Context, to *db.DB) (results []Result, err error) {
	archive, err := db.Connect(ctx, "sqlite:"+strings.TrimPrefix(m.Archive, "sqlite:"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	if err := sameSchema(ctx, archive, to); err != nil {
		return nil, err
	}
	err = archive.Snapshot(ctx, func(in *db.Tx) error {
		return to.WriteOf(ctx, m.Account, func(out *db.Tx) (err error) {
			if err := errors.Join(to.Unhurried(out), moved.Forget(out, m.Account)); err != nil {
				return err
			}
			p := passage{in: side{archive, in}, out: side{to, out}, account: m.Account, renumber: true, progress: m.Progress}
			results, err = p.all(ctx)
			return err
		})
	})
	return results, err
}
