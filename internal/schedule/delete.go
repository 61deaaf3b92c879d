package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/fault"
)

type deleteRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids" minItems:"1" maxItems:"1000" doc:"The schedules, 1 to 1000."`
}

func (r *Room) delete(c *api.Call, in deleteRequest) (api.Empty, error) {
	for _, id := range once(in.ScheduleIDs) {
		n, err := c.Tx.Exec(`DELETE FROM schedule WHERE account_id = $1 AND schedule_id = $2`, c.Who.AccountID, id)
		if err != nil {
			return api.Empty{}, err
		}
		if n == 0 {
			return api.Empty{}, fault.Missing("schedule", id) // and what was deleted before it is back
		}
	}
	return api.Empty{}, nil
}
