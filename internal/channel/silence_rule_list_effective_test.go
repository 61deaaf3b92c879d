package channel_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

// TestSilenceListEffective lists what is in force in all channels: not what is disabled, over or to come, and what is in a
// private channel for those alone who may read it.
func TestSilenceListEffective(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.ChannelsRead)
	now := apitest.Now.Unix()
	s.Write(func(tx *db.Tx) error {
		once := func(r channel.Rule, from, until int64) channel.SilenceRule {
			return channel.SilenceRule{Rule: r, Filters: info, TimeFilter: &channel.OnceTimeFilter{StartTime: now + from, EndTime: now + until}}
		}
		disabled := once(rule(open, "69b3c426b4a6f5abf1f54874", 0, 1), -1, 60)
		disabled.Status = "disabled"
		recurring := channel.SilenceRule{Rule: rule(empty, "69b3c426b4a6f5abf1f54875", 0, 1), Filters: info, TimeFilters: []channel.TimeFilter{{Start: "11:00", End: "13:00"}}}
		return channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{
			once(rule(open, "69b3c426b4a6f5abf1f54871", 0, 1), 0, 7200), once(rule(open, "69b3c426b4a6f5abf1f54872", 0, 1), -60, 0),
			once(rule(open, "69b3c426b4a6f5abf1f54873", 0, 1), 3000, 3060), disabled, recurring,
			once(rule(private, "69b3c426b4a6f5abf1f54876", 0, 1), 0, 60),
		})
	})
	const path = "/channel/silence/rule/list-effective"
	s.Converse(t, []apitest.Turn{
		{Path: path, Body: `{}`, Golden: "channel_silence_rule_list-effective"},
		{Path: path, Body: `{"limit": 1, "p": 2}`, Has: `{"items": [{"rule_name": "Rule 5", "channel_name": "Quiet", "until": 1776056400}], "total": 3, "has_next_page": true}`},
		{Path: path, Body: `{"limit": 10, "p": 9}`, Data: `{"items": [], "total": 3, "has_next_page": false}`},
		{Path: path, Key: apitest.KeyReader, Body: `{}`, Has: `{"total": 3}`},
		{Path: path, Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Channels Read (on-call)"}},
		{Path: path, Key: apitest.KeyB, Body: `{}`, Data: `{"items": [], "total": 0, "has_next_page": false}`},
		{Path: path, Body: `{"limit": 101}`, Code: "InvalidParameter", Says: []string{"limit"}},
	})
	s.Exec(`DELETE FROM team_person WHERE account_id = $1`, apitest.AccountA)
	s.Converse(t, []apitest.Turn{{Path: path, Key: apitest.KeyReader, Body: `{}`, Has: `{"total": 2}`}})
}
