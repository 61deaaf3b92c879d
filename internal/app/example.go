package app

import (
	"embed"
	"path"

	"tocsin/internal/api"
)

// examples are replies of the demo account to the examples of the operations, so that the reference shows a request with its
// own reply. A test records them.
//
//go:embed example/*.json
var examples embed.FS

// exampleFile returns the file of an operation's reply in examples.
func exampleFile(operation string) string { return "example/" + path.Base(api.GoldenFile(operation)) }

// withExamples sets the replies that the reference shows. An operation without one keeps the golden reply of its package.
func withExamples(ops []api.Op) []api.Op {
	for i := range ops {
		if reply, err := examples.ReadFile(exampleFile(ops[i].Path)); err == nil {
			ops[i].Reply = reply
		}
	}
	return ops
}
