package lint

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/module"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Module returns the package's operations.
func (s *Service) Module() module.Module {
	return module.Module{Name: "engine/lint", Ops: s.Ops()}
}

// Ops returns the operations of the package.
func (s *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/lint/list", Allow: []auth.Permission{auth.ChannelsRead, auth.ChannelsManage}, Effect: api.Snapshot,
		Doc: "Lists what is wrong with the account's configuration: above all, events that would reach no one.",
		Notes: "The codes are in docs/lint.md. Findings about persons need Members Read (org), those about schedules Schedules Read (on-call), " +
			"those about integrations Integrations Read (on-call). Private channels are hidden from callers who may not read them.",
		Example: `{}`,
		Rate:    ratelimit.Rate{PerSecond: 2, PerMinute: 30}, // it reads the whole account
		Do:      api.Do(s.list),
	}})
}
