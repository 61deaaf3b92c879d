package incident

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// PageMeRequest asks for a test of notifications.
type PageMeRequest struct {
	IncidentSeverity string `json:"incident_severity" enum:"Info,Warning,Critical" doc:"The severity whose methods are tested."`
}

// Bounds of tests: a person who presses the button again and again is not called each time, and a test that was
// forgotten does not stay open.
const (
	pageMeInterval = time.Minute
	pageMeLasts    = 30 * time.Minute
)

// pageMe is POST /incident/page-me: it opens an incident that is marked as a test and assigned to the caller alone. The
// notifications take the way of all others, with the caller's preferences, quiet hours and limits.
func (r *Service) pageMe(c *api.Call, in PageMeRequest) (reply Created, err error) {
	recent, err := db.All(c.Tx, scanIncident, `SELECT `+columns+` FROM incident WHERE account_id = $1 AND start_time > $2 AND creator_id = $3`,
		c.Who.AccountID, c.Now.Add(-pageMeInterval).Unix(), c.Who.PersonID)
	if err != nil {
		return reply, err
	}
	for i := range recent {
		if recent[i].Test {
			after := time.Unix(recent[i].StartTime, 0).Add(pageMeInterval).Sub(c.Now)
			return reply, fault.TooSoon(after, "you were paged for a test less than a minute ago, by incident %s", recent[i].IncidentID)
		}
	}
	i := Incident{Title: "Test page", Severity: in.IncidentSeverity, Detail: Detail{
		Description: "Nothing is wrong: you asked to be paged.", Fields: map[string]jsontext.Value{}, Test: true}}
	d := r.writer(c)
	if err := d.Open(&i); err != nil {
		return reply, err
	}
	d.Person = 0 // persons are not notified of what they did themselves
	if err := d.Assign(&i, AssignedTo{PersonIDs: []int64{c.Who.PersonID}}); err != nil {
		return reply, err
	}
	i.ResolveAt = c.Now.Add(pageMeLasts).Unix()
	c.Touched("incident", i.IncidentID, i.Title)
	reply.IncidentID, reply.Title = i.IncidentID, i.Title
	return reply, d.save(&i)
}
