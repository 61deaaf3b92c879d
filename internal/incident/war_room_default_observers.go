package incident

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

type defaultObserversRequest struct {
	IncidentID string `json:"incident_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The incident whose former responders are asked for."`
}

// DefaultObservers is the reply of /incident/war-room/default-observers.
type DefaultObservers struct {
	Observers []Observer `json:"observers" doc:"By first assignment."`
}

// Observer is a person in the list of default observers: with the phone number in full, as "responder" and "active"
// (docs/api.md, 10, "Default observers").
type Observer struct {
	AccountID     int64  `json:"account_id" doc:"The person's account."`
	PersonID      int64  `json:"person_id" doc:"The person's identifier."`
	PersonName    string `json:"person_name,omitzero" doc:"The person's name."`
	Avatar        string `json:"avatar,omitzero" doc:"Path or URL of a picture."`
	Locale        string `json:"locale,omitzero" doc:"Language tag."`
	TimeZone      string `json:"time_zone,omitzero" doc:"IANA zone name."`
	Email         string `json:"email,omitzero" doc:"E-mail address."`
	Phone         string `json:"phone,omitzero" doc:"Phone number in full."`
	PhoneVerified bool   `json:"phone_verified" doc:"The number was verified."`
	EmailVerified bool   `json:"email_verified" doc:"The address was verified."`
	As            string `json:"as" doc:"Always responder."`
	Status        string `json:"status" doc:"Always active."`
}

// warRoomDefaultObservers is /incident/war-room/default-observers. Any valid key may call it, but an incident is as
// private as its channel.
func warRoomDefaultObservers(c *api.Call, in defaultObserversRequest) (DefaultObservers, error) {
	incident := strings.ToLower(in.IncidentID)
	if err := readable(c, incident); err != nil {
		return DefaultObservers{}, err
	}
	observers, err := Observers(c.Tx, c.Who.AccountID, incident)
	return DefaultObservers{observers}, err
}

// Observers returns the persons who were once responsible for an incident and no longer are, by first assignment, without
// persons who have left the account.
func Observers(tx *db.Tx, account int64, incident string) ([]Observer, error) {
	// Arithmetic on person_id keeps the engine from reading all assignments of the account in that order.
	ids, err := db.All(tx, db.Column[int64], `SELECT person_id + 0 FROM incident_assignment WHERE account_id = $1 AND incident_id = $2
		GROUP BY person_id + 0 HAVING min(removed_at) > 0 ORDER BY min(assigned_at), min(position)`, account, incident)
	if err != nil {
		return nil, err
	}
	all := []Observer{}
	for _, id := range ids {
		p, found, err := person.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if found && p.Status != "deleted" {
			all = append(all, Observer{account, p.PersonID, p.PersonName, p.Avatar, p.Locale, p.TimeZone, p.Email, p.Phone, p.PhoneVerified,
				p.EmailVerified, "responder", "active"})
		}
	}
	return all, nil
}

// readable returns fault.Missing for an incident that does not exist, and fault.Denied for one whose channel the caller
// may not read.
func readable(c *api.Call, incident string) error {
	id, found, err := db.One(c.Tx, db.Column[int64], `SELECT channel_id FROM incident WHERE account_id = $1 AND incident_id = $2`,
		c.Who.AccountID, incident)
	if err != nil {
		return err
	}
	if !found {
		return fault.Missing("incident", incident)
	}
	ch, found, err := channel.Find(c.Tx, c.Who.AccountID, id)
	if err != nil || !found {
		return err
	}
	return channel.Permit(c.Tx, c.Who, ch)
}
