package notify

import (
	"strings"
	"time"

	"tocsin/internal/platform/db"
)

// PutAddress stores a notification to an e-mail address that a rule or an assignment names besides persons. It is superfluous
// when the mail of a person, stored at the same moment and not held by quiet hours, brings the same message to that address.
func (r *Service) PutAddress(tx *db.Tx, n Notification, now time.Time) error {
	all, err := OfIncident(tx, n.Account, n.Incident)
	if err != nil {
		return err
	}
	soon := now.Add(catchUp).UnixMilli()
	for _, o := range all {
		if o.Person == 0 || o.Method != "email" || o.Event != n.Event || o.Cause != n.Cause || o.Created != now.UnixMilli() ||
			o.Due > soon || o.Status != Waiting {
			continue
		}
		p, found, err := Find(tx, n.Account, o.Person)
		if err != nil {
			return err
		}
		if found && strings.EqualFold(p.Email, n.Address.To) {
			return nil
		}
	}
	return r.PutNeeded(tx, n, now)
}
