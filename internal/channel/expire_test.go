package channel_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

func TestExpire(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	rule := func(id string, auto bool, end int64) channel.SilenceRule {
		return channel.SilenceRule{Rule: channel.Rule{RuleID: id, ChannelID: 1001, RuleName: "r"}, Filters: filter.Filter{{{Key: "severity", Oper: filter.In, Vals: []string{"Info"}}}},
			IsAutoDelete: auto, TimeFilter: &channel.OnceTimeFilter{StartTime: 1, EndTime: end}}
	}
	now := apitest.Now.Unix()
	left := []string{}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "c"}}); err != nil {
			return err
		}
		if err := channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{rule("5e5e5e5e5e5e5e5e5e5e5e01", true, now), rule("5e5e5e5e5e5e5e5e5e5e5e02", true, now+1), rule("5e5e5e5e5e5e5e5e5e5e5e03", false, now-9)}); err != nil {
			return err
		}
		if err := channel.Expire(tx, apitest.AccountA, apitest.Now); err != nil {
			return err
		}
		rules, err := channel.Silences.All(tx, apitest.AccountA)
		for _, r := range rules {
			left = append(left, r.RuleID[22:])
		}
		return err
	})
	if len(left) != 2 || left[0] != "02" || left[1] != "03" {
		t.Errorf("left are %v", left)
	}
}
