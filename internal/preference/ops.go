package preference

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/secret"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the dependencies of the operations on preferences.
type Service struct {
	Keyring *secret.Keyring // seals contacts: the address of an incoming webhook is a secret
}

// Ops returns the operations of this package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:     "/preference/info",
			Narrowed: []auth.Permission{auth.MembersRead},
			Effect:   api.Snapshot,
			Doc:      "Shows the caller's preferences of notification.",
			Notes: "The account's owner may read those of others with person_id; only the person sees their own contacts, and a narrowed key " +
				"only with Members Manage (org).",
			Example: `{}`,
			Do:      api.Do(r.info),
		},
		{
			Path:     "/preference/update",
			Narrowed: []auth.Permission{auth.MembersManage},
			Effect:   api.Write,
			Audit:    "preference:write:update",
			Doc:      "Changes the caller's preferences of notification.",
			Notes: "Members that are left out stay as they are. The account's owner may do it for others with person_id. The owner's own " +
				"contacts can only be changed with a key that is not narrowed.",
			Example: `{"trigger_notify": {"critical": ["sms", "email"], "warning": ["email"], "info": ["email"]}, ` +
				`"quiet_hours": [{"start": "22:00", "end": "07:00"}]}`,
			Do: api.Do(r.update),
		},
	})
}
