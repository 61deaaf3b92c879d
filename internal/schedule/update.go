package schedule

import "tocsin/internal/api"

type updateRequest struct {
	ScheduleID int64 `json:"schedule_id" doc:"The schedule to change."`
	Body
	Window
}

func (r *Room) update(c *api.Call, in updateRequest) (Changed, error) {
	if _, err := in.asked(maxWindow); err != nil {
		return Changed{}, err
	}
	body, err := in.settle("")
	if err != nil {
		return Changed{}, err
	}
	s, err := get(c.Tx, c.Who.AccountID, in.ScheduleID)
	if err != nil {
		return Changed{}, err
	}
	if body.Notify, err = body.Notify.sealed(r.Box, s.Stamps); err != nil {
		return Changed{}, err
	}
	body.onto(s)
	s.UpdateAt, s.UpdateBy = c.Unix(), c.Who.PersonID
	if err := s.update(c.Tx); err != nil {
		return Changed{}, err
	}
	warnings, err := s.warnings(c.Tx, c.Who.Zone)
	return Changed{warnings}, err
}
