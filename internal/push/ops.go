package push

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations on browsers that receive notifications.
func (r *Service) Ops() []api.Op {
	manages, reads := []auth.Permission{auth.MembersManage}, []auth.Permission{auth.MembersRead}
	return api.WithReplies(golden, []api.Op{
		{
			Path:     "/person/push/subscribe",
			Narrowed: manages,
			Effect:   api.Write,
			Audit:    "push_subscription:write:create",
			Doc:      "Adds a browser in which the caller receives notifications over the method push.",
			Notes: "The members are those of a browser's PushSubscription, made with the application_server_key of /person/push/list. A browser " +
				"that is there already is updated; one of another person becomes the caller's. A person has at most 10. The account's owner " +
				"needs a key that is not narrowed. Messages go only to https addresses that the server's network policy permits.",
			Example: `{"endpoint": "https://push.example.com/send/8f1c0a", ` +
				`"keys": {"p256dh": "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk", ` +
				`"auth": "zqbxT6JKstKSY9JKibZLSQ"}, "name": "Firefox on Android"}`,
			Do: api.Do(r.subscribe),
		},
		{
			Path:     "/person/push/list",
			Narrowed: reads,
			Effect:   api.Snapshot,
			Doc:      "Lists the browsers in which the caller receives notifications, and the key with which others are added.",
			Notes:    "Endpoints are secrets and not shown.",
			Example:  `{}`,
			Do:       api.Do(list),
		},
		{
			Path:     "/person/push/remove",
			Narrowed: manages,
			Effect:   api.Write,
			Audit:    "push_subscription:write:delete",
			Doc:      "Removes a browser in which the caller receives notifications.",
			Example:  `{"subscription_id": 3846027490131}`,
			Do:       api.Do(remove),
		},
		{
			Path:     "/person/push/test",
			Narrowed: manages,
			Effect:   api.Write,
			Audit:    "push_subscription:write:test",
			Doc:      "Sends a test message to a browser of the caller.",
			Notes:    "It is sent as any notification is; /person/push/list shows what came of it. Once in ten seconds for each browser.",
			Example:  `{"subscription_id": 3846027490131}`,
			Do:       api.Do(r.test),
		},
	})
}
