package datasource

import (
	"context"
	"embed"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/platform/secret"
	"tocsin/internal/querier"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Service holds the operations on datasources and their dependencies.
type Service struct {
	Keyring *secret.Keyring // seals the credentials
	// Open returns the querier of a datasource, for tests of its connection.
	Open func(ctx context.Context, account int64, d Connection) (querier.Querier, *evaluate.Failure)
	// Changed is called in the transaction that changes or deletes a datasource; nil: nothing depends on it.
	Changed func(tx *db.Tx, account int64, d *Item, deleted bool, person int64, now time.Time) error
}

// change calls Changed.
func (r *Service) change(c *api.Call, d *Item, deleted bool) error {
	if r.Changed == nil {
		return nil
	}
	return r.Changed(c.Tx, c.Who.AccountID, d, deleted, c.Who.PersonID, c.Now)
}

// Ops returns the operations on datasources.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/monit/datasource/create",
			Allow:  []auth.Permission{auth.DatasourcesManage},
			Effect: api.Write,
			Audit:  "datasource:write:create",
			Doc:    "Creates a datasource and returns it without its payload.",
			Notes: "Of the payload only the block named by type_ident is kept, and of that block only the members listed here. " +
				"Members that are not sent stay unset; those that are sent are returned as they were. " +
				"Credentials may be given as ${env:NAME}: such a reference is stored and shown as it is. It is resolved when the datasource " +
				"is asked, if --secret-env of the server lists the name with the datasource's host. " +
				"Names that begin with TOCSIN_ are refused: they are the server's own.",
			Example: `{"type_ident": "prometheus", "name": "Prometheus production", "note": "Frankfurt, both zones",
				"address": "https://prometheus.example.com:9090", "edge_cluster_name": "default",
				"payload": {"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "tocsin",
					"basic_auth_password": "${env:PROMETHEUS_PASSWORD}"}}}`,
			Do: api.Do(r.create),
		},
		{
			Path: "/monit/datasource/info", Allow: []auth.Permission{auth.DatasourcesRead}, Effect: api.Read,
			Doc: "Reads one datasource with its payload.",
			Notes: "Credentials are shown to holders of Datasources Manage (monit). For others they are empty strings, " +
				"and the items of headers and params keep their names and lose their values.",
			Example: `{"id": 1}`,
			Do:      api.Do(r.info),
		},
		{
			Path:   "/monit/datasource/update",
			Allow:  []auth.Permission{auth.DatasourcesManage},
			Effect: api.Write,
			Audit:  "datasource:write:update",
			Doc:    "Changes the members of a datasource that are sent, keeps the others, and returns it without its payload.",
			Notes: "The block in payload replaces the stored one, with one exception: an absent secret, or an absent list of headers " +
				"or params, keeps its value, so that a program that manages datasources needs no credentials. An empty secret or list " +
				"clears it. Clearing the certificate clears its key. If type_ident changes, nothing of the old block is kept.",
			Example: `{"id": 1, "name": "Prometheus production", "note": "Frankfurt", "address": "https://prometheus.example.com:9090",
				"payload": {"prometheus": {"basic_auth_enabled": false}}}`,
			Do: api.Do(r.update),
		},
		{
			Path: "/monit/datasource/list", Allow: []auth.Permission{auth.DatasourcesRead}, Effect: api.Read,
			Doc:     "Lists all datasources, or those of one type, by id and without their payloads.",
			Example: `{"type": "prometheus"}`,
			Do:      api.Do(r.list),
		},
		{
			Path: "/monit/datasource/test", Allow: []auth.Permission{auth.DatasourcesManage}, Effect: api.Write,
			Audit: "datasource:write:test", Rate: ratelimit.Rate{PerMinute: 60},
			Errors: api.Missing("datasource"),
			Doc:    "Connects to a datasource, makes a small query, and returns the phases up to the first that failed.",
			Notes: "Send either the id of a stored datasource and nothing else, or the members of create, which are not stored. The phases are " +
				"resolve, dial, tls (where it is used), sign_in, query and rights: " +
				"whether the role could do more than read, where the type can tell. " +
				"It takes at most half a minute. Addresses are subject to the server's policy " +
				"for datasources (--datasource-allow).",
			Example: `{"type_ident": "prometheus", "name": "Prometheus on this machine", "address": "http://127.0.0.1:9090",
				"edge_cluster_name": "default", "payload": {"prometheus": {}}}`,
			Do: api.DoAfter(r.test, r.tested),
		},
		{
			Path: "/monit/datasource/sls/projects", Allow: []auth.Permission{auth.DatasourcesRead}, Effect: api.Snapshot,
			Errors: api.Missing("datasource"), Rate: ratelimit.Rate{PerMinute: 60},
			Doc:     "Lists the names of the projects that a datasource of the type sls has.",
			Notes:   "The service is asked; it takes at most ten seconds.",
			Example: `{"id": 1, "query": "shop", "size": 20}`,
			Do:      api.DoOutside(r.projects),
		},
		{
			Path: "/monit/datasource/sls/logstores", Allow: []auth.Permission{auth.DatasourcesRead}, Effect: api.Snapshot,
			Errors: api.Missing("datasource"), Rate: ratelimit.Rate{PerMinute: 60},
			Doc:     "Lists the names of the logstores of a project.",
			Notes:   "The service is asked; it takes at most ten seconds.",
			Example: `{"id": 1, "project": "shop", "size": 20}`,
			Do:      api.DoOutside(r.stores),
		},
		{
			Path: "/monit/datasource/delete", Allow: []auth.Permission{auth.DatasourcesManage}, Effect: api.Write,
			Errors: api.Referenced,
			Audit:  "datasource:write:delete", Danger: true,
			Doc:     "Deletes a datasource that nothing refers to.",
			Notes:   "With dry_run nothing is deleted, and the reply states whether it could be.",
			Example: `{"id": 1}`,
			Do:      api.Do(r.delete),
		},
	})
}
