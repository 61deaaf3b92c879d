package accountfile

import (
	"context"
	"errors"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Import loads a file, all or nothing. An existing account is rejected or, with replace, deleted first: with everything
// it has, including its audit log and the app keys that are not in the file.
// Errors about the file are fault.Invalid with the path of the value.
func Import(ctx context.Context, d *db.DB, keyring *secret.Keyring, f *File, now time.Time, replace bool) error {
	if err := f.check(); err != nil {
		return err
	}
	return d.WriteOf(ctx, f.Account.AccountID, func(tx *db.Tx) error {
		before := int64(0)
		if replace {
			var err error
			before, err = configstore.Revision(tx, f.Account.AccountID)
			if err != nil {
				return err
			}
			if err := person.EraseAccount(tx, f.Account.AccountID); err != nil {
				return err
			}
		}
		w := work{tx: tx, keyring: keyring, account: f.Account.AccountID, now: now.Unix()}
		if err := errors.Join(person.LoadAccount(tx, f.Account, w.now), configstore.Continue(tx, f.Account.AccountID, before)); err != nil {
			return err
		}
		for _, s := range sections {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := s.load(w, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// check holds every member to the bounds that its type declares, as requests are, before anything is stored. Then the
// checks of the packages take bounded time.
func (f *File) check() error {
	if err := configstore.FirstError(configstore.RecordPath("").Bounds(f), f.checkReferences()); err != nil {
		return err
	}
	for _, s := range sections {
		if s.examine == nil {
			continue
		}
		if err := s.examine(f); err != nil {
			return err
		}
	}
	return nil
}

// checkReferences rejects references that cannot work unless their object is in the file. All others are allowed: their
// objects are often created later or elsewhere, and history outlives the objects it is about.
func (f *File) checkReferences() error {
	roles, persons := map[int64]bool{}, map[int64]bool{}
	for _, r := range f.Roles {
		roles[r.RoleID] = true
	}
	for i, p := range f.Persons {
		persons[p.PersonID] = true
		for j, r := range p.RoleIDs {
			if !roles[r] {
				return configstore.PathOf("persons", i).Element("role_ids", j).Invalid("", "names role %d, which is not in the file", r)
			}
		}
	}
	if !persons[f.Account.OwnerID] {
		return fault.Invalid("account.owner_id", "names person %d, who is not in the file", f.Account.OwnerID)
	}
	for i, k := range f.AppKeys {
		if !persons[k.PersonID] {
			return configstore.PathOf("app_keys", i).Invalid("person_id", "names person %d, who is not in the file", k.PersonID)
		}
	}
	return nil
}
