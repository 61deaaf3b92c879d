package incident

import (
	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

// Batch holds what many changes of one transaction read, so that each is read once, and incidents that are stored at its
// end. Only the changes that it is for may write the account's incidents and alerts meanwhile.
type Batch struct {
	incidents map[string]*Incident // nil: there is none
	active    map[string]int64     // how many active alerts an incident has
	channels  map[int64]foundChannel
	later     []string        // incidents that are still to be stored
	resolved  []activity.Item // that are to be published then
}

type foundChannel struct {
	channel.Channel
	found bool
}

// NewBatch reads the incidents that will be changed, and counts the active alerts of those of which alerts recover.
func NewBatch(tx *db.Tx, account int64, changed, recovered []string) (*Batch, error) {
	b := &Batch{incidents: map[string]*Incident{}, channels: map[int64]foundChannel{}, active: map[string]int64{}}
	if len(changed) == 0 {
		return b, nil
	}
	var err error
	b.incidents, err = findAll(tx, account, changed)
	if err != nil {
		return nil, err
	}
	if len(recovered) > 0 {
		counts, err := alert.ActiveOf(tx, account, recovered)
		if err != nil {
			return nil, err
		}
		for _, id := range recovered {
			b.active[id] = counts[id]
		}
	}
	return b, nil
}

// findAll is Find for some incidents; nil: the account has none of this id.
func findAll(tx *db.Tx, account int64, ids []string) (map[string]*Incident, error) {
	incidents := make(map[string]*Incident, len(ids))
	for _, id := range ids {
		incidents[id] = nil
	}
	all, err := db.All(tx, scanIncident, `SELECT `+columns+` FROM incident
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2))`, account, db.JSON(ids))
	if err != nil {
		return nil, err
	}
	for i := range all {
		incidents[all[i].IncidentID] = &all[i]
	}
	return incidents, readAssignments(tx, account, all)
}

// readAssignments adds to rows of incidents the account and their assignments.
func readAssignments(tx *db.Tx, account int64, all []Incident) error {
	if len(all) == 0 {
		return nil
	}
	ids := make([]string, len(all))
	incidents := make(map[string]*Incident, len(all))
	for i := range all {
		all[i].AccountID, all[i].Assignments = account, []Assignment{}
		ids[i] = all[i].IncidentID
		incidents[ids[i]] = &all[i]
	}
	_, err := db.All(tx, func(scan db.Scan) (a Assignment, err error) {
		id := ""
		err = scan(&id, &a.PersonID, &a.AssignedAt, &a.RemovedAt, &a.AcknowledgedAt)
		if r := incidents[id]; err == nil && r != nil {
			r.Assignments = append(r.Assignments, a)
		}
		return a, err
	}, `SELECT incident_id, person_id, assigned_at, removed_at, acknowledged_at FROM incident_assignment
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2)) ORDER BY incident_id, position`, account, db.JSON(ids))
	return err
}

// Incident returns an incident that the batch has read.
func (b *Batch) Incident(id string) (r Incident, found bool) {
	if have := b.incidents[id]; have != nil {
		return *have, true
	}
	return r, false
}

// find is Find by way of the batch.
func (d Writer) find(id string) (r Incident, found bool, err error) {
	if d.Batch != nil {
		if have, known := d.Batch.incidents[id]; known && have != nil {
			return *have, true, nil
		} else if known {
			return r, false, nil
		}
	}
	return Find(d.Tx, d.Account, id)
}

// channel is channel.Find by way of the batch.
func (d Writer) channel(id int64) (channel.Channel, bool, error) {
	if d.Batch == nil {
		return channel.Find(d.Tx, d.Account, id)
	}
	have, known := d.Batch.channels[id]
	if !known {
		var err error
		have.Channel, have.found, err = channel.Find(d.Tx, d.Account, id)
		if err != nil {
			return have.Channel, false, err
		}
		d.Batch.channels[id] = have
	}
	return have.Channel, have.found, nil
}

// active returns how many active alerts an incident has.
func (d Writer) active(incident string) (int64, error) {
	if d.Batch != nil {
		if n, known := d.Batch.active[incident]; known {
			return n, nil
		}
	}
	count, err := alert.CountOf(d.Tx, d.Account, incident)
	return count.Active, err
}

// count changes the number of active alerts of an incident, if it is known.
func (b *Batch) count(incident string, by int64) {
	if b == nil {
		return
	}
	if n, known := b.active[incident]; known {
		b.active[incident] = n + by
	}
}

// saved keeps an incident as it is stored.
func (b *Batch) saved(r *Incident) {
	if b != nil {
		kept := *r
		b.incidents[r.IncidentID] = &kept
	}
}

// savedLater keeps an incident that Store stores.
func (b *Batch) savedLater(r *Incident) {
	b.saved(r)
	b.later = append(b.later, r.IncidentID)
}

// Store stores the incidents that were changed and are not stored yet, each once, and publishes the end of those that are
// over.
func (d Writer) Store() error {
	stored := map[string]bool{}
	for _, id := range d.Batch.later {
		if stored[id] {
			continue
		}
		stored[id] = true
		r := *d.Batch.incidents[id]
		if err := d.save(&r); err != nil {
			return err
		}
	}
	return d.Bus.Publish(d.Tx, d.Batch.resolved...)
}
