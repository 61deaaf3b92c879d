package incident_test

import (
	"sync"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/decide"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Two processes assign persons to an incident and add alerts to it at the same time: no assignment and no alert is lost.
func TestProcessesChangeIncident(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	const id, each = "5e5e5e5e5e5e5e5e5e5e5e01", 10
	s.Write(func(tx *db.Tx) error {
		w := incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: apitest.Now, Person: apitest.OwnerA}
		return w.Open(&incident.Incident{IncidentID: id, Title: "T", Severity: "Warning", AlertCnt: 1})
	})
	persons := []int64{apitest.OwnerA, apitest.Reader, apitest.Stranger}
	var all sync.WaitGroup
	for i, d := range []*db.DB{s.DB, s.Again()} {
		for n := range each {
			all.Go(func() {
				err := d.Write(t.Context(), func(tx *db.Tx) error {
					w := incident.Writer{Tx: tx, Bus: &activity.Bus{}, Account: apitest.AccountA, Now: apitest.Now, Person: apitest.OwnerA}
					if err := w.Joined(id, &decide.Alert{ID: "a", Severity: "Warning"}, alert.Origin{}, 0, incident.GroupName{}); err != nil {
						return err
					}
					r, err := w.Get(id)
					if err != nil {
						return err
					}
					return w.Assign(&r, incident.AssignedTo{Type: "escalate", PersonIDs: []int64{persons[(i+n)%len(persons)]}})
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	s.Read(func(tx *db.Tx) error {
		r, _, err := incident.Find(tx, apitest.AccountA, id)
		if r.AlertCnt != 1+2*each {
			t.Errorf("it counts %d alerts, want %d", r.AlertCnt, 1+2*each)
		}
		active := map[int64]int{}
		for _, a := range r.Assignments {
			if a.RemovedAt == 0 {
				active[a.PersonID]++
			}
		}
		for _, person := range persons {
			if active[person] != 1 {
				t.Errorf("person %d is responsible %d times: %+v", person, active[person], r.Assignments)
			}
		}
		return err
	})
}
