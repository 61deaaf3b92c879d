package rum

import (
	"embed"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var mayManage = []auth.Permission{auth.ApplicationsManage}

// Service holds the RUM operations and their dependencies.
type Service struct {
	DB      *db.DB // of exports, which read page by page
	keyring *secret.Keyring
	changed Changed
}

// Changed is called in the transaction in which a person changed the status of an issue.
type Changed func(tx *db.Tx, account int64, issue *Issue, now time.Time) error

// New returns the RUM operations, which seal and open client tokens with keyring. changed may be nil.
func New(d *db.DB, keyring *secret.Keyring, changed Changed) *Service {
	return &Service{d, keyring, changed}
}

// Ops returns the operations of this package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:    "/rum/application/infos",
			Effect:  api.Snapshot,
			Doc:     "Several RUM applications at once, in the order of the request.",
			Notes:   "Unknown ids are left out, an id that occurs twice is returned once.",
			Example: `{"application_ids": ["bGf7Kx3QmZr9TnWdYc5HpJ", "WoyQQ3BohkdtPivubEvE8o"]}`,
			Do:      api.Do(r.applicationInfos),
		},
		{
			Path:    "/rum/issue/info",
			Errors:  api.Private,
			Effect:  api.Read,
			Doc:     "One issue: errors of an application that have the same cause.",
			Example: `{"issue_id": "Hq5TzWn8cRk3XvYb6LdMpG"}`,
			Do:      api.Do(r.issueInfo),
		},
		{
			Path:    "/rum/issue/sample/list",
			Errors:  api.Private,
			Effect:  api.Read,
			Doc:     "The newest errors of an issue as browsers reported them, newest first.",
			Notes:   "Of each issue the 20 newest errors are kept. The texts come from outside and may hold anything.",
			Example: `{"issue_id": "Hq5TzWn8cRk3XvYb6LdMpG", "limit": 1}`,
			Do:      api.Do(r.issueSampleList),
		},
		{
			Path:   "/rum/issue/days",
			Errors: api.Private,
			Effect: api.Snapshot,
			Doc:    "How often an issue occurred on each of the last days, and how many users it affected.",
			Notes: "An error counts on the day on which it arrived. Users are those that the page names, by id or else by e-mail " +
				"address; of errors without either, sessions are all that is known. More than 255 users are an estimate, off by more than " +
				"13 percent once in twenty times. Days before the last 90 are deleted.",
			Example: `{"issue_id": "Hq5TzWn8cRk3XvYb6LdMpG", "days": 2}`,
			Do:      api.Do(r.issueDays),
		},
		{
			Path:   "/rum/application/create",
			Errors: api.NeverMissing,
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "application:write:create",
			Doc:    "Creates a RUM application and returns the client token that its SDK sends.",
			Notes: "A team or channel that does not exist is refused. alerting.integration_id is not used: the integration is the " +
				"system's own. Tracing may be sent as tracing or as the service.",
			Example: `{"application_name": "Web shop", "type": "browser", "team_id": 3846027250131, "is_private": false, ` +
				`"tracing": {"enabled": true, "open_type": "popup", "endpoint": "https://traces.example.com/${trace_id}"}}`,
			Do: api.Do(r.applicationCreate),
		},
		{
			Path:   "/rum/application/update",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "application:write:update",
			Doc:    "Changes the members of a RUM application that are sent; the others keep their values.",
			Notes: "This applies within alerting and tracing too; a list of channels or origins is replaced as a whole. An application " +
				"that is disabled takes no errors.",
			Example: `{"application_id": "bGf7Kx3QmZr9TnWdYc5HpJ", "application_name": "Shop", ` +
				`"alerting": {"enabled": true, "channel_ids": [1001]}}`,
			Do: api.Do(r.applicationUpdate),
		},
		{
			Path:   "/rum/application/token/rotate",
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "application:write:rotate",
			Danger: true,
			Doc:    "Replaces the client token of a RUM application.",
			Notes: "The old token works for grace_seconds more, so that pages that are open, and those that caches still deliver, go on " +
				"reporting. A token of an earlier rotation ends at once.",
			Example: `{"application_id": "bGf7Kx3QmZr9TnWdYc5HpJ", "grace_seconds": 86400}`,
			Do:      api.Do(r.rotate),
		},
		{
			Path:   "/rum/application/delete",
			Errors: api.Referenced,
			Allow:  mayManage,
			Effect: api.Write,
			Audit:  "application:write:delete",
			Danger: true,
			Doc:    "Deletes a RUM application that nothing refers to.",
			Notes: "It is no longer returned and its client token is void at once. Its issues stay. With dry_run nothing is " +
				"deleted, and the reply states whether it could be.",
			Example: `{"application_id": "bGf7Kx3QmZr9TnWdYc5HpJ"}`,
			Do:      api.Do(r.applicationDelete),
		},
		{
			Path: "/rum/application/info", Effect: api.Read,
			Errors:  api.Private,
			Doc:     "One RUM application.",
			Example: `{"application_id": "bGf7Kx3QmZr9TnWdYc5HpJ"}`,
			Do:      api.Do(r.applicationInfo),
		},
		{
			Path: "/rum/application/list", Effect: api.Snapshot,
			Doc:     "RUM applications page by page, newest first.",
			Notes:   "Applications with the same time are sorted by application_id, in the same direction.",
			Example: `{"p": 1, "limit": 20, "query": "shop", "orderby": "updated_at"}`,
			Do:      api.Do(r.applicationList),
		},
		{
			Path:   "/rum/issue/list",
			Effect: api.Snapshot,
			Doc:    "Issues in a window of time, page by page.",
			Notes: "An issue is in the window if it first occurred in it or, with by_intersection, if it was seen after the window's " +
				"start and first occurred before its end. Issues that sort alike are sorted by issue_id, in the same direction. " +
				"dql and sql are refused: errors cannot be searched by their own fields.",
			Example: `{"start_time": 1772611200000, "end_time": 1775961914595, "application_ids": ["bGf7Kx3QmZr9TnWdYc5HpJ"], ` +
				`"statuses": ["for_review"], "orderby": "updated_at"}`,
			Do: api.Do(r.issueList),
		},
		{
			Path:   "/rum/issue/export",
			Effect: api.Write,
			Rate:   ratelimit.Rate{PerSecond: 1, PerMinute: 10},
			Audit:  "issue:write:export",
			Doc:    "Writes the issues of /rum/issue/list to a file, newest first.",
			Notes: "The reply is a CSV file in UTF-8 with a header, and no envelope; objects and lists are JSON. " +
				"A cell that a spreadsheet would compute begins with an apostrophe.",
			Example: `{"start_time": 1772611200000, "end_time": 1775961914595, "statuses": ["for_review"]}`,
			Do:      api.Do(r.issueExport),
		},
		{
			Path:   "/rum/issue/update",
			Errors: api.Private,
			Effect: api.Write,
			Audit:  "issue:write:update",
			Doc:    "Changes the status of an issue, or its suspected cause.",
			Notes: "Resolving an issue sets resolved_at and resolved_by; any other status clears them. Setting the status that an " +
				"issue already has changes neither.",
			Example: `{"issue_id": "Hq5TzWn8cRk3XvYb6LdMpG", "status": "resolved"}`,
			Do:      api.Do(r.issueUpdate),
		},
	})
}
