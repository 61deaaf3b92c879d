// Package enrichment stores the rules that add and remove labels of an integration's events before they are decided
// about. internal/core/pipeline applies them.
//
// It must never store a rule that cannot be applied.
package enrichment

import "tocsin/internal/module"

// Module returns the package's operations and sections of an account file.
func Module() module.Module {
	return module.Module{
		Name:     "enrichment",
		Ops:      Ops(),
		Sections: []string{"enrichments"},
	}
}
