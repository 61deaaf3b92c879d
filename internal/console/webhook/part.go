// Package webhook is the part of the console for webhooks: endpoints, deliveries and what is sent again. It must never import another
// part.
package webhook

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(deliveryPages, endpointPages),
	Actions: slices.Concat(deliveryActions, endpointActions),
	Functions: template.FuncMap{
		"eventWord": eventWord,
		"thousands": integrations.Count,
	},
}
