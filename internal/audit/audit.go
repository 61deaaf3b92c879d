package audit

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the operations of the audit log and their dependencies; New constructs it.
type Service struct {
	cursorKey  []byte
	operations []Operation
	hidden     func(*db.Tx, auth.Principal) ([]int64, error)
	private    Private
}

// Private returns a function that reports whether what a write was about is private to others, by the operation and the
// objects that it changed; a write that was refused has none.
type Private func(tx *db.Tx, who auth.Principal) (func(operation string, about []fault.Ref) (bool, error), error)

// New returns the service. cursorKey authenticates the cursors of pages and should outlive the process. operations are
// those of the server that are recorded. hidden returns the channels that a caller may not read, private what else.
func New(cursorKey []byte, operations []Operation, hidden func(*db.Tx, auth.Principal) ([]int64, error), private Private) *Service {
	return &Service{cursorKey, operations, hidden, private}
}

// Ops returns the table of operations.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/audit/search",
			Allow:  []auth.Permission{auth.AuditRead},
			Effect: api.Snapshot,
			Doc:    "The writes of the account in a window of time, newest first, page by page.",
			Notes: "Writes that were refused are included, with the error code in params. " +
				"To read the whole list, send the same request with search_after_ctx from the reply until it is empty; " +
				"only limit may change between pages. " +
				"resource_kind and resource_id find what was done to one object; " +
				"a write that was refused changed nothing and is not found that way. " +
				"For writes about a private channel or RUM application that the caller may not read, body and resources are left out. " +
				"The body of a refused write is left out as well for this caller if its channel, or its application, is not known.",
			Example: `{"start_time": 1776009600, "end_time": 1776096000, "limit": 20, ` +
				`"operations": ["schedule:write:create", "schedule:write:delete"]}`,
			Do: api.Do(r.search),
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
