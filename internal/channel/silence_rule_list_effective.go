package channel

import (
	"cmp"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/calendar"
)

// EffectiveSilence is a silence rule that is in force.
type EffectiveSilence struct {
	ChannelID         int64  `json:"channel_id" doc:"The channel it belongs to."`
	ChannelName       string `json:"channel_name" doc:"The channel's name."`
	RuleID            string `json:"rule_id" doc:"The rule."`
	RuleName          string `json:"rule_name" doc:"Its name."`
	IsDirectlyDiscard bool   `json:"is_directly_discard" doc:"Matching alerts leave no record."`
	Until             int64  `json:"until" doc:"Unix seconds; when its window ends, or at most 25 hours ahead for one that recurs."`
	UpdatedBy         int64  `json:"updated_by" doc:"The person who changed it last."`
}

// EffectiveRequest asks for the silence rules that are in force.
type EffectiveRequest struct{ api.Page }

// Check holds the request against its bounds.
func (in EffectiveRequest) Check() error { return in.Page.Check() }

// listEffectiveSilences lists the silence rules of all channels that are in force at the time of the call. The rules of
// private channels are listed for those who may read these.
func listEffectiveSilences(c *api.Call, in EffectiveRequest) (reply api.Paged[EffectiveSilence], err error) {
	hidden, err := Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	rules, err := Silences.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return reply, err
	}
	all := []EffectiveSilence{}
	for _, r := range rules {
		if r.Status != "enabled" || slices.Contains(hidden, r.ChannelID) {
			continue
		}
		days, err := calendar.Load(c.Tx, c.Who.AccountID, calendarsOf(r.TimeFilters))
		if err != nil {
			return reply, err
		}
		in, until := holds(r, c.Who.Zone, days)(c.Unix())
		if !in {
			continue
		}
		ch, found, err := Find(c.Tx, c.Who.AccountID, r.ChannelID)
		if err != nil {
			return reply, err
		}
		if found {
			all = append(all, EffectiveSilence{r.ChannelID, ch.ChannelName, r.RuleID, r.RuleName, r.IsDirectlyDiscard, until, r.UpdatedBy})
		}
	}
	slices.SortFunc(all, func(a, b EffectiveSilence) int {
		return cmp.Or(cmp.Compare(a.Until, b.Until), cmp.Compare(a.RuleID, b.RuleID))
	})
	limit, offset := in.Window(20)
	from := min(offset, int64(len(all)))
	return api.NewPaged(all[from:min(from+limit, int64(len(all)))], offset, int64(len(all))), nil
}
