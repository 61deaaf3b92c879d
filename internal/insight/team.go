package insight

import (
	"tocsin/internal/api"
	"tocsin/internal/incident"
)

// byTeam answers /insight/team.
func byTeam(c *api.Call, in Request) (api.Items[Dimension], error) { return sourceOf(c).teams(in) }

// teams computes a row for each team that owns a channel, and one for channels that no team owns.
func (s source) teams(in Request) (api.Items[Dimension], error) {
	return s.dimensions(in, func(q *query, i *incident.Incident) (int64, error) {
		ch, _, err := q.channel(i.ChannelID)
		return ch.TeamID, err
	}, func(q *query, id int64) (Row, error) {
		name, err := q.team(id)
		return Row{TeamID: id, TeamName: name}, err
	})
}
