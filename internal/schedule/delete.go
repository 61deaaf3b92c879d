package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// DeleteRequest asks to delete schedules, or what that would do.
type DeleteRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids" minItems:"1" maxItems:"1000" doc:"The schedules, 1 to 1000."`
	api.DryRun
}

// toDelete returns the schedules of a request.
func toDelete(_ *api.Call, in DeleteRequest) (list []configstore.Target, err error) {
	for _, id := range in.ScheduleIDs {
		list = append(list, configstore.RefTo(configstore.Schedule, id))
	}
	return list, nil
}

// delete is /schedule/delete. An error rolls the transaction back, so that no schedule is deleted.
func (r *Service) delete(c *api.Call, in DeleteRequest) (api.Removal, error) {
	for _, id := range distinct(in.ScheduleIDs) {
		s, err := get(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return api.Removal{}, err
		}
		for i := range s.overrides {
			o := &s.overrides[i]
			if err := eraseOverride(c.Tx, c.Who.AccountID, o.OverrideID); err != nil {
				return api.Removal{}, err
			}
			c.Removed(configstore.Override, o.OverrideID, o.called())
		}
		if err := eraseCovers(c.Tx, c.Who.AccountID, id); err != nil {
			return api.Removal{}, err
		}
		if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, configstore.Schedule, id); err != nil {
			return api.Removal{}, err
		}
		if err := Erase(c.Tx, c.Who.AccountID, id); err != nil {
			return api.Removal{}, err
		}
		c.Removed(configstore.Schedule, id, s.Name)
	}
	return api.Removal{}, nil
}

// Erase deletes a schedule with its references, whether or not it exists. Its overrides stay: an account file has them in
// a section of their own.
func Erase(tx *db.Tx, account, schedule int64) error {
	if err := tx.Do(`DELETE FROM schedule WHERE account_id = $1 AND schedule_id = $2`, account, schedule); err != nil {
		return err
	}
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Schedule, schedule)
}
