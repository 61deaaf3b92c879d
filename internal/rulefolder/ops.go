package rulefolder

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the operations on folders and their dependencies.
type Service struct {
	Rules func(tx *db.Tx, account int64) (map[int64]int64, error) // counts the rules in each folder
}

// Ops returns the operations on folders.
func (r *Service) Ops() []api.Op {
	manage := []auth.Permission{auth.AlertingRulesManage}
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/monit/folder/create", Allow: manage, Effect: api.Write, Audit: "rule_folder:write:create",
			Doc:     "Creates a folder of alert rules.",
			Notes:   "Folders are at most 5 deep, and an account has at most 1,000 of them.",
			Example: `{"folder_name": "Shop", "note": "Checkout and payment"}`,
			Do:      api.Do(create),
		},
		{
			Path: "/monit/folder/update", Allow: manage, Effect: api.Write, Audit: "rule_folder:write:update",
			Doc:     "Changes the members of a folder that are sent, and keeps the others.",
			Example: `{"folder_id": 1, "note": "What has no other place"}`,
			Do:      api.Do(update),
		},
		{
			Path: "/monit/folder/delete", Allow: manage, Effect: api.Write, Audit: "rule_folder:write:delete", Danger: true,
			Errors:  api.Referenced,
			Doc:     "Deletes a folder that is empty.",
			Notes:   "Folder 1 cannot be deleted: every account has it. With dry_run nothing is deleted, and the reply states whether it could be.",
			Example: `{"folder_id": 1, "dry_run": true}`,
			Do:      api.Do(remove),
		},
		{
			Path: "/monit/folder/list", Allow: []auth.Permission{auth.AlertingRulesRead}, Effect: api.Snapshot,
			Doc:     "Lists all folders of alert rules, each behind the folder that it is in.",
			Example: `{}`,
			Do:      api.Do(r.list),
		},
	})
}
