package schedule

import (
	"cmp"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// gapDays is how many days the list of gaps looks ahead.
const gapDays = 14

// GapListRequest asks for the times at which no one is on call.
type GapListRequest struct{ api.Page }

// Check holds the request against its bounds.
func (in GapListRequest) Check() error { return in.Page.Check() }

// OpenGap is a time at which no one is on call in a schedule.
type OpenGap struct {
	ScheduleID   int64  `json:"schedule_id" doc:"The schedule."`
	ScheduleName string `json:"schedule_name" doc:"Its name."`
	Start        int64  `json:"start" doc:"When it begins, or the time of the call if it has begun, Unix seconds."`
	End          int64  `json:"end" doc:"When someone is on call again, Unix seconds; at most 90 days ahead."`
}

// gapsKey keys the gaps of an account's schedules from an hour on, which are computed once for each revision.
type gapsKey struct{ from int64 }

// gapList lists the gaps of the enabled schedules that something refers to: one that pages no one has no gap that matters.
func (r *Service) gapList(c *api.Call, in GapListRequest) (reply api.Paged[OpenGap], err error) {
	from := c.Unix() - c.Unix()%3600
	all, _, err := configstore.Kept(c.Tx, c.Who.AccountID, gapsKey{from}, func() ([]OpenGap, bool, error) {
		gaps, err := r.gaps(c, from)
		return gaps, true, err
	})
	if err != nil {
		return reply, err
	}
	var open []OpenGap
	for _, g := range all {
		g.Start = max(g.Start, c.Unix())
		if g.Start < g.End {
			open = append(open, g)
		}
	}
	limit, offset := in.Window(20)
	start := min(offset, int64(len(open)))
	page := append([]OpenGap{}, open[start:min(start+limit, int64(len(open)))]...)
	return api.NewPaged(page, offset, int64(len(open))), nil
}

// gaps returns the gaps of an account from a time on, the earliest first.
func (r *Service) gaps(c *api.Call, from int64) (all []OpenGap, err error) {
	schedules, err := Enabled(c.Tx, c.Who.AccountID)
	if err != nil {
		return nil, err
	}
	for _, id := range schedules {
		used, err := configstore.Sources(c.Tx, c.Who.AccountID, configstore.Schedule, strconv.FormatInt(id, 10), configstore.Escalate)
		if err != nil {
			return nil, err
		}
		if len(used) == 0 {
			continue
		}
		cover, _, err := Cover(c.Tx, c.Who.AccountID, id, nil, from, c.Who.Zone)
		if err != nil {
			return nil, err
		}
		for _, g := range cover.Gaps {
			if g.From < from+gapDays*86400 {
				all = append(all, OpenGap{id, cover.Name, g.From, g.Until})
			}
		}
	}
	slices.SortFunc(all, func(a, b OpenGap) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ScheduleID, b.ScheduleID))
	})
	return all, nil
}
