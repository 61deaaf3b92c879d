package alertrule

import (
	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

func (s *Service) update(c *api.Call, t tried) (Saved, error) {
	in := t.Rule
	if in.ID == 0 {
		return Saved{}, fault.Invalid("id", "is required")
	}
	before, err := get(c.Tx, c.Who.AccountID, in.ID)
	if err != nil {
		return Saved{}, err
	}
	within, err := scopeOf(c)
	if err != nil {
		return Saved{}, err
	}
	in.Stamps = before.Stamps
	if in.FolderID == 0 {
		in.FolderID = before.FolderID
	}
	if in.Enabled == nil {
		in.Enabled = before.Enabled
	}
	if err := s.replace(c, &within, &in, &before, update); err != nil {
		return Saved{}, err
	}
	return t.saved(c, in)
}
