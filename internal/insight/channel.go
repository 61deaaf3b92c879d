package insight

import (
	"tocsin/internal/api"
	"tocsin/internal/incident"
)

// byChannel answers /insight/channel.
func byChannel(c *api.Call, in Request) (api.Items[Dimension], error) {
	return sourceOf(c).channels(in)
}

// channels computes a row for each channel, and one for incidents of none.
func (s source) channels(in Request) (api.Items[Dimension], error) {
	by := func(_ *query, i *incident.Incident) (int64, error) { return i.ChannelID, nil }
	return s.dimensions(in, by, func(q *query, id int64) (Row, error) {
		ch, team, err := q.channel(id)
		return Row{ChannelID: id, ChannelName: ch.ChannelName, TeamID: ch.TeamID, TeamName: team}, err
	})
}
