// Package incident keeps the incidents that alerts are merged into, and who has been responsible for
// them.
//
// It must never show an incident of a private channel to a caller outside the channel's team.
package incident

import (
	"embed"

	"tocsin/internal/api"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/incident/war-room/default-observers",
			Effect:  api.Read,
			Doc:     "The persons who were once responsible for an incident and no longer are, whom a war room invites to observe.",
			Notes:   "In the order of their first assignment. Persons who have left the account are not among them.",
			Example: `{"incident_id": "663a1b2c3d4e5f6789abcdf0"}`,
			Do:      api.Do(warRoomDefaultObservers),
		},
	})
}
