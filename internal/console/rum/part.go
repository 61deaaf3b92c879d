// Package rum is the part of the console for applications and the errors of their pages. It must never import another part.
package rum

import (
	"html/template"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   rumPages,
	Actions: rumActions,
	Others:  []page.Other{{Pattern: "POST /rum/applications/{id}/errors", Do: exportIssues}},
	Functions: template.FuncMap{
		"typeName":    typeName,
		"issueStatus": issueStatus,
		"issueCause":  issueCause,
		"issueNoise":  issueNoise,
	},
}
