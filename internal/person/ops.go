package person

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations on persons of a program that announces no change of an address and names persons nowhere.
func Ops() []api.Op { return Announce(nil).ops(nil) }

// ops returns the operations on persons.
func (a Announce) ops(release []Release) []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/person/infos",
			Effect: api.Read,
			Doc:    "Reads up to 1,000 persons at once.",
			Notes: "Items come in the order of the request, each once. Unknown ids are left out. The account's " +
				"own id is answered with the account's record.",
			Example: `{"person_ids": [3846027200131, 3846027201131]}`,
			Do:      api.Do(infos),
		},
		{
			Path:    "/account/info",
			Effect:  api.Read,
			Doc:     "Shows the account of the key.",
			Example: `{}`,
			Do:      api.Do(accountInfo),
		},
		{
			Path:    "/account/update",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "account:write:update",
			Doc:     "Changes the members of the account that are sent, and shows it.",
			Notes:   "The owner is changed by an account file (tocsin import --replace, tocsin apply).",
			Example: `{"account_name": "Acme", "time_zone": "Europe/Berlin"}`,
			Moves:   api.ObjectsOf(accountMoves),
			Do:      api.Do(accountUpdate),
		},
		{
			Path:    "/member/info",
			Effect:  api.Snapshot,
			Doc:     "Shows whose key it is, and the account.",
			Example: `{}`,
			Do:      api.Do(memberInfo),
		},
		{
			Path:    "/member/list",
			Effect:  api.Snapshot,
			Doc:     "Lists the persons of the account page by page, newest first, pending ones too.",
			Example: `{"p": 1, "limit": 20, "query": "maya"}`,
			Do:      api.Do(memberList),
		},
		{
			Path:   "/member/invite",
			Errors: api.Missing("role"),
			Allow:  manage,
			Effect: api.Write,
			Audit:  "member:write:invite",
			Doc:    "Adds persons, who are pending until they sign in or get an app key.",
			Danger: true,
			Notes: "A person with an e-mail address is sent a link to sign in, if the server has a mail server and knows its public address. " +
				"The reply has such a link too, for handing over. A pending person may be on call and is notified like any other. " +
				beyond,
			Example: `{"members": [{"member_name": "Charlie", "email": "charlie@example.com", "time_zone": "Europe/Berlin"}]}`,
			Do:      api.Do(memberInvite),
		},
		{
			Path:   "/member/delete",
			Errors: api.Missing("person").And(api.Referenced),
			Allow:  manage,
			Effect: api.Write,
			Audit:  "member:write:delete",
			Danger: true,
			Doc:    "Deletes a person with their keys, sessions, roles and memberships.",
			Notes: "Rejected while a schedule or a rule names the person, unless is_force is set: then the person is removed from them first, " +
				"by a caller who may change each of them. Overrides of the person's shifts and by the person are deleted, and so are layers that " +
				"have ended and name no one else. Still rejected is what would leave a role of a turn, a step or on_nobody without a " +
				"person. With dry_run the reply lists all that would be changed and deleted. The account's owner cannot be deleted. " +
				"A team that escalation rules page and that is empty then is named in warnings, with the rules.",
			Example: `{"member_id": 3846027201131, "dry_run": true}`,
			Moves:   api.ObjectsOf(memberMoves),
			Do:      api.Do(releases(release).memberDelete),
		},
		{
			Path:     "/member/info/reset",
			Errors:   api.Missing("person"),
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "member:write:update",
			Doc:      "Changes the members of a person that are sent: of the caller, or with Members Manage (org) of any person.",
			Notes: "The members that change are in updates, and the person is named beside it, by id, name, address, number or ref_id; " +
				"or they are beside member_id, without updates. " +
				"The e-mail address and phone number of the account's owner are changed by the owner alone, with a key that is not narrowed. " +
				"The e-mail address of another person is changed by callers who have all permissions of that person. " +
				"A change of the address ends its proof and the person's links to sign in; the old address and the account's owner are notified.",
			Example: `{"member_id": 3846027200131, "updates": {"locale": "en-US"}}`,
			Do:      api.Do(a.memberReset),
		},
		{
			Path:    "/member/role/grant",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "member:write:grant",
			Doc:     "Grants roles to a person.",
			Notes:   beyond,
			Example: roles,
			Do:      api.Do(memberRoleGrant),
		},
		{
			Path:    "/member/role/revoke",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "member:write:revoke",
			Doc:     "Revokes roles of a person.",
			Notes:   beyond,
			Example: roles,
			Do:      api.Do(memberRoleRevoke),
		},
		{
			Path:    "/member/role/update",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "member:write:roles",
			Doc:     "Replaces the roles of a person.",
			Notes:   beyond,
			Example: roles,
			Do:      api.Do(memberRoleUpdate),
		},
		{
			Path:     "/person/app-key/create",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "app_key:write:create",
			Danger:   true,
			Doc:      "Creates an app key and shows it, once.",
			Notes: "A key never has more permissions than its person or than the key that creates it, " +
				"and never expires later than that key. " + within,
			Example: `{"key_name": "ci", "permissions": ["Schedules Read (on-call)"]}`,
			Do:      api.Do(keyCreate),
		},
		{
			Path:     "/person/app-key/list",
			Narrowed: []auth.Permission{auth.MembersRead},
			Effect:   api.Snapshot,
			Doc:      "Lists a person's app keys page by page, newest first, without the keys themselves.",
			Example:  `{"p": 1, "limit": 20}`,
			Do:       api.Do(keyList),
		},
		{
			Path:     "/person/app-key/enable",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "app_key:write:enable",
			Doc:      "Enables an app key.",
			Notes:    within + " A key that expires cannot enable a key that expires later.",
			Example:  key,
			Do:       api.Do(setKeyStatus(auth.KeyEnabled)),
		},
		{
			Path:     "/person/app-key/disable",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "app_key:write:disable",
			Doc:      "Disables an app key, within a second.",
			Notes:    within,
			Example:  key,
			Do:       api.Do(setKeyStatus(auth.KeyDisabled)),
		},
		{
			Path:     "/person/app-key/delete",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "app_key:write:delete",
			Danger:   true,
			Doc:      "Deletes an app key, within a second.",
			Notes:    within,
			Example:  key,
			Do:       api.Do(keyDelete),
		},
		{
			Path:     "/person/app-key/name/reset",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "app_key:write:update",
			Doc:      "Renames an app key.",
			Notes:    within,
			Example:  `{"key_id": 3846027480131, "key_name": "deploy"}`,
			Do:       api.Do(keyNameReset),
		},
	})
}

var manage = []auth.Permission{auth.MembersManage}

// Examples and notes that several operations share.
const (
	beyond = "A key cannot grant or revoke permissions that it does not have itself."
	within = "A narrowed key acts only on narrowed keys whose permissions it has itself."
	roles  = `{"member_id": 3846027201131, "role_ids": [1]}`
	key    = `{"key_id": 3846027480131}`
)
