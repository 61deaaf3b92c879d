package schedule

import (
	"tocsin/internal/db"
	"tocsin/internal/reference"
)

// refer records whom the schedule refers to: its team, and everybody in its layers.
func (s *stored) refer(tx *db.Tx) error {
	targets := []reference.Target{reference.To(reference.Team, s.TeamID)}
	seen := map[int64]bool{}
	for i := range s.Layers {
		for _, g := range s.Layers[i].Groups {
			for _, m := range g.Members {
				for _, p := range m.PersonIDs {
					if !seen[p] {
						seen[p] = true
						targets = append(targets, reference.To(reference.Person, p))
					}
				}
			}
		}
	}
	return reference.Set(tx, s.AccountID, reference.From(reference.Schedule, s.ScheduleID, s.Name), targets...)
}
