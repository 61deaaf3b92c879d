// Package schedule is the part of the console for schedules: pictures, layers, overrides, shifts, absences and calendar feeds. It must
// never import another part.
package schedule

import (
	"html/template"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   schedulePages,
	Actions: scheduleActions,
	Functions: template.FuncMap{
		"mayServe":  mayServe,
		"weekdays":  weekdays,
		"boundary":  boundary,
		"nameList":  nameList,
		"ruleText":  ruleText,
		"layerName": layerName,
		"reason":    reason,
	},
}
