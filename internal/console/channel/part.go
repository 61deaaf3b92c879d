// Package channel is the part of the console between a source and the persons who are notified: integrations, routes, channels with
// their rules and escalations, and the templates of messages. It must never import another part.
package channel

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(channelPages, integrationPages, templatePages),
	Actions: slices.Concat(channelActions, integrationActions, templateActions),
	Others:  []page.Other{{Pattern: "GET /integrations/{id}/zabbix.yaml", Do: mediaType}},
	Functions: template.FuncMap{
		"guarded":      guarded,
		"caseSentence": caseSentence,
		"refusedFor":   wordsOfRefused,
		"whenOf":       whenOf,
	},
}
