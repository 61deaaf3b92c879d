package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/calendar"
	"tocsin/internal/db"
)

// silenceRuleList answers /channel/silence/rule/list: every rule that is not deleted, by priority, then
// age, then id.
func silenceRuleList(c *api.Call, in channelRequest) (api.Items[SilenceRule], error) {
	if err := Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return api.Items[SilenceRule]{}, err
	}
	rules, err := db.All(c.Tx, scanSilenceRule, `SELECT `+silenceColumns+` FROM silence_rule`+ruleSelection, c.Who.AccountID, in.ChannelID)
	if err != nil {
		return api.Items[SilenceRule]{}, err
	}
	var named []string
	for _, r := range rules {
		named = append(named, calendarsOf(r.TimeFilters)...)
	}
	calendars, err := calendar.Load(c.Tx, c.Who.AccountID, named)
	if err != nil {
		return api.Items[SilenceRule]{}, err
	}
	for i, r := range rules {
		effective := Effective(r, c.Now, c.Who.Zone, calendars)
		rules[i].IsEffective = &effective
	}
	return api.Items[SilenceRule]{Items: rules}, nil
}
