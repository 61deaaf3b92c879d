// Package alert keeps the alerts that incoming events are merged into.
//
// It must never show an alert of a private channel to a caller outside the channel's team.
package alert

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
			Path:    "/alert/info",
			Allow:   []auth.Permission{auth.ChannelsRead},
			Effect:  api.Read,
			Doc:     "One alert in full, with the incident it was merged into.",
			Example: `{"alert_id": "663a1b2c3d4e5f6789abcdef"}`,
			Do:      api.Do(info),
		},
	})
}
