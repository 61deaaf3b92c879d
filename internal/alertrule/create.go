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

// Check checks what needs no other object. A rule that is created, updated or imported is a request.
func (r Rule) Check() error { return r.check("") }

func (s *Service) create(c *api.Call, in Rule) (Rule, error) {
	if in.ID != 0 {
		return Rule{}, fault.Invalid("id", "must be left out or 0, because this operation never changes an existing rule; got %d", in.ID)
	}
	datasources, err := datasource.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return Rule{}, err
	}
	if err := s.add(c, &in, create, datasources); err != nil {
		return Rule{}, err
	}
	return in.named(c.Tx)
}

// add stores a new rule.
func (s *Service) add(c *api.Call, r *Rule, action string, datasources []datasource.Item) error {
	if r.FolderID == 0 {
		r.FolderID = rulefolder.First
	}
	r.Stamps = Stamps{AccountID: c.Who.AccountID, CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	r.ID = 0
	if err := s.examine(c, r, Rule{}, datasources); err != nil {
		return err
	}
	if s.First != nil {
		if err := s.First(c.Tx, r.AccountID, c.Who.PersonID, c.Now); err != nil {
			return err
		}
	}
	for known := true; known; { // an account file may contain ids that the counter has not reached yet
		var err error
		if r.ID, err = nextID(c.Tx, r.AccountID); err != nil {
			return err
		}
		if _, known, err = FindRule(c.Tx, r.AccountID, r.ID); err != nil {
			return err
		}
	}
	if err := s.store(c, r, Rule{}, action, datasources); err != nil {
		return err
	}
	if err := checkCounts(c.Tx, r.AccountID, r.FolderID); err != nil {
		return err
	}
	return countToday(c.Tx, r.AccountID, c.Unix())
}

// examine checks what a rule names, before it is stored. before is the rule as it was.
func (s *Service) examine(c *api.Call, r *Rule, before Rule, datasources []datasource.Item) error {
	r.normalize()
	tree, err := rulefolder.TreeOf(c.Tx, r.AccountID)
	if err != nil {
		return err
	}
	if err := configstore.FirstError(tree.Need("", "folder_id", r.FolderID), r.checkNamed("", datasources),
		checkChannels(c, r.ChannelIDs, before.ChannelIDs)); err != nil {
		return err
	}
	used, err := taken(c.Tx, r.AccountID, r.FolderID, r.Name, r.ID)
	if err == nil && used {
		err = fault.Invalid("name", "another rule of the folder has the name %q", r.Name)
	}
	return err
}

// store stores a rule that was examined, with its history.
func (s *Service) store(c *api.Call, r *Rule, before Rule, action string, datasources []datasource.Item) error {
	r.UpdatedAt = c.Unix()
	r.UpdaterID = c.Who.PersonID
	if err := r.put(c.Tx); err != nil {
		return err
	}
	if err := r.checkLoad(c.Tx, before.own(datasources), datasources); err != nil {
		return err
	}
	if err := r.record(c, action); err != nil {
		return err
	}
	c.Touched(configstore.AlertRule, r.ID, r.Name)
	if s.Changed == nil || action == create || action == carried {
		return nil
	}
	return s.Changed(c.Tx, r.AccountID, r, action, c.Who.PersonID, c.Now)
}

// checkChannels refuses channels that do not exist, and to add or to take away a private one that the caller may not read.
func checkChannels(c *api.Call, now, before []int64) error {
	for i, id := range now {
		if slices.Contains(before, id) {
			continue
		}
		if _, found, err := channel.Find(c.Tx, c.Who.AccountID, id); err != nil || !found {
			if err == nil {
				err = fault.Invalid(fmt.Sprintf("channel_ids[%d]", i), "channel %d does not exist", id)
			}
			return err
		}
		if err := channel.PermitAll(c.Tx, c.Who, id); err != nil {
			return err
		}
	}
	for _, id := range before {
		if slices.Contains(now, id) {
			continue
		}
		if err := channel.PermitAll(c.Tx, c.Who, id); err != nil {
			return err
		}
	}
	return nil
}
