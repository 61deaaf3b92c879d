package alert

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// OneRequest names an alert.
type OneRequest struct {
	AlertID string `json:"alert_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The alert to read."`
}

// info is the function of /alert/info. An alert is as private as its channel. All callers who may read channels may
// read an alert without a channel, or whose channel was deleted. The errors are ResourceNotFound and AccessDenied.
func info(c *api.Call, in OneRequest) (Alert, error) {
	id := strings.ToLower(in.AlertID)
	a, found, err := db.One(c.Tx, scanAlert,
		selection+` WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, c.Who.AccountID, id)
	if err != nil {
		return Alert{}, err
	}
	if !found {
		return Alert{}, fault.Missing("alert", id)
	}
	if a.Incident != nil && a.Incident.channel != a.ChannelID { // it was merged into an incident of another channel
		switch err := channel.Readable(c.Tx, c.Who, a.Incident.channel); fault.KindOf(err) {
		case fault.AccessDenied:
			a.Incident.blank()
		case fault.NotFound: // the channel was deleted, so all may read the incident
		default:
			if err != nil {
				return Alert{}, err
			}
		}
	}
	ch, found, err := channel.Find(c.Tx, c.Who.AccountID, a.ChannelID)
	if err != nil || !found {
		return a, err
	}
	if err := channel.Permit(c.Tx, c.Who, ch); err != nil {
		return Alert{}, err
	}
	a.in(ch)
	return a, nil
}
