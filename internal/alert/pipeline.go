package alert

import (
	"tocsin/internal/configstore"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
)

// Pipeline is the alert pipeline of one integration.
type Pipeline = integration.Rules[pipeline.Rule]

// Pipelines is how alert pipelines are stored: one for each integration, by its id.
var Pipelines = integration.KindOfRules(configstore.Pipeline, "alert_pipelines", "alert pipeline", pipeline.CheckAll)
