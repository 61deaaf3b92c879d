package schedule

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// refer records whom the schedule refers to: its team, and everybody in its layers.
func (s *stored) refer(tx *db.Tx) error {
	targets := []configstore.Target{configstore.RefTo(configstore.Team, s.TeamID)}
	seen := map[int64]bool{}
	for i := range s.Layers {
		for _, g := range s.Layers[i].Groups {
			for _, m := range g.Members {
				for _, p := range m.PersonIDs {
					if !seen[p] {
						seen[p] = true
						targets = append(targets, configstore.RefTo(configstore.Person, p))
					}
				}
			}
		}
	}
	return configstore.SetReferences(tx, s.AccountID, configstore.RefFrom(configstore.Schedule, s.ScheduleID, s.Name), targets...)
}
