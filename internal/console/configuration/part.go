// Package configuration is the part of the console for what is seldom configured, for what is wrong with the configuration, and for
// the server's health. It must never import another part.
package configuration

import (
	"html/template"
	"slices"

	"tocsin/internal/console/page"
)

// Part is the pages and forms of this package.
var Part = page.Part{
	Pages:   slices.Concat(configurationPages, accountPages, lintPages, healthPages),
	Actions: slices.Concat(configurationActions, accountActions),
	Functions: template.FuncMap{
		"keyFileTrouble":  wordsOfKeyFile,
		"whole":           whole,
		"findingSeverity": findingSeverity,
		"lintWords":       lintWords,
	},
}
