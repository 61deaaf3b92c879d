package channel

import (
	"embed"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package. keyring seals the secrets of escalation rules; detach removes a channel that
// is deleted from objects of packages above this one.
func Ops(keyring *secret.Keyring, detach ...Detach) []api.Op {
	return operations(keyring, nil, detach)
}

func operations(keyring *secret.Keyring, switched Switched, detach remover) []api.Op {
	return api.WithReplies(golden, slices.Concat(channelOps(switched, detach), silenceOps(), dropOps(), inhibitOps(), escalateOps(keyring)))
}

// Permissions of the operations. Reading a channel itself needs none: see Permit.
var (
	read   = []auth.Permission{auth.ChannelsRead}
	manage = []auth.Permission{auth.ChannelsManage}
)

func channelOps(switched Switched, detach remover) []api.Op {
	const one = `{"channel_id": 1001}`
	return []api.Op{
		{
			Path: "/channel/create", Allow: manage, Effect: api.Write, Audit: "channel:write:create",
			Errors: api.NeverMissing,
			Doc:    "Creates a channel, enabled.", Notes: suspicious,
			Example: `{"team_id": 3846027250131, "channel_name": "Payments", "description": "Everything about money",` +
				` "group": {"method": "p", "equals": [["labels.service"]], "time_window": 60}}`,
			Do: api.Do(create),
		},
		{
			Path: "/channel/update", Allow: manage, Effect: api.Write, Audit: "channel:write:update",
			Doc:     "Changes the fields of a channel that are sent and leaves the others alone.",
			Notes:   "group and flapping are replaced as a whole.",
			Example: `{"channel_id": 1001, "channel_name": "Payments (EU)"}`, Do: api.Do(update),
		},
		{
			Path: "/channel/info", Effect: api.Read,
			Errors: api.Private,
			Doc:    "Shows one channel.", Example: one, Do: api.Do(info),
		},
		{
			Path: "/channel/infos", Effect: api.Snapshot,
			Doc:     "Shows names of several channels.",
			Notes:   "In the order of the request, each once. Unknown ones, and private ones that the caller may not read, are left out.",
			Example: `{"channel_ids": [1001, 1002]}`, Do: api.Do(infos),
		},
		{
			Path: "/channel/list", Effect: api.Snapshot,
			Doc:     "Lists the channels that the caller may read, page by page.",
			Example: `{"p": 1, "limit": 20, "query": "pay"}`, Do: api.Do(list),
		},
		{
			Path: "/channel/enable", Allow: manage, Effect: api.Write, Audit: "channel:write:enable",
			Doc: "Lets a channel take alerts.", Example: one, Do: api.Do(switched.to("enabled")),
		},
		{
			Path: "/channel/disable", Allow: manage, Effect: api.Write, Audit: "channel:write:disable",
			Doc:     "Keeps a channel from notifying persons. Its alerts are kept; those still active open incidents when it is enabled.",
			Example: one, Do: api.Do(switched.to("disabled")),
		},
		{
			Path: "/channel/delete", Allow: manage, Effect: api.Write, Audit: "channel:write:delete", Danger: true,
			Errors: api.Referenced,
			Doc:    "Deletes a channel that is disabled and that nothing but routes refers to, with its rules.",
			Notes: "It is removed from the routes that name it, as a new version of each. A case that names no other channel is" +
				" deleted. The warnings name every changed route, and where its alerts go now.",
			Example: `{"channel_id": 1001, "dry_run": true}`, Do: api.Do(detach.remove),
		},
		{
			Path: "/channel/star", Effect: api.Write, Audit: "channel:write:star",
			Errors: api.Private,
			Doc:    "Marks a channel for the caller.", Example: one, Do: api.Do(star),
		},
		{
			Path: "/channel/unstar", Effect: api.Write, Audit: "channel:write:unstar",
			Errors: api.Private,
			Doc:    "Removes the caller's mark from a channel.", Example: one, Do: api.Do(unstar),
		},
	}
}
