package lint

import (
	"embed"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/lint"
	"tocsin/internal/module"
	"tocsin/internal/platform/ratelimit"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Module returns the part that the package takes in the program.
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

type listRequest struct {
	Severity string `json:"severity,omitzero" enum:"error,warning,info" doc:"Only findings of this severity; absent: all."`
}

// Listed is the reply.
type Listed struct {
	Items []lint.Finding `json:"items" doc:"The findings, the worst first."`
	Total int64          `json:"total" doc:"How many there are."`
}

// list answers /lint/list.
func (s *Service) list(c *api.Call, in listRequest) (reply Listed, err error) {
	found, err := s.Find(c.Tx, c.Who.AccountID, c.Now)
	if err != nil {
		return reply, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	reply.Items = []lint.Finding{}
	for _, f := range found {
		if (in.Severity == "" || in.Severity == f.Severity) && visible(f, c.Who, hidden) {
			reply.Items = append(reply.Items, f)
		}
	}
	reply.Total = int64(len(reply.Items))
	return reply, nil
}
