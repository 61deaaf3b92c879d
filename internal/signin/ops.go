package signin

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

var manage = []auth.Permission{auth.MembersManage}

// Ops returns the operations on what persons sign in with.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/person/link/create",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "sign_in_link:write:create",
			Danger: true,
			Doc:    "Makes a link with which a person sets a password and signs in, once.",
			Notes: "Whoever has the link can sign in as the person, so the account's owner alone makes one for any person; other callers " +
				"make one for persons who are pending, have no permission that the caller lacks, and are in no team that the caller is not " +
				"in, unless the caller manages teams. The key must be neither narrowed nor expire. The link ends when the person gets a " +
				"permission, joins a team, has another e-mail address or signs in, and when its maker could not make it any more. " +
				"Setting the password ends the person's sessions and other links; a second factor stays.",
			Example: `{"person_id": 3846027201131}`,
			Do:      api.Do(s.linkCreate),
		},
		{
			Path:     "/person/email/prove",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "email_proof:write:create",
			Doc:      "Mails the caller a link that proves the caller's e-mail address.",
			Notes: "The link is opened in a session of the caller. Once the address is proved, the OpenID Connect provider finds the person by " +
				"it. At most one mail in ten minutes.",
			Example: `{}`,
			Do:      api.Do(s.emailProve),
		},
		{
			Path:   "/person/identity/remove",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "identity:write:delete",
			Danger: true,
			Doc:    "Removes who a person is at the OpenID Connect provider, and ends the sessions that began there. Only the account's owner may.",
			Notes: "For a person who is another one at the provider now, or whose identity is another's. The next sign-in there finds the person " +
				"by the e-mail address if that was proved.",
			Example: `{"person_id": 3846027201131}`,
			Do:      api.Do(identityRemove),
		},
		{
			Path:     "/person/password/update",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "password:write:update",
			Doc:      "Changes the caller's password, and ends the caller's other sessions.",
			Notes:    "The first password is set with a link. Four attempts a minute.",
			Example:  `{"password": "the old pass phrase", "new_password": "a new pass phrase"}`,
			Do:       api.DoAfter(s.checkPassword, s.passwordUpdate),
		},
		{
			Path:     "/person/security/info",
			Narrowed: []auth.Permission{auth.MembersRead},
			Effect:   api.Snapshot,
			Doc:      "Shows whether a person has a password and a second factor.",
			Example:  `{}`,
			Do:       api.Do(securityInfo),
		},
		{
			Path:     "/person/second-factor/begin",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "second_factor:write:create",
			Danger:   true,
			Doc:      "Makes a secret for an app on the caller's phone that shows codes (RFC 6238), and shows it, once.",
			Notes:    "Codes are asked for only after /person/second-factor/confirm. The caller's password is required if there is one.",
			Example:  `{"password": "the pass phrase"}`,
			Do:       api.DoAfter(s.checkOwnPassword, s.secondBegin),
		},
		{
			Path:     "/person/second-factor/confirm",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "second_factor:write:enable",
			Danger:   true,
			Doc:      "Takes a code of the caller's app, asks for codes from the next sign-in on, and shows ten recovery codes, once.",
			Notes:    "Each recovery code stands in for a code of the app, once. The caller's other sessions end.",
			Example:  `{"one_time_password": "123456"}`,
			Do:       api.Do(s.secondConfirm),
		},
		{
			Path:     "/person/second-factor/remove",
			Narrowed: manage,
			Effect:   api.Write,
			Audit:    "second_factor:write:delete",
			Danger:   true,
			Doc:      "Removes a second factor: the caller's, with the password, or for the account's owner that of any person.",
			Example:  `{"password": "the pass phrase"}`,
			Do:       api.DoAfter(s.checkRemoval, secondRemove),
		},
	})
}
