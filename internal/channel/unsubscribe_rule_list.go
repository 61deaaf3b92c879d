package channel

import (
	"tocsin/internal/api"
	"tocsin/internal/db"
)

// unsubscribeRuleList answers /channel/unsubscribe/rule/list: every drop rule that is not deleted, by
// priority, then age, then id, which is the order in which they are tried.
func unsubscribeRuleList(c *api.Call, in channelRequest) (api.Items[DropRule], error) {
	if err := Readable(c.Tx, c.Who, in.ChannelID); err != nil {
		return api.Items[DropRule]{}, err
	}
	rules, err := db.All(c.Tx, scanDropRule, `SELECT `+ruleColumns+` FROM drop_rule`+ruleSelection, c.Who.AccountID, in.ChannelID)
	return api.Items[DropRule]{Items: rules}, err
}
