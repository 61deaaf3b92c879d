// Package audit keeps the account's audit log: every write, with who, when, from where and with what.
// Entries come from the frame, in the transaction of the write itself; this package must never change one
// that is written, nor hold a secret. Entries go by age alone.
package audit

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service is the audit log's room. Make one with New.
type Service struct {
	cursorKey  []byte
	operations []Operation
	hidden     func(*db.Tx, auth.Principal) ([]int64, error)
}

// New makes the room. The key authenticates the cursors it hands out and should outlive the process.
// operations are those of the server that are recorded. hidden lists the channels that a caller may not read.
func New(cursorKey []byte, operations []Operation, hidden func(*db.Tx, auth.Principal) ([]int64, error)) *Service {
	return &Service{cursorKey, operations, hidden}
}

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/audit/search",
			Allow:   []auth.Permission{auth.AuditRead},
			Effect:  api.Snapshot,
			Doc:     "The writes of the account in a window of time, newest first, page by page.",
			Notes:   "Writes that were refused are among them, with the error code in params. To walk the list, send the same request with search_after_ctx from the reply until it comes back empty; only limit may change on the way. resource_kind and resource_id find what was done to one object; a write that was refused changed nothing and is not among it. Of writes about a private channel that the caller may not read, body and resources are left out; so is the body of a refused write of which the channel is not known.",
			Example: `{"start_time": 1776009600, "end_time": 1776096000, "limit": 20, "operations": ["schedule:write:create", "schedule:write:delete"]}`,
			Do:      api.Do(r.search),
		},
		{
			Path:    "/audit/operation/list",
			Allow:   []auth.Permission{auth.AuditRead},
			Effect:  api.Read,
			Doc:     "The operations that are recorded in the audit log, for use as a filter.",
			Example: `{}`,
			Do:      api.Do(r.operationList),
		},
	})
}
