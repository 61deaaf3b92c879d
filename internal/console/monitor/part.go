// Package monitor is the part of the console for alert rules, and for the datasources and edges that they ask. It must never import
// another part.
package monitor

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(watchRulePages, chosenRulePages, ruleFormPages, folderPages, datasourcePages, edgePages),
	Actions: slices.Concat(watchRuleActions, chosenRuleActions, ruleFormActions, folderActions, datasourceActions, edgeActions),
	Others:  []page.Other{{Pattern: "GET /rules/{id}/graph", Do: showGraph}},
	Functions: template.FuncMap{
		"hueOf":      hueOf,
		"ruleChange": ruleChange,
		"transition": transition,
		"checked":    checked,
		"figure":     figure,
	},
}
