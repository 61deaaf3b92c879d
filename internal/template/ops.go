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

// Ops is the room's table of contents.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/template/create", Allow: mayManage, Effect: api.Write, Audit: "template:write:create",
			Doc:     "Creates a notification template.",
			Notes:   "Every text is read before it is stored: one that is not well formed is refused with its line. One that is well formed but fails on the sample incident is stored and named in warnings.",
			Example: `{"template_name": "Short", "team_id": 4291079133131, "sms": "{{.Severity}}: {{.Title}}"}`,
			Do:      api.Do(create),
		},
		{
			Path: "/template/update", Allow: mayManage, Effect: api.Write, Audit: "template:write:update",
			Doc:     "Puts new contents in place of a template's.",
			Notes:   "All of them: a text that is left out is empty afterwards, and stands for the preset's.",
			Example: `{"template_id": "69db2f72a0fe7db6448b1506", "template_name": "Short", "sms": "{{.Title}}"}`,
			Do:      api.Do(update),
		},
		{
			Path: "/template/info", Allow: mayRead, Effect: api.Read,
			Doc:     "Shows one template.",
			Notes:   "The id " + Preset + " is that of the preset, which every account has and nobody changes.",
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
			Doc:     "Deletes a template that nothing uses.",
			Example: `{"template_id": "69db2f72a0fe7db6448b1506", "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path: "/template/preview", Allow: mayRead, Effect: api.Read,
			Doc:     "Shows what a text would say of an incident that never was.",
			Example: `{"type": "sms", "content": "{{.Severity}}: {{.Title}}"}`,
			Do:      api.Do(preview),
		},
	})
}
