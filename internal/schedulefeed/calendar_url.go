package schedulefeed

import (
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// maxFeeds is how many addresses a person may have at a time.
const maxFeeds = 50

// URLRequest asks for a new address.
type URLRequest struct {
	Kind     string `json:"kind" enum:"schedule,person,team" doc:"Whose shifts the feed has: all of a schedule, those of a person in all enabled schedules, or those of the enabled schedules of a team."`
	ID       int64  `json:"id,omitzero" minimum:"0" doc:"The schedule, person or team; absent for a person: the caller."`
	TimeZone string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA zone of the feed; absent: that of the schedule or person, else the account's."`
}

// Created is the reply of /schedule/calendar/url.
type Created struct {
	FeedID string `json:"feed_id" doc:"Identifier of the address, for /schedule/calendar/revoke."`
	URL    string `json:"url" doc:"The address, with its secret. It is shown only once."`
}

func (s *Service) url(c *api.Call, in URLRequest) (reply Created, err error) {
	if in.Kind == "person" && in.ID == 0 {
		in.ID = c.Who.PersonID
	}
	if in.TimeZone != "" {
		if _, err := time.LoadLocation(in.TimeZone); err != nil || in.TimeZone == "Local" {
			return reply, fault.Invalid("time_zone", "must be an IANA zone such as Europe/Berlin, got %q", in.TimeZone)
		}
	}
	name, found, err := nameOf(c.Tx, c.Who.AccountID, in.Kind, in.ID)
	if err != nil {
		return reply, err
	}
	if !found {
		return reply, fault.Missing(in.Kind, in.ID)
	}
	have, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM ical_feed WHERE account_id = $1 AND created_by = $2`,
		c.Who.AccountID, c.Who.PersonID)
	if err != nil {
		return reply, err
	}
	if have >= maxFeeds {
		return reply, fault.Invalid("kind", "a person may have %d addresses of feeds: revoke one first", maxFeeds)
	}
	t := newToken(c.Who.AccountID, id.Object(c.Now))
	f := feed{Account: c.Who.AccountID, ID: t.feed, Kind: in.Kind, Target: in.ID, Zone: in.TimeZone, Hash: t.hash(), Expires: c.Who.ExpiresAt,
		CreatedAt: c.Unix(), Creator: c.Who.PersonID}
	c.Touched("calendar_feed", f.ID, name)
	return Created{f.ID, s.BaseURL + "/calendar/feed/" + t.text() + ".ics"}, f.insert(c.Tx)
}

// nameOf returns the name of what a feed is of; found is false if the account has none.
func nameOf(tx *db.Tx, account int64, kind string, target int64) (name string, found bool, err error) {
	switch kind {
	case configstore.Schedule:
		t, err := schedule.FindShifts(tx, account, target, time.UTC)
		if err != nil || t == nil {
			return "", false, err
		}
		return t.Name, true, nil
	case configstore.Person:
		p, found, err := person.Find(tx, account, target)
		return p.PersonName, found && p.Status != "deleted", err
	default:
		t, found, err := team.Find(tx, account, target)
		return t.TeamName, found, err
	}
}
