package webhook

import (
	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
)

// ReplayCancelRequest names a replay that goes on.
type ReplayCancelRequest struct {
	ReplayID string `json:"replay_id" pattern:"^[0-9a-f]{24}$" doc:"The replay."`
}

// replayCancel is POST /webhook/replay/cancel. The one or two messages that are being sent are not called back.
func (r *Service) replayCancel(c *api.Call, in ReplayCancelRequest) (api.Empty, error) {
	p, found, err := findReplay(c.Tx, c.Who.AccountID, in.ReplayID)
	switch {
	case err != nil:
		return api.Empty{}, err
	case !found:
		return api.Empty{}, fault.Missing("webhook replay", in.ReplayID)
	}
	if err := readable(c, p.IntegrationID, 0); err != nil {
		return api.Empty{}, err
	}
	if p.Status != running {
		return api.Empty{}, fault.New(fault.Conflict, "the replay %s has ended: it is %s", p.ReplayID, p.Status)
	}
	c.Touched(integration.Kind.Name, p.IntegrationID, "")
	return api.Empty{}, p.end(c.Tx, "cancelled", sentence.New("by_person", c.Who.PersonName), c.Now)
}
