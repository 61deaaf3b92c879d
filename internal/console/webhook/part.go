// Package webhook is the part of the console for what sends messages out: webhooks with their deliveries, and chat apps. It must never
// import another part.
package webhook

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(deliveryPages, endpointPages, outgoingPages),
	Actions: slices.Concat(deliveryActions, endpointActions, outgoingActions),
	Functions: template.FuncMap{
		"eventWord": eventWord,
		"thousands": integrations.Count,
	},
}
