package channel_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

func TestUnsubscribeRuleList(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Write(func(tx *db.Tx) error {
		first := rule(open, "69bcc530b9e63df36603e421", 0, 1773978928)
		disabled := rule(open, "69bcc530b9e63df36603e423", 3, 20)
		gone := rule(open, "69bcc530b9e63df36603e424", 0, 1)
		special := filter.Filter{{{Key: "data_source_id", Oper: "IN", Vals: []string{"6113996590131"}}, {Key: "labels.env", Oper: "NOTIN", Vals: []string{"prod*", "/^eu-/"}}}, info[0]}
		disabled.Status, gone.Status = "disabled", "deleted"
		return channel.Drops.Load(tx, nil, apitest.AccountA, []channel.DropRule{
			{Rule: rule(open, "69bcc530b9e63df36603e422", 3, 20), Filters: info}, {Rule: disabled, Filters: info}, {Rule: rule(open, "69bcc530b9e63df36603e425", 3, 10), Filters: info},
			{Rule: gone, Filters: info}, {Rule: first, Filters: special}, {Rule: rule(private, "69bcc530b9e63df36603e426", 0, 1), Filters: info}})
	})
	s.Scenarios(t, "/channel/unsubscribe/rule/list", []apitest.Scenario{
		{Name: "in order", Body: `{"channel_id": 1001}`, Golden: "channel_unsubscribe_rule_list"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: `{"channel_id": 1001}`},
		{Name: "no key", Key: "unknown", Body: `{"channel_id": 1001}`, Code: "Unauthorized"},
		{Name: "private, the owner", Body: `{"channel_id": 1002}`},
		{Name: "private, in the team", Key: apitest.KeyReader, Body: `{"channel_id": 1002}`},
		{Name: "private, outside the team", Key: apitest.KeyNothing, Body: `{"channel_id": 1002}`, Code: "AccessDenied", Says: []string{"private"}},
		{Name: "a channel without rules", Body: `{"channel_id": 1003}`, Data: `{"items": []}`},
		{Name: "unknown channel", Body: `{"channel_id": 999}`, Code: "ResourceNotFound", Says: []string{"channel 999"}},
		{Name: "another account's channel", Key: apitest.KeyB, Body: `{"channel_id": 1001}`, Code: "ResourceNotFound"},
		{Name: "negative", Body: `{"channel_id": -1}`, Code: "InvalidParameter", Says: []string{"channel_id", "got -1"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"channel_id", "required"}},
		{Name: "malformed", Body: `{"channel_id": 1001`, Code: "InvalidParameter"},
	})
}
