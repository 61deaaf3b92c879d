package incident

import (
	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/person"
)

// AddRespondersRequest asks to make persons responsible as well.
type AddRespondersRequest struct {
	OneRequest
	PersonIDs []int64 `json:"person_ids" minItems:"1" maxItems:"100" doc:"Who is to be responsible as well."`
}

func (r *Service) addResponders(c *api.Call, in AddRespondersRequest) (reply Assigned, err error) {
	_, err = r.each(c, []string{in.IncidentID}, func(d Writer, i *Incident) error {
		for _, id := range in.PersonIDs {
			if err := person.Table.Need(c.Tx, c.Who.AccountID, "person_ids", id); err != nil {
				return err
			}
		}
		return d.AddResponders(i, in.PersonIDs)
	})
	if err != nil {
		return reply, err
	}
	return absences(c, "person_ids", in.PersonIDs)
}

// AddResponders makes further persons responsible. Those who are responsible already stay so.
func (d Writer) AddResponders(r *Incident, persons []int64) error {
	if err := d.move(r, Assign); err != nil {
		return err
	}
	for _, person := range persons {
		if err := d.addResponder(r, person, 0); err != nil {
			return err
		}
	}
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.RespondersAdded{To: persons})
}

// Responders returns the persons who are responsible now, in the order in which they became so.
func (r *Incident) Responders() (persons []int64) {
	for _, a := range r.Assignments {
		if a.RemovedAt == 0 {
			persons = append(persons, a.PersonID)
		}
	}
	return persons
}
