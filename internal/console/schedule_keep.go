package console

import "strconv"

// deleteView asks before a schedule is deleted, and names what uses it.
type deleteView struct {
	titled
	Schedule  schedule
	Allowed   bool
	Why       string // it cannot be deleted; empty: because of Uses
	Uses      []usedBy
	Overrides int // that are deleted with it
}

// usedBy is an object that refers to another one.
type usedBy struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

func showScheduleDelete(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	s, err := v.schedule(id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	var would struct {
		Allowed bool `json:"allowed"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
		Refs    []usedBy `json:"refs"`
		Removes []usedBy `json:"removes"`
	}
	if err := v.call("/schedule/delete", map[string]any{"schedule_ids": []int64{id}, "dry_run": true}, &would); err != nil {
		return nil, err
	}
	d := deleteView{titled: titled(v.T("Delete the schedule") + " · " + s.Name), Schedule: s, Allowed: would.Allowed, Uses: would.Refs}
	if len(d.Uses) == 0 {
		d.Why = would.Error.Message
	}
	for _, r := range would.Removes {
		if r.Kind == "schedule_override" {
			d.Overrides++
		}
	}
	return d, nil
}

func deleteSchedule(v *visit) (string, error) {
	return "/schedules", v.call("/schedule/delete", map[string]any{"schedule_ids": []int64{number(v.r.PathValue("id"))}}, nil)
}

// setScheduleStatus enables or disables a schedule.
func setScheduleStatus(v *visit) (string, error) {
	id := number(v.r.PathValue("id"))
	status, known := map[string]int{"enable": 0, "disable": 1}[v.r.PathValue("to")]
	if !known {
		return "", v.noSuchForm()
	}
	return "/schedules/" + strconv.FormatInt(id, 10), v.call("/schedule/update", map[string]any{"schedule_id": id, "status": status}, nil)
}
