package alertrule

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// DeleteRequest asks to delete a rule, or what that would do.
type DeleteRequest struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule."`
	api.DryRun
}

// delete answers /monit/rule/delete. The id is never used again.
func (s *Service) delete(c *api.Call, in DeleteRequest) (api.Removal, error) {
	if err := s.remove(c, in.ID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, countToday(c.Tx, c.Who.AccountID, c.Unix())
}

// remove deletes a rule, with its history. The caller must be able to read the private channels that lose its alerts.
func (s *Service) remove(c *api.Call, id uint64) error {
	r, err := get(c.Tx, c.Who.AccountID, id)
	if err != nil {
		return err
	}
	if err := checkChannels(c, nil, r.ChannelIDs); err != nil {
		return err
	}
	if err := r.record(c, deleted); err != nil {
		return err
	}
	c.Removed(configstore.AlertRule, r.ID, r.Name)
	if err := Remove(c.Tx, r.AccountID, r.ID, c.Unix()); err != nil || s.Changed == nil {
		return err
	}
	return s.Changed(c.Tx, r.AccountID, &r, deleted, c.Who.PersonID, c.Now)
}

// BatchRequest asks to delete rules, or what that would do.
type BatchRequest struct {
	IDs []uint64 `json:"ids" minItems:"1" maxItems:"1000" doc:"The rules."`
	api.DryRun
}

// deleteBatch answers /monit/rule/delete/batch.
func (s *Service) deleteBatch(c *api.Call, in BatchRequest) (api.Removal, error) {
	slices.Sort(in.IDs)
	for _, id := range slices.Compact(in.IDs) {
		if err := s.remove(c, id); err != nil {
			return api.Removal{}, err
		}
	}
	return api.Removal{}, countToday(c.Tx, c.Who.AccountID, c.Unix())
}
