// Package incident is the part of the console for incidents and alerts: lists, pages, what a responder does with them, why someone was
// notified, and what reached no one. It must never import another part.
package incident

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(untoldPages, bulkPages, incidentPages, alertPages, silencePages, momentPages, reportPages, mergePages, roomPages),
	Actions: slices.Concat(bulkActions, incidentActions, alertActions, silenceActions, reportActions, mergeActions, roomActions),
	Functions: template.FuncMap{
		"alertTab":     alertTab,
		"notifiedNext": notifiedNext,
		"stage":        stage,
		"outcome":      outcomeOfEvent,
		"cures":        cures,
		"untoldState":  untoldState,
	},
}
