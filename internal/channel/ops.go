// Package channel keeps the channels, where alerts come together and are turned into incidents, and the
// rules that hold alerts back: silence rules, which keep an alert from becoming an incident for a time,
// and drop rules, which throw an event away.
//
// It must never show a private channel, or anything that belongs to it, to a caller outside its team.
package channel

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/channel/silence/rule/list",
			Allow:   []auth.Permission{auth.ChannelsRead},
			Effect:  api.Snapshot,
			Doc:     "The silence rules of a channel in the order in which they are evaluated.",
			Example: `{"channel_id": 1001}`,
			Do:      api.Do(silenceRuleList),
		},
		{
			Path:    "/channel/unsubscribe/rule/list",
			Effect:  api.Read,
			Doc:     "The drop rules of a channel in the order in which they are evaluated.",
			Example: `{"channel_id": 1001}`,
			Do:      api.Do(unsubscribeRuleList),
		},
	})
}

// channelRequest names the channel whose rules are asked for.
type channelRequest struct {
	ChannelID int64 `json:"channel_id" minimum:"1" doc:"The channel whose rules to list."`
}
