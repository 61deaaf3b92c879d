package warroom

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/integration"
)

// Enabled is an integration that war rooms can be opened with.
type Enabled struct {
	IntegrationID   int64  `json:"integration_id" doc:"The integration, for /incident/war-room/create."`
	DataSourceID    int64  `json:"data_source_id" deprecated:"true" doc:"Older name of integration_id."`
	IntegrationName string `json:"integration_name" doc:"Its name."`
	Name            string `json:"name" deprecated:"true" doc:"Older name of integration_name."`
	IntegrationType string `json:"integration_type" doc:"Its type, such as slack_app."`
	PluginType      string `json:"plugin_type" doc:"The chat service, such as slack."`
	Status          string `json:"status" enum:"enabled" doc:"Always enabled."`
}

// enabledList leaves out integrations of private channels that the caller may not read.
func enabledList(c *api.Call, _ api.Empty) (api.Paged[Enabled], error) {
	all, err := integration.Kind.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Paged[Enabled]{}, err
	}
	hidden, err := integration.Hidden(c.Tx, c.Who)
	if err != nil {
		return api.Paged[Enabled]{}, err
	}
	items := []Enabled{}
	for i := range all {
		x := &all[i]
		opens := x.OpensGroups() && x.Settings != nil && x.Settings.WarRoomEnabled && x.Status == "enabled"
		if !opens || slices.Contains(hidden, x.IntegrationID) {
			continue
		}
		items = append(items, Enabled{
			IntegrationID: x.IntegrationID, DataSourceID: x.IntegrationID, IntegrationName: x.IntegrationName, Name: x.IntegrationName,
			IntegrationType: x.IntegrationType, PluginType: plugin(x), Status: x.Status,
		})
	}
	return api.NewPaged(items, 0, int64(len(items))), nil
}
