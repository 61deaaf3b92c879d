// Package rum keeps what real-user monitoring knows: the applications that report errors, and the issues
// that their errors are grouped into. Its times are Unix milliseconds.
//
// It must never store a client token in clear, nor put one into a log or an error.
package rum

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/seal"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Room answers for RUM.
type Room struct{ box *seal.Box }

// New opens client tokens with box.
func New(box *seal.Box) *Room { return &Room{box} }

// Ops is the room's table of contents.
func (r *Room) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/rum/application/infos",
			Effect:  api.Read,
			Doc:     "Several RUM applications at once, in the order of the request.",
			Notes:   "Unknown ids are left out, an id that is given twice is answered once.",
			Example: `{"application_ids": ["eWbr4xk3ZRnLabRa6unqwD", "WoyQQ3BohkdtPivubEvE8o"]}`,
			Do:      api.Do(r.applicationInfos),
		},
		{
			Path:    "/rum/issue/info",
			Effect:  api.Read,
			Doc:     "One issue: errors of an application that have the same cause.",
			Example: `{"issue_id": "NHEacQHi2DhXqobr9qPQz9"}`,
			Do:      api.Do(r.issueInfo),
		},
	})
}
