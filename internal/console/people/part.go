// Package people is the part of the console for persons: signing in, their own settings, teams, roles, keys, and the audit log of what
// they did. It must never import another part.
package people

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages: slices.Concat(signInPages, openIDPages, linkPages, securityPages, peoplePages, mePages, teamPages, rolePages, keyPages,
		auditPages),
	Actions: slices.Concat(signInActions, linkActions, securityActions, peopleActions, meActions, pushActions, teamActions, roleActions,
		keyActions),
	Functions: template.FuncMap{
		"operationName": operationName,
		"openID":        openID,
		"markOf":        picture.MarkOf,
	},
}
