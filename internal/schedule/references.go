package schedule

import (
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// references returns the schedule and the objects that it refers to: its team, and each person and calendar in its
// layers once.
func (s *stored) references() (from fault.Ref, to []configstore.Target) {
	to = []configstore.Target{configstore.RefTo(configstore.Team, s.TeamID)}
	for _, p := range s.persons() {
		to = append(to, configstore.RefTo(configstore.Person, p))
	}
	for _, id := range s.calendarIDs() {
		to = append(to, configstore.RefTo(configstore.Calendar, id))
	}
	return configstore.RefFrom(configstore.Schedule, s.ScheduleID, s.Name), to
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
