package console

// schedule is what pages need of a schedule.
type schedule struct {
	ID      int64    `json:"schedule_id"`
	Name    string   `json:"schedule_name"`
	Zone    string   `json:"time_zone"`
	Final   timeline `json:"final_schedule"`
	Current *entry   `json:"cur_oncall"`
	Next    *entry   `json:"next_oncall"`
}

type timeline struct {
	Name    string  `json:"layer_name"`
	Entries []entry `json:"schedules"`
}

// entry is a period in which a group is on call.
type entry struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
	Group struct {
		Name    string   `json:"group_name"`
		Members []member `json:"members"`
	} `json:"group"`
}

type member struct {
	Role    int64   `json:"role_id"`
	Persons []int64 `json:"person_ids"`
}

// names reports whether a person is on call in the period.
func (e entry) names(person int64) bool {
	for _, m := range e.Group.Members {
		for _, p := range m.Persons {
			if p == person {
				return true
			}
		}
	}
	return false
}

// persons returns who is on call in the period.
func (e entry) persons() (ids []int64) {
	for _, m := range e.Group.Members {
		ids = append(ids, m.Persons...)
	}
	return ids
}
