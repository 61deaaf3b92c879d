package template

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var (
	mayRead   = []auth.Permission{auth.TemplatesRead}
	mayManage = []auth.Permission{auth.TemplatesManage}
)

// Ops returns the operations of the package.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/template/create", Allow: mayManage, Effect: api.Write, Audit: "template:write:create",
			Doc: "Creates a notification template.",
			Notes: "Every text is checked before it is stored. A malformed text is rejected with its line." +
				" A text that is well formed but fails on the sample incident is stored and named in warnings." +
				" All texts of a call together may take as much work as one message, and those after it are not rendered.",
			Example: `{"template_name": "Short", "team_id": 3846027250131, "sms": "{{.Severity}}: {{.Title}}"}`,
			Do:      api.DoComputed(examine, create),
		},
		{
			Path: "/template/update", Allow: mayManage, Effect: api.Write, Audit: "template:write:update",
			Doc:     "Replaces the contents of a template.",
			Notes:   "All contents: a text that is left out becomes empty, and the preset's is used.",
			Example: `{"template_id": "67a1c0de0000000700000001", "template_name": "Title alone", "sms": "{{.Title}}"}`,
			Do:      api.DoComputed(examineUpdate, update),
		},
		{
			Path: "/template/info", Allow: mayRead, Effect: api.Read,
			Errors:  api.Missing("template"),
			Doc:     "Shows one template.",
			Notes:   "The ids " + Preset + " and " + PublicPreset + " are those of the preset, which every account has and which cannot be changed.",
			Example: `{"template_id": "000000000000000000000001"}`,
			Do:      api.Do(info),
		},
		{
			Path: "/template/list", Allow: []auth.Permission{auth.TemplatesRead, auth.TemplatesManage}, Effect: api.Snapshot,
			Doc:     "Lists the templates of the account page by page, newest first; the preset is not among them.",
			Example: `{"p": 1, "limit": 20, "query": "short"}`,
			Do:      api.Do(list),
		},
		{
			Path: "/template/delete", Allow: mayManage, Effect: api.Write, Audit: "template:write:delete", Danger: true,
			Errors:  api.Referenced,
			Doc:     "Deletes a template that nothing uses.",
			Example: `{"template_id": "67a1c0de0000000700000001", "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path: "/template/preview", Allow: mayRead, Effect: api.Snapshot,
			Doc:     "Renders a text with a made-up incident.",
			Example: `{"type": "sms", "content": "{{.Severity}}: {{.Title}}"}`,
			Do:      api.DoComputed(preview, shown),
		},
	})
}
