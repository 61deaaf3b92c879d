package lint

import (
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/lint"
)

// ListRequest asks for the problems of the configuration.
type ListRequest struct {
	Severity string `json:"severity,omitzero" enum:"error,warning,info" doc:"Only findings of this severity; absent: all."`
}

// Listed is the reply.
type Listed struct {
	Items []lint.Finding `json:"items" doc:"The findings, the worst first."`
	Total int64          `json:"total" doc:"How many there are."`
}

// list answers /lint/list.
func (s *Service) list(c *api.Call, in ListRequest) (reply Listed, err error) {
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
			f.SentenceData = f.Sentence.Data()
			reply.Items = append(reply.Items, f)
		}
	}
	reply.Total = int64(len(reply.Items))
	return reply, nil
}
