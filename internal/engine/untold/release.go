package untold

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// ReleasePerson implements person.Release: it removes a person from the account's fallback. A fallback that names no one then is
// the account's owner.
func ReleasePerson(c *api.Call, person int64) error {
	f, set, err := Of(c.Tx, c.Who.AccountID)
	if err != nil || !set || !slices.Contains(f.PersonIDs, person) {
		return err
	}
	f.PersonIDs = slices.DeleteFunc(slices.Clone(f.PersonIDs), func(p int64) bool { return p == person })
	f.UpdatedAt = c.Unix()
	c.Changed(configstore.Fallback, only, "the account's fallback")
	if f.empty() {
		c.Warn("The account's fallback names no one any more, so it is the account's owner.")
		return Kind.Delete(c.Tx, c.Who.AccountID, only)
	}
	return Kind.Put(c.Tx, c.Who.AccountID, &f)
}

// empty reports whether the fallback names no one.
func (f *Fallback) empty() bool {
	return len(f.PersonIDs)+len(f.TeamIDs) == 0 && f.EscalateRuleID == ""
}
