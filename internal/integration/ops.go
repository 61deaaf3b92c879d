package integration

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the dependencies of the operations on integrations.
type Service struct {
	Keyring *secret.Keyring // seals keys and the secrets of webhooks
}

// Ops returns the operations of this package.
func (r *Service) Ops() []api.Op {
	read, manage := []auth.Permission{auth.IntegrationsRead}, []auth.Permission{auth.IntegrationsManage}
	const one = `{"integration_id": 3846027460131}`
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/integration/create",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "integration:write:create",
			Doc:    "Creates an integration, enabled.",
			Notes: "A source of alerts gets a key and the address to push events to. With channel_id it is dedicated to that channel; " +
				"without, its route decides (/route/upsert).",
			Example: `{"integration_name": "Prometheus EU", "integration_type": "prometheus", "channel_id": 1001}`,
			Do:      api.Do(r.create),
		},
		{
			Path:    "/integration/update",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:update",
			Doc:     "Changes the members of an integration that are sent; its type stays.",
			Notes:   "settings is replaced as a whole; a secret in it that is sent empty keeps its value.",
			Example: `{"integration_id": 3846027460131, "description": "Both clusters"}`,
			Do:      api.Do(r.update),
		},
		{
			Path:    "/integration/info",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Shows one integration.",
			Notes:   secretNotes,
			Example: one,
			Do:      api.Do(r.info),
		},
		{
			Path:    "/integration/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the integrations of the account page by page, newest first.",
			Notes:   secretNotes,
			Example: `{"p": 1, "limit": 20, "query": "prom"}`,
			Do:      api.Do(r.list),
		},
		{
			Path:    "/integration/type/list",
			Allow:   read,
			Effect:  api.Snapshot,
			Doc:     "Lists the types that integrations can have, with the path that each pushes events to.",
			Example: `{}`,
			Do:      api.Do(typeList),
		},
		{
			Path:    "/integration/enable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:enable",
			Doc:     "Enables an integration: it receives or sends again.",
			Example: one,
			Do:      api.Do(r.setStatus("enabled")),
		},
		{
			Path:    "/integration/disable",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:disable",
			Doc:     "Disables an integration: it receives and sends nothing.",
			Example: one,
			Do:      api.Do(r.setStatus("disabled")),
		},
		{
			Path:    "/integration/delete",
			Errors:  api.Referenced,
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:delete",
			Danger:  true,
			Doc:     "Deletes an integration, and its route, pipeline and enrichment rules with it.",
			Example: `{"integration_id": 3846027460131, "dry_run": true}`,
			Do:      api.Do(r.remove),
		},
		{
			Path:    "/integration/key/rotate",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:rotate",
			Danger:  true,
			Doc:     "Replaces the key of a source.",
			Notes:   "The old key works for grace_seconds more, so that senders can be changed one after the other.",
			Example: `{"integration_id": 3846027460131, "grace_seconds": 3600}`,
			Do:      api.Do(r.rotate),
		},
		{
			Path:   "/integration/secret/rotate",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "integration:write:rotate-secret",
			Danger: true,
			Doc:    "Replaces the signing secret of a webhook, and shows the new one this once.",
			Notes: "For grace_seconds each request has two signatures, one of the new secret and one of the old: receivers can be " +
				"changed one after the other. A webhook without a secret gets its first one.",
			Example: `{"integration_id": 3846027454131, "grace_seconds": 86400}`,
			Do:      api.Do(r.rotateSecret),
		},
		{
			Path:    "/integration/secret/expire",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "integration:write:expire-secret",
			Danger:  true,
			Doc:     "Ends the old signing secret of a webhook before its time.",
			Example: `{"integration_id": 3846027454131}`,
			Do:      api.Do(r.expireSecret),
		},
	})
}

const secretNotes = "Keys and secrets are shown to holders of Integrations Manage (on-call); for others they are empty."
