package channel

import (
	"errors"
	"slices"
	"strconv"

	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// concealed replaces the name of an object that the caller may not read.
const concealed = "private"

// Conceal removes names from the error ReferenceExist, which lists the objects that prevent a deletion: the names of
// objects that belong to private channels that the caller may not read. Their kinds and ids stay, so that the caller
// can ask the owner about them. Any other error is returned unchanged.
func Conceal(tx *db.Tx, who auth.Principal, err error) error {
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind != fault.ReferenceExist {
		return err
	}
	hidden, failed := Hidden(tx, who)
	if failed != nil {
		return failed
	}
	refs := slices.Clone(refused.Refs)
	for i, r := range refs {
		private, failed := names(tx, who.AccountID, r, hidden)
		if failed != nil {
			return failed
		}
		if private {
			refs[i].Name = concealed
		}
	}
	return configstore.Refused(refused.Object, refs)
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
