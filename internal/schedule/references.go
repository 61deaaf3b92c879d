package schedule

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// saveReferences stores which objects the schedule refers to: its team, and each person in its layers once.
func (s *stored) saveReferences(tx *db.Tx) error {
	targets := []configstore.Target{configstore.RefTo(configstore.Team, s.TeamID)}
	for _, p := range s.persons() {
		targets = append(targets, configstore.RefTo(configstore.Person, p))
	}
	return configstore.SetReferences(tx, s.AccountID, configstore.RefFrom(configstore.Schedule, s.ScheduleID, s.Name), targets...)
}

// persons returns the persons in the layers, each once, in order of appearance.
func (s *stored) persons() (all []int64) {
	for _, l := range s.Layers {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				all = append(all, m.PersonIDs...)
			}
		}
	}
	return distinct(all)
}
