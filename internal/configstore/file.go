package configstore

import (
	"fmt"
	"slices"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// ExamineAll checks of the records of the kind's section of an account file what takes long. It is called before the
// transaction in which they are loaded.
func (k Kind[T]) ExamineAll(records []T) error {
	if k.Examine == nil {
		return nil
	}
	for i := range records {
		if err := k.Examine(PathOf(k.Section, i), &records[i]); err != nil {
			return err
		}
	}
	return nil
}

// Load checks the records of the kind's section of an account file and stores them, their secrets sealed.
// Errors are fault.Invalid with the record's path.
func (k Kind[T]) Load(tx *db.Tx, keyring *secret.Keyring, account int64, records []T) error {
	for i := range records {
		v, at := &records[i], PathOf(k.Section, i)
		if err := k.admit(tx, keyring, at, account, v); err != nil {
			return err
		}
		fresh, err := k.Insert(tx, account, v)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("", k.Head(v).ID)
		}
	}
	if k.CheckAll != nil { // each record is within its own bounds, which bounds the time of this check
		return k.CheckAll(k.Section, records)
	}
	return nil
}

func (k Kind[T]) admit(tx *db.Tx, keyring *secret.Keyring, at RecordPath, account int64, v *T) error {
	if err := k.Check(tx, at, account, v); err != nil {
		return err
	}
	return k.Seal(keyring, account, v)
}

// Dump reads all objects of the account by id; without secrets these are empty.
func (k Kind[T]) Dump(tx *db.Tx, keyring *secret.Keyring, account int64, secrets bool) ([]T, error) {
	all, err := k.every(tx, account)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if secrets {
			err = k.Open(keyring, account, &all[i])
		} else {
			err = k.Blank(&all[i])
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Seal seals the object's secrets.
func (k Kind[T]) Seal(keyring *secret.Keyring, account int64, v *T) error {
	return k.rewrite(v, func(name, text string) (string, error) { return keyring.Seal(text, k.secretContext(account, v, name)) })
}

// Show opens the object's secrets for people. A secret that cannot be opened is empty and is reported.
func (k Kind[T]) Show(keyring *secret.Keyring, account int64, v *T, report func(error)) error {
	return k.Renew(keyring.Show(report), account, v)
}

// Renew replaces the object's secrets by the results of renew.
func (k Kind[T]) Renew(renew secret.Renew, account int64, v *T) error {
	return k.rewrite(v, func(name, text string) (string, error) { return renew(text, k.secretContext(account, v, name)) })
}

// Open opens the object's secrets.
func (k Kind[T]) Open(keyring *secret.Keyring, account int64, v *T) error {
	return k.rewrite(v, func(name, text string) (string, error) { return keyring.Open(text, k.secretContext(account, v, name)) })
}

// Blank masks the object's secrets, for callers who may not see them.
func (k Kind[T]) Blank(v *T) error {
	return k.rewrite(v, func(_, text string) (string, error) { return secret.Masked(text), nil })
}

// rewrite replaces every secret by the result of fn.
func (k Kind[T]) rewrite(v *T, fn func(name, text string) (string, error)) error {
	if k.Secrets == nil {
		return nil
	}
	return fault.Wrap(k.Secrets(v, fn), "the secrets of %s %s", k.Name, k.Head(v).ID)
}

// secretContext returns the authenticated context of a sealed secret, so that it can be opened for this object only.
func (k Kind[T]) secretContext(account int64, v *T, name string) string {
	return fmt.Sprintf("%s/%d/%s/%s", k.Name, account, k.Head(v).ID, name)
}

// Reseal replaces the secrets of all accounts' objects of the kind by renew and returns how many there are. It stops at
// the first error.
func (k Kind[T]) Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	accounts, err := db.All(tx, db.Column[int64], `SELECT DISTINCT account_id FROM object WHERE kind = $1 ORDER BY account_id`, k.Name)
	if err != nil || k.Secrets == nil {
		return 0, err
	}
	for account := range slices.Values(accounts) {
		all, err := k.every(tx, account)
		if err != nil {
			return 0, err
		}
		for i := range all {
			before := secrets
			err := k.rewrite(&all[i], func(name, sealed string) (string, error) {
				if sealed == "" || secret.IsReference(sealed) {
					return sealed, nil
				}
				secrets++
				return renew(sealed, k.secretContext(account, &all[i], name))
			})
			if err == nil && secrets > before {
				err = k.Put(tx, account, &all[i])
			}
			if err != nil {
				return 0, err
			}
		}
	}
	return secrets, nil
}
