package statuspage

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var (
	managePages   = []auth.Permission{auth.StatusPagesManage}
	manageChanges = []auth.Permission{auth.StatusPageEventsManage}
)

// Ops returns the operations of this package.
func Ops() []api.Op {
	return api.WithReplies(golden, append(append(pageOps(), changeOps()...), timelineOps()...))
}

func pageOps() []api.Op {
	return []api.Op{
		{
			Path: "/status-page/create", Allow: managePages, Effect: api.Write, Audit: "status_page:write:create",
			Doc:   "Creates a status page.",
			Notes: "An account has at most 100. Sections and components without an id get one.",
			Example: `{"name": "Bergfink", "url_name": "bergfink-shop", "sections": [{"section_id": "shop", "name": "Shop"}],
				"components": [{"name": "Checkout", "section_id": "shop"}, {"name": "Search", "section_id": "shop"}]}`,
			Do: api.Do(pageCreate),
		},
		{
			Path: "/status-page/update", Allow: managePages, Effect: api.Write, Audit: "status_page:write:update",
			Doc: "Changes the members of a page that are sent; the others keep their values.",
			Notes: "The lists of sections and components replace the stored ones. One without an id keeps that of the stored one of the " +
				"same name. Changes that name a component which is gone keep its last name.",
			Example: `{"page_id": 3846027380131, "description": "How our systems are."}`,
			Do:      api.Do(pageUpdate),
		},
		{
			Path: "/status-page/delete", Allow: managePages, Effect: api.Write, Audit: "status_page:write:delete", Danger: true,
			Doc:     "Deletes a page with its changes.",
			Notes:   "With dry_run nothing is deleted, and the reply names the page and its open changes.",
			Example: `{"page_id": 3846027380131, "dry_run": true}`,
			Do:      api.Do(pageDelete),
		},
		{
			Path: "/status-page/info", Effect: api.Read, Get: true,
			Doc: "Shows one page.", Example: `{"page_id": 3846027380131}`, Do: api.Do(pageInfo),
		},
		{
			Path: "/status-page/list", Effect: api.Snapshot, Get: true,
			Doc: "Lists the pages of the account, oldest first.", Example: `{}`, Do: api.Do(pageList),
		},
	}
}

func changeOps() []api.Op {
	return []api.Op{
		{
			Path: "/status-page/change/create", Allow: manageChanges, Effect: api.Write, Audit: "status_page_change:write:create",
			Doc: "Creates an incident or a maintenance on a page.",
			Notes: "An open incident may have its statuses in any order; a maintenance goes from scheduled to ongoing to completed; what is " +
				"resolved or completed stays so, and all its components are operational. An account has at most 1,000 open changes, a change " +
				"at most 100 updates with 100,000 characters together.",
			Example: `{"page_id": 3846027380131, "type": "incident", "title": "Checkout is slow", "description": "Payments take longer than usual.",
				"status": "investigating", "updates": [{"status": "investigating", "description": "We are looking into it.",
				"component_changes": [{"component_id": "payment", "status": "degraded"}]}]}`,
			Do: api.Do(changeCreate),
		},
		{
			Path: "/status-page/change/update", Allow: manageChanges, Effect: api.Write, Audit: "status_page_change:write:update",
			Doc:     "Changes the members of a change that are sent; the others keep their values.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131, "title": "Checkout was slow"}`,
			Do:      api.Do(changeUpdate),
		},
		{
			Path: "/status-page/change/delete", Allow: manageChanges, Effect: api.Write, Audit: "status_page_change:write:delete", Danger: true,
			Doc:     "Deletes a change with its timeline.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131, "dry_run": true}`,
			Do:      api.Do(changeDelete),
		},
		{
			Path: "/status-page/change/info", Effect: api.Snapshot, Get: true,
			Doc:     "Shows one change with its timeline, oldest first.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131}`,
			Do:      api.Do(changeInfo),
		},
		{
			Path: "/status-page/change/list", Effect: api.Snapshot, Get: true,
			Doc:     "Lists the changes of a page, the latest start first.",
			Example: `{"page_id": 3846027380131, "type": "incident", "status": "resolved"}`,
			Do:      api.Do(changeList),
		},
		{
			Path: "/status-page/change/active/list", Effect: api.Snapshot, Get: true,
			Errors:  api.Missing("status page"),
			Doc:     "Lists the changes that are not resolved or completed.",
			Notes:   "First those that have begun, the latest first, then those to come, the next first.",
			Example: `{"page_id": 3846027380131}`,
			Do:      api.Do(activeList),
		},
	}
}

func timelineOps() []api.Op {
	return []api.Op{
		{
			Path: "/status-page/change/timeline/create", Allow: manageChanges, Effect: api.Write, Audit: "status_page_timeline:write:create",
			Doc:   "Adds an update to the timeline of a change.",
			Notes: "An update that resolves or completes the change must leave all its components operational.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131, "status": "resolved", "description": "The fix has held for a day.",
				"component_changes": [{"component_id": "basket", "status": "operational"}]}`,
			Do: api.Do(timelineCreate),
		},
		{
			Path: "/status-page/change/timeline/update", Allow: manageChanges, Effect: api.Write, Audit: "status_page_timeline:write:update",
			Doc:     "Changes the time or the text of an update.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131, "update_id": "u2", "description": "The fix holds."}`,
			Do:      api.Do(timelineUpdate),
		},
		{
			Path: "/status-page/change/timeline/delete", Allow: manageChanges, Effect: api.Write, Audit: "status_page_timeline:write:delete",
			Danger:  true,
			Doc:     "Deletes an update from the timeline of a change.",
			Notes:   "Without the update that ended it, a change is open again. The last update with a status cannot be deleted.",
			Example: `{"page_id": 3846027380131, "change_id": 3846027382131, "update_id": "u2"}`,
			Do:      api.Do(timelineDelete),
		},
	}
}
