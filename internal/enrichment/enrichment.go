package enrichment

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{
		{
			Path: "/enrichment/upsert", Allow: []auth.Permission{auth.ChannelsManage, auth.IntegrationsManage},
			Effect: api.Write, Audit: "enrichment:write:upsert",
			Doc:   "Sets the enrichment rules of an integration, all of them.",
			Notes: "Rules of kind mapping, and g_json, are rejected: there are no mapping tables yet.",
			Example: `{"integration_id": 3846027460131, "rules": [{"kind": "extraction",` +
				` "settings": {"source_field": "title", "result_label": "service", "pattern": "^(?P<result>[a-z]+):"}}]}`,
			Do: api.Do(upsert),
		},
		{
			Path:    "/enrichment/info",
			Allow:   []auth.Permission{auth.ChannelsRead, auth.ChannelsManage, auth.IntegrationsRead, auth.IntegrationsManage},
			Effect:  api.Snapshot,
			Doc:     "Shows the enrichment rules of an integration; ResourceNotFound when it has none.",
			Example: `{"integration_id": 3846027460131}`, Do: api.Do(info),
		},
		{
			Path: "/enrichment/list", Allow: []auth.Permission{auth.IntegrationsRead, auth.IntegrationsManage},
			Effect:  api.Snapshot,
			Doc:     "Shows the enrichment rules of several integrations, in the order of the request; those without any are left out.",
			Example: `{"integration_ids": [3846027460131]}`, Do: api.Do(list),
		},
	})
}

// Rules is the enrichment of one integration.
type Rules = integration.Rules[pipeline.Enrichment]

// Kind is how enrichments are stored: one for each integration, by its id.
var Kind = integration.KindOfRules(configstore.Enrichment, "enrichments", "enrichment", pipeline.CheckAllEnrichments)

func upsert(c *api.Call, in integration.RulesInput[pipeline.Enrichment]) (api.Empty, error) {
	return integration.UpsertRules(c, Kind, in)
}

func info(c *api.Call, in integration.RulesRequest) (Rules, error) {
	return integration.RulesInfo(c, Kind, in)
}

func list(c *api.Call, in integration.RulesListRequest) (api.Items[Rules], error) {
	return integration.RulesList(c, Kind, in)
}
