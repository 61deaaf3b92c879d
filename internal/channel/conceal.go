package channel

import (
	"slices"
	"strconv"

	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Conceal removes the names of objects that belong to private channels that the caller may not read from the error
// ReferenceExist.
func Conceal(tx *db.Tx, who auth.Principal, err error) error {
	return configstore.Conceal(err, func(refs []fault.Ref) error {
		hidden, err := Hidden(tx, who)
		if err != nil {
			return err
		}
		for i := range refs {
			private, err := names(tx, who.AccountID, refs[i], hidden)
			if err != nil {
				return err
			}
			if private {
				refs[i].Name = configstore.Concealed
			}
		}
		return nil
	})
}

// names reports whether an object is, belongs to or refers to one of these channels.
func names(tx *db.Tx, account int64, r fault.Ref, channels []int64) (bool, error) {
	if len(channels) == 0 {
		return false, nil
	}
	named, err := configstore.Targets(tx, account, r.Kind, r.ID, configstore.Channel)
	if err != nil {
		return false, err
	}
	switch r.Kind {
	case configstore.Channel:
		named = append(named, r.ID)
	case configstore.Silence, configstore.Drop, configstore.Inhibit, configstore.Escalate:
		parent, err := configstore.Parent(tx, account, r.Kind, r.ID)
		if err != nil {
			return false, err
		}
		named = append(named, parent)
	}
	return slices.ContainsFunc(channels, func(id int64) bool {
		return slices.Contains(named, strconv.FormatInt(id, 10))
	}), nil
}
