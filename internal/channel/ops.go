// Package channel keeps the channels, where alerts come together and are turned into incidents, and their
// rules: silence and inhibit rules, which keep an alert from becoming an incident, drop rules, which throw
// an event away, and escalation rules, which say who is told.
//
// It must never show a private channel, or anything that belongs to it, to a caller outside its teams.
package channel

import (
	"embed"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents; box seals what escalation rules hold of secrets. The operations on rules are told in rule_ops.go.
func Ops(keyring *secret.Keyring) []api.Op {
	return api.WithReplies(golden, slices.Concat(channelOps(), silenceOps(), dropOps(), inhibitOps(), escalateOps(keyring)))
}

// ruleKinds delete the rules of a channel, kind by kind.
var ruleKinds = []func(*db.Tx, int64, string) ([]fault.Ref, error){Silences.DeleteOf, Drops.DeleteOf, Inhibits.DeleteOf, Escalates.DeleteOf}

func channelOps() []api.Op {
	const one = `{"channel_id": 1001}`
	return []api.Op{
		{Path: "/channel/create", Allow: manage, Effect: api.Write, Audit: "channel:write:create", Doc: "Creates a channel, enabled.", Notes: suspicious,
			Example: `{"team_id": 4291079133131, "channel_name": "Payments", "description": "Everything about money", "group": {"method": "p", "equals": [["labels.service"]], "time_window": 60}}`, Do: api.Do(create)},
		{Path: "/channel/update", Allow: manage, Effect: api.Write, Audit: "channel:write:update", Doc: "Changes the fields of a channel that are sent and leaves the others alone.",
			Notes: "group and flapping are replaced as a whole.", Example: `{"channel_id": 1001, "channel_name": "Payments (EU)"}`, Do: api.Do(update)},
		{Path: "/channel/info", Effect: api.Snapshot, Doc: "Shows one channel.", Example: one, Do: api.Do(info)},
		{Path: "/channel/infos", Effect: api.Snapshot, Doc: "Shows names of several channels.", Notes: "In the order of the request, each once. Unknown ones, and private ones that the caller may not read, are left out.",
			Example: `{"channel_ids": [1001, 1002]}`, Do: api.Do(infos)},
		{Path: "/channel/list", Effect: api.Snapshot, Doc: "Lists the channels that the caller may read, page by page.", Example: `{"p": 1, "limit": 20, "query": "pay"}`, Do: api.Do(list)},
		{Path: "/channel/enable", Allow: manage, Effect: api.Write, Audit: "channel:write:enable", Doc: "Lets a channel take alerts.", Example: one, Do: api.Do(switched("enabled"))},
		{Path: "/channel/disable", Allow: manage, Effect: api.Write, Audit: "channel:write:disable", Doc: "Keeps a channel from taking alerts and from paging.", Example: one, Do: api.Do(switched("disabled"))},
		{Path: "/channel/delete", Allow: manage, Effect: api.Write, Audit: "channel:write:delete", Danger: true, Doc: "Deletes a channel that is disabled and that nothing refers to, with its rules.",
			Example: `{"channel_id": 1001, "dry_run": true}`, Do: api.Do(remove)},
		{Path: "/channel/star", Effect: api.Write, Audit: "channel:write:star", Doc: "Marks a channel for the caller.", Example: one,
			Do: api.Do(star(`INSERT INTO channel_star (account_id, person_id, channel_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`))},
		{Path: "/channel/unstar", Effect: api.Write, Audit: "channel:write:unstar", Doc: "Takes the caller's mark off a channel.", Example: one,
			Do: api.Do(star(`DELETE FROM channel_star WHERE account_id = $1 AND person_id = $2 AND channel_id = $3`))},
	}
}
