package console

import (
	"slices"
)

// channelTeam is what pages need of a team.
type channelTeam struct {
	ID      int64   `json:"team_id"`
	Name    string  `json:"team_name"`
	Persons []int64 `json:"person_ids"`
}

// allTeams returns all teams by name.
func (v *visit) allTeams() ([]channelTeam, error) {
	var reply struct {
		Items []channelTeam `json:"items"`
	}
	err := v.call("/team/list", map[string]any{"limit": 100}, &reply)
	return reply.Items, err
}

// teamNames returns the names of teams by id.
func (v *visit) teamNames(ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	ids = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(ids))), func(id int64) bool { return id == 0 })
	for some := range slices.Chunk(ids, 100) {
		var reply struct {
			Items []channelTeam `json:"items"`
		}
		if err := v.call("/team/infos", map[string]any{"team_ids": some}, &reply); err != nil {
			return names, err
		}
		for _, t := range reply.Items {
			names[t.ID] = t.Name
		}
	}
	return names, nil
}
