package alertrule

import (
	"fmt"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

// scope is what rules are checked against when they are stored. It is read once in a call, which may store many.
type scope struct {
	datasources []datasource.Item
	tree        *rulefolder.Tree
	in          map[int64]int64 // the rules of each folder
	load        load            // of all rules
}

func scopeOf(c *api.Call) (s scope, err error) {
	account := c.Who.AccountID
	s.datasources, err = datasource.All(c.Tx, account)
	if err != nil {
		return s, err
	}
	s.tree, err = rulefolder.TreeOf(c.Tx, account)
	if err != nil {
		return s, err
	}
	s.in, err = CountByFolder(c.Tx, account)
	if err != nil {
		return s, err
	}
	s.load, err = loadOf(c.Tx, account, s.datasources)
	return s, err
}

// check checks what a rule names, and whether there is room for it. before is the rule as it is stored; of a new rule the zero
// one.
func (s *scope) check(c *api.Call, r *Rule, before *Rule) error {
	if err := configstore.FirstError(s.tree.Need("", "folder_id", r.FolderID), s.checkNamed(r),
		checkChannels(c, r.ChannelIDs, before.ChannelIDs), s.checkCounts(r, before), s.checkLoad(r, before)); err != nil {
		return err
	}
	used, err := taken(c.Tx, r.AccountID, r.FolderID, r.Name, r.ID)
	if err == nil && used {
		err = fault.Invalid("name", "another rule of the folder has the name %q", r.Name)
	}
	return err
}

// stored notes that a rule was stored.
func (s *scope) stored(r *Rule, before *Rule) {
	if before.FolderID != 0 {
		s.in[before.FolderID]--
	}
	s.in[r.FolderID]++
	s.load = s.load.plus(r.own(s.datasources), 1).plus(before.own(s.datasources), -1)
}

// checkNamed returns a fault if the rule names a datasource that the account does not have, or of another type.
func (s *scope) checkNamed(r *Rule) error {
	for i, id := range r.DSIDs {
		at := slices.IndexFunc(s.datasources, func(d datasource.Item) bool { return d.ID == id })
		switch {
		case at < 0:
			return fault.Invalid(fmt.Sprintf("ds_ids[%d]", i), "datasource %d does not exist", id)
		case s.datasources[at].TypeIdent != r.DSType:
			return fault.Invalid(fmt.Sprintf("ds_ids[%d]", i), "datasource %d is of type %s, not %s", id, s.datasources[at].TypeIdent, r.DSType)
		}
	}
	return nil
}

// checkChannels refuses channels that do not exist, and to add or to take away a private one that the caller may not read.
func checkChannels(c *api.Call, now, before []int64) error {
	for i, id := range now {
		if slices.Contains(before, id) {
			continue
		}
		_, found, err := channel.Find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return err
		}
		if !found {
			return fault.Invalid(fmt.Sprintf("channel_ids[%d]", i), "channel %d does not exist", id)
		}
		if err := channel.PermitAll(c.Tx, c.Who, id); err != nil {
			return err
		}
	}
	removed := slices.DeleteFunc(slices.Clone(before), func(id int64) bool { return slices.Contains(now, id) })
	return channel.PermitAll(c.Tx, c.Who, removed...)
}
