package edge

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

// DeleteRequest names an edge to delete.
type DeleteRequest struct {
	EdgeID string `json:"edge_id" minLength:"16" maxLength:"16" doc:"The edge."`
	api.DryRun
}

func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	members, err := Members(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Removal{}, err
	}
	at := slices.IndexFunc(members, func(m Member) bool { return m.ID == in.EdgeID })
	if at < 0 {
		return api.Removal{}, fault.Missing("edge", in.EdgeID)
	}
	if members[at].Live(c.Now) {
		return api.Removal{}, fault.New(fault.Conflict, "edge %s is live: stop it first, or disable its key", members[at].Name)
	}
	c.Removed("edge", in.EdgeID, members[at].Name)
	return api.Removal{}, c.Tx.Do(`DELETE FROM edge WHERE account_id = $1 AND edge_id = $2`, c.Who.AccountID, in.EdgeID)
}
