package warroom

import (
	"fmt"

	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// invitees returns the persons who are invited without being named: the person who opens the war room, the responders of
// the incident, and with observers the persons who were responsible before.
func invitees(tx *db.Tx, opener int64, i *incident.Incident, observers bool) ([]int64, error) {
	ids := append([]int64{opener}, i.Responders()...)
	if !observers {
		return ids, nil
	}
	before, err := incident.Observers(tx, i.AccountID, i.IncidentID)
	for _, o := range before {
		ids = append(ids, o.PersonID)
	}
	return ids, err
}

// contactsOf returns the contacts of persons, each once. The persons named by the request's member_ids must exist; others
// may have left the account while they were responsible.
func contactsOf(tx *db.Tx, account int64, others, named []int64) ([]sender.Contact, error) {
	all, seen := []sender.Contact{}, map[int64]bool{}
	for n, id := range append(others[:len(others):len(others)], named...) {
		if seen[id] {
			continue
		}
		p, found, err := person.Find(tx, account, id)
		switch {
		case err != nil:
			return nil, err
		case found && p.Status != "deleted":
			all, seen[id] = append(all, sender.Contact{Name: p.PersonName, Email: p.Email, Phone: p.Phone}), true
		case n >= len(others):
			return nil, fault.Invalid(fmt.Sprintf("member_ids[%d]", n-len(others)), "person %d does not exist", id)
		}
	}
	return all, nil
}
