package schedulefeed

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// Feed is an address as it is listed.
type Feed struct {
	FeedID    string `json:"feed_id" doc:"Identifier of the address."`
	Kind      string `json:"kind" enum:"schedule,person,team" doc:"Whose shifts the feed has."`
	ID        int64  `json:"id" doc:"The schedule, person or team."`
	Name      string `json:"name" doc:"Its name; empty when it does not exist any more."`
	TimeZone  string `json:"time_zone,omitzero" doc:"IANA zone of the feed; absent: that of the schedule or person, else the account's."`
	ExpiresAt int64  `json:"expires_at,omitzero" doc:"When the address stops working, because the app key that created it does, Unix seconds; absent: never."`
	CreatedAt int64  `json:"created_at" doc:"Unix seconds."`
	CreatedBy int64  `json:"created_by" doc:"The person who created it. The feed is served while they may read schedules."`
	ReadAt    int64  `json:"read_at" doc:"When it was read last, Unix seconds, at most an hour late; 0: never."`
}

// Listed is the reply of /schedule/calendar/list.
type Listed struct {
	Items []Feed `json:"items" doc:"The addresses, the newest first, at most 1,000."`
	Total int64  `json:"total" doc:"How many there are."`
}

// ListRequest asks for the addresses that the caller may see.
type ListRequest struct{}

func (s *Service) list(c *api.Call, _ ListRequest) (reply Listed, err error) {
	const which = ` FROM ical_feed WHERE account_id = $1 AND ($2 OR created_by = $3)`
	args := []any{c.Who.AccountID, c.Who.May(auth.SchedulesManage), c.Who.PersonID}
	reply.Total, _, err = db.One(c.Tx, db.Column[int64], `SELECT count(*)`+which, args...)
	if err != nil {
		return reply, err
	}
	feeds, err := db.All(c.Tx, scan, `SELECT `+columns+which+` ORDER BY created_at DESC, feed_id DESC LIMIT 1000`, args...)
	if err != nil {
		return reply, err
	}
	reply.Items = []Feed{}
	for _, f := range feeds {
		name, _, err := nameOf(c.Tx, f.Account, f.Kind, f.Target)
		if err != nil {
			return reply, err
		}
		reply.Items = append(reply.Items, Feed{f.ID, f.Kind, f.Target, name, f.Zone, f.Expires, f.CreatedAt, f.Creator, f.ReadAt})
	}
	return reply, nil
}
