package schedule

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/platform/fault"
	schedules "tocsin/internal/schedule"
)

// deleteView asks before a schedule is deleted, and names what uses it.
type deleteView struct {
	page.Titled
	Schedule  schedule
	Allowed   bool
	Why       string // it cannot be deleted; empty: because of Uses
	Uses      []fault.Ref
	Overrides int // that are deleted with it
}

func showScheduleDelete(v *page.Visit) (page.View, error) {
	id := v.ID()
	s, err := readSchedule(v, id, v.Now.Unix(), v.Now.Unix()+60)
	if err != nil {
		return nil, err
	}
	would, err := page.Call[api.Removal](v, "/schedule/delete", schedules.DeleteRequest{ScheduleIDs: []int64{id}, DryRun: page.DryRun})
	if err != nil {
		return nil, err
	}
	d := deleteView{Titled: page.Titled(v.T("Delete the schedule") + " · " + s.Name()), Schedule: s}
	d.Allowed, d.Uses = page.ValueOf(would.Allowed), would.Refs
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

func scheduleToDelete(v *page.Visit) schedules.DeleteRequest {
	return schedules.DeleteRequest{ScheduleIDs: []int64{v.ID()}}
}

// setScheduleStatus enables or disables a schedule.
func setScheduleStatus(v *page.Visit) (string, error) {
	id := v.ID()
	status, known := map[string]int64{"enable": 0, "disable": 1}[v.Request.PathValue("to")]
	if !known {
		return "", v.NoSuchForm()
	}
	request := schedules.UpdateRequest{ScheduleID: id, Body: schedules.Body{Status: &status}}
	return "/schedules/" + strconv.FormatInt(id, 10), page.Do[schedules.Updated](v, "/schedule/update", request)
}
