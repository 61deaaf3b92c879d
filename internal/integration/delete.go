package integration

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// DeleteRequest asks to delete an integration, or what that would do.
type DeleteRequest struct {
	OneRequest
	api.DryRun
}

// remove deletes an integration with its route, pipeline and enrichment rules. History keeps its name.
func (r *Service) remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	i, err := r.readInClear(c, in.IntegrationID)
	if err != nil {
		return api.Removal{}, err
	}
	if i.IntegrationType == Monitors {
		return api.Removal{}, fault.Invalid("integration_id", "%d is that of the account's alert rules, and cannot be deleted", i.IntegrationID)
	}
	if err := permitRouted(c, i.IntegrationID); err != nil {
		return api.Removal{}, err
	}
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, Kind.Name, i.IntegrationID); err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, i.IntegrationID, i.IntegrationName)
	key := strconv.FormatInt(i.IntegrationID, 10)
	for _, kind := range []string{configstore.Route, configstore.Pipeline, configstore.Enrichment} {
		known, err := configstore.Known(c.Tx, c.Who.AccountID, configstore.RefTo(kind, key))
		if err != nil {
			return api.Removal{}, err
		}
		if known {
			c.Removed(kind, key, i.IntegrationName)
			if err := configstore.Delete(c.Tx, c.Who.AccountID, kind, key); err != nil {
				return api.Removal{}, err
			}
		}
	}
	return api.Removal{}, Erase(c.Tx, c.Who.AccountID, key)
}
