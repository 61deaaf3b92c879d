package schedule

import "tocsin/internal/api"

// InfosRequest asks for schedules by their identifiers.
type InfosRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids" maxItems:"1000" doc:"The schedules, at most 1000."`
}

func (r *Service) infos(c *api.Call, in InfosRequest) (api.Items[Schedule], error) {
	items := []Schedule{}
	for _, id := range distinct(in.ScheduleIDs) {
		s, err := find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return api.Items[Schedule]{}, err
		}
		if s == nil {
			continue
		}
		view, err := r.show(c, s)
		if err != nil {
			return api.Items[Schedule]{}, err
		}
		items = append(items, view)
	}
	return api.Items[Schedule]{Items: items}, nil
}

// distinct returns each identifier once, in the order of its first occurrence.
func distinct(ids []int64) []int64 {
	seen := make(map[int64]bool, len(ids))
	distinct := make([]int64, 0, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			distinct = append(distinct, id)
		}
	}
	return distinct
}
