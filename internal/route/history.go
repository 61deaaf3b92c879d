package route

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
)

// versions is how all versions of a route are stored: below the integration, by number, newest first.
var versions = configstore.Kind[Route]{
	Name: "route_version",
	Head: func(r *Route) configstore.Head {
		integration := strconv.FormatInt(r.IntegrationID, 10)
		return configstore.Head{
			ID:        fmt.Sprintf("%s/%d", integration, r.Version),
			Parent:    integration,
			Rank:      -r.Version,
			CreatedAt: r.CreatedAt,
			UpdatedAt: r.UpdatedAt,
		}
	},
}

type historyRequest struct {
	api.Page
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The integration."`
	OrderBy       string `json:"orderby,omitzero" enum:"updated_at" doc:"What to order by; versions are always in the order in which they were stored."`
	Asc           bool   `json:"asc,omitzero" doc:"Oldest first."`
}

func historyList(c *api.Call, in historyRequest) (api.Paged[Route], error) {
	present, err := info(c, infoRequest{in.IntegrationID})
	if err != nil {
		return api.Paged[Route]{}, err
	}
	all, err := versions.Of(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err == nil {
		all, err = visible(c, all)
	}
	if !slices.ContainsFunc(all, func(r Route) bool { return r.Version == present.Version }) { // of an account file
		all = slices.Insert(all, 0, present)
	}
	if in.Asc {
		slices.Reverse(all)
	}
	limit, offset := in.Window(20)
	total := int64(len(all))
	return api.NewPaged(all[min(offset, total):min(offset+limit, total)], offset, total), err
}
