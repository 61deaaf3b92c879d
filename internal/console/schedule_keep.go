package console

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	schedules "tocsin/internal/schedule"
)

// deleteView asks before a schedule is deleted, and names what uses it.
type deleteView struct {
	titled
	Schedule  schedule
	Allowed   bool
	Why       string // it cannot be deleted; empty: because of Uses
	Uses      []fault.Ref
	Overrides int // that are deleted with it
}

func showScheduleDelete(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	s, err := v.schedule(id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	would, err := call[api.Removal](v, "/schedule/delete", schedules.DeleteRequest{ScheduleIDs: []int64{id}, DryRun: dryRun})
	if err != nil {
		return nil, err
	}
	d := deleteView{titled: titled(v.T("Delete the schedule") + " · " + s.Name()), Schedule: s}
	d.Allowed, d.Uses = valueOf(would.Allowed), would.Refs
	if len(d.Uses) == 0 && would.Error != nil {
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
	request := schedules.DeleteRequest{ScheduleIDs: []int64{number(v.r.PathValue("id"))}}
	return "/schedules", do[api.Removal](v, "/schedule/delete", request)
}

// setScheduleStatus enables or disables a schedule.
func setScheduleStatus(v *visit) (string, error) {
	id := number(v.r.PathValue("id"))
	status, known := map[string]int64{"enable": 0, "disable": 1}[v.r.PathValue("to")]
	if !known {
		return "", v.noSuchForm()
	}
	request := schedules.UpdateRequest{ScheduleID: id, Body: schedules.Body{Status: &status}}
	return "/schedules/" + strconv.FormatInt(id, 10), do[schedules.Updated](v, "/schedule/update", request)
}
