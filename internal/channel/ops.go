// Package channel keeps the channels, where alerts come together and are turned into incidents, and their
// rules: silence and inhibit rules, which keep an alert from becoming an incident, drop rules, which throw
// an event away, and escalation rules, which say who is told.
//
// It must never show a private channel, or anything that belongs to it, to a caller outside its teams.
package channel

import (
	"embed"
	"slices"

	"tocsin/internal/api"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func Ops() []api.Op {
	return api.WithReplies(golden, slices.Concat(silenceOps(), dropOps(), inhibitOps()))
}
