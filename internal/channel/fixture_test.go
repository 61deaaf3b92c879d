package channel_test

import (
	"context"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// The channels of every test: three of account A, one of them private to TeamA, and one of account B.
const open, private, foreign, empty = 1001, 1002, 2001, 1003

func start(t *testing.T) *apitest.Server {
	s := apitest.Start(t, channel.Ops(apitest.Box(t)))
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{
			{ChannelID: open, ChannelName: "Payments", TeamID: apitest.TeamA},
			{ChannelID: private, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true},
			{ChannelID: empty, ChannelName: "Quiet"},
		}); err != nil {
			return err
		}
		return channel.Load(tx, apitest.AccountB, []channel.Channel{{ChannelID: foreign, ChannelName: "Elsewhere"}})
	})
	return s
}

var info = filter.Filter{{{Key: "severity", Oper: "IN", Vals: []string{"Info"}}}}

func rule(channelID int64, id string, priority, createdAt int64) channel.Rule {
	return channel.Rule{ChannelID: channelID, RuleID: id, Priority: priority, CreatedAt: createdAt, UpdatedAt: createdAt,
		RuleName: "Rule " + id[23:], UpdatedBy: apitest.OwnerA}
}

// within runs fn in a transaction that is committed unless fn fails, and returns the error.
func within(d *db.DB, fn func(tx *db.Tx) error) error { return d.Write(context.Background(), fn) }
