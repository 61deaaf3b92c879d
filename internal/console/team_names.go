package console

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/team"
)

// allTeams returns all teams by name.
func (v *visit) allTeams() ([]team.Team, error) {
	request := team.ListRequest{}
	request.Limit = 100
	reply, err := call[team.Listed](v, "/team/list", request)
	return reply.Items, err
}

// teamNames returns the names of teams by id.
func (v *visit) teamNames(ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id int64) bool { return id == 0 })
	for some := range slices.Chunk(ids, 100) {
		reply, err := call[api.Items[team.Brief]](v, "/team/infos", team.InfosRequest{TeamIDs: some})
		if err != nil {
			return names, err
		}
		for _, t := range reply.Items {
			names[t.TeamID] = t.TeamName
		}
	}
	return names, nil
}
