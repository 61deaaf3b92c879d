package schedule

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// UsesRequest asks how many rules use schedules.
type UsesRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids" maxItems:"1000" doc:"The schedules, at most 1000."`
}

// Use is how much a schedule is used.
type Use struct {
	ScheduleID   int64  `json:"schedule_id" doc:"The schedule."`
	ScheduleName string `json:"schedule_name" doc:"Its name."`
	Rules        int64  `json:"rules" doc:"How many escalation rules name it, also disabled ones. With 0 no person is paged from it."`
}

// uses counts rules and does not name them: they may be in channels that the caller may not read.
func (r *Service) uses(c *api.Call, in UsesRequest) (api.Items[Use], error) {
	items := []Use{}
	for _, id := range distinct(in.ScheduleIDs) {
		s, err := find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return api.Items[Use]{}, err
		}
		if s == nil {
			continue
		}
		rules, err := configstore.Sources(c.Tx, c.Who.AccountID, configstore.Schedule, id, configstore.Escalate)
		if err != nil {
			return api.Items[Use]{}, err
		}
		items = append(items, Use{id, s.Name, int64(len(rules))})
	}
	return api.Items[Use]{Items: items}, nil
}
