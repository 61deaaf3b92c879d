package warroom

import (
	"fmt"

	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// concerned are those who meet in the war room of an incident without being asked for by name: who opens it,
// who is responsible now, and with observers who was before.
func concerned(tx *db.Tx, opener int64, i *incident.Incident, observers bool) ([]int64, error) {
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

// people are the contacts of some persons, each once. All that member_ids of the request names must be there;
// of the others some may have left the account while they were responsible.
func people(tx *db.Tx, account int64, others, named []int64) ([]sender.Contact, error) {
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
