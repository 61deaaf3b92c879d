package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fault"
)

func (s *Service) update(c *api.Call, in Rule) (Rule, error) {
	if in.ID == 0 {
		return Rule{}, fault.Invalid("id", "is required")
	}
	before, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return Rule{}, err
	}
	datasources, err := datasource.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return Rule{}, err
	}
	in.Stamps = before.Stamps
	if in.FolderID == 0 {
		in.FolderID = before.FolderID
	}
	if in.Enabled == nil {
		in.Enabled = before.Enabled
	}
	if err := s.examine(c, &in, before, datasources); err != nil {
		return Rule{}, err
	}
	if err := s.store(c, &in, before, update, datasources); err != nil {
		return Rule{}, err
	}
	if in.FolderID != before.FolderID {
		if err := checkCounts(c.Tx, in.AccountID, in.FolderID); err != nil {
			return Rule{}, err
		}
	}
	return in.named(c.Tx)
}
