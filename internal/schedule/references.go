package schedule

import (
	"strconv"

	"tocsin/internal/api"
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

// sources returns the ids of the objects of a kind that name a person.
func sources(c *api.Call, person int64, kind string) (ids []int64, err error) {
	return numbers(configstore.Sources(c.Tx, c.Who.AccountID, configstore.Person, person, kind))
}

// numbers converts ids, unless reading them failed.
func numbers(texts []string, err error) (ids []int64, _ error) {
	for _, text := range texts {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, err
}
