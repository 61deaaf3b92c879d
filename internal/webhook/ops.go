package webhook

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
)

// Ops are the operations of the room.
func (r *Room) Ops() []api.Op {
	return []api.Op{{
		Path: "/webhook/history/list", Allow: []auth.Permission{auth.IntegrationsRead}, Effect: api.Snapshot,
		Doc:     "Lists the attempts to deliver webhooks in a window of time, newest first, page by page.",
		Example: `{"limit": 20, "start_time": 1776009600000, "end_time": 1776096000000, "status": "failed"}`,
		Do:      api.Do(r.historyList),
	}}
}
