package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/db"
)

// silenceRuleList answers /channel/silence/rule/list: every rule that is not deleted, by priority, then
// age, then id.
func silenceRuleList(c *api.Call, in channelRequest) (api.Items[SilenceRule], error) {
	if err := Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return api.Items[SilenceRule]{}, err
	}
	rules, err := db.All(c.Tx, scanSilenceRule, `SELECT `+silenceColumns+` FROM silence_rule`+ruleSelection, c.Who.AccountID, in.ChannelID)
	for i, r := range rules {
		effective := Effective(r, c.Now, c.Who.Zone)
		rules[i].IsEffective = &effective
	}
	return api.Items[SilenceRule]{Items: rules}, err
}
