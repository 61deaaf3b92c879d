package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rulefolder"
)

// Check checks what needs no other object.
func (r Rule) Check() error { return r.check("") }

// Valid returns the rule as it would be stored, or what is wrong with it. at is the path of the rule in errors.
func (r Rule) Valid(at configstore.RecordPath) (Rule, error) {
	r.normalise()
	return r, r.check(at)
}

func (s *Service) create(c *api.Call, t tried) (Saved, error) {
	in := t.Rule
	if in.ID != 0 {
		return Saved{}, fault.Invalid("id", "must be left out or 0, because this operation never changes an existing rule; got %d", in.ID)
	}
	within, err := scopeOf(c)
	if err != nil {
		return Saved{}, err
	}
	if err := s.first(c); err != nil {
		return Saved{}, err
	}
	if err := s.add(c, &within, &in, create); err != nil {
		return Saved{}, err
	}
	if err := countToday(c.Tx, in.AccountID, c.Unix()); err != nil {
		return Saved{}, err
	}
	return t.saved(c, in)
}

// first prepares the account for rules.
func (s *Service) first(c *api.Call) error {
	if s.First == nil {
		return nil
	}
	return s.First(c.Tx, c.Who.AccountID, c.Who.PersonID, c.Now)
}

// add stores a new rule.
func (s *Service) add(c *api.Call, within *scope, r *Rule, action string) error {
	if r.FolderID == 0 {
		r.FolderID = rulefolder.First
	}
	r.ID = 0
	r.Stamps = Stamps{AccountID: c.Who.AccountID, CreatorID: c.Who.PersonID, CreatedAt: c.Unix()}
	r.normalise()
	if err := within.check(c, r, &Rule{}); err != nil {
		return err
	}
	for known := true; known; { // an account file may contain ids that the counter has not reached yet
		var err error
		r.ID, err = nextID(c.Tx, r.AccountID)
		if err != nil {
			return err
		}
		_, known, err = FindRule(c.Tx, r.AccountID, r.ID)
		if err != nil {
			return err
		}
	}
	return s.store(c, within, r, &Rule{}, action)
}

// replace stores another version of a rule.
func (s *Service) replace(c *api.Call, within *scope, r, before *Rule, action string) error {
	r.normalise()
	if err := within.check(c, r, before); err != nil {
		return err
	}
	if err := s.store(c, within, r, before, action); err != nil || s.Changed == nil {
		return err
	}
	return s.Changed(c.Tx, r.AccountID, r, action, c.Who.PersonID, c.Now)
}

// store stores a rule that was checked, with its history.
func (s *Service) store(c *api.Call, within *scope, r, before *Rule, action string) error {
	r.UpdatedAt = c.Unix()
	r.UpdaterID = c.Who.PersonID
	if err := r.put(c.Tx); err != nil {
		return err
	}
	if err := r.record(c, action); err != nil {
		return err
	}
	within.stored(r, before)
	c.Touched(configstore.AlertRule, r.ID, r.Name)
	return nil
}
