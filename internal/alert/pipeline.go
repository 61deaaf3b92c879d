package alert

import (
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
)

// Pipeline is the alert pipeline of one integration.
type Pipeline = integration.Rules[pipeline.Rule]

// Pipelines is how alert pipelines are stored: one for each integration, by its id.
var Pipelines = integration.KindOfRules(configstore.Pipeline, "alert_pipelines", "alert pipeline", pipeline.CheckAll)

func pipelineUpsert(c *api.Call, in integration.RulesInput[pipeline.Rule]) (api.Empty, error) {
	return integration.UpsertRules(c, Pipelines, in)
}

func pipelineInfo(c *api.Call, in integration.RulesRequest) (Pipeline, error) {
	return integration.RulesInfo(c, Pipelines, in)
}

func pipelineList(c *api.Call, in integration.RulesListRequest) (api.Items[Pipeline], error) {
	return integration.RulesList(c, Pipelines, in)
}
