package console

import (
	"slices"
	"strconv"
)

// coverRow is a request that another person be on call in someone's place.
type coverRow struct {
	ID         int64   `json:"request_id"`
	ScheduleID int64   `json:"schedule_id"`
	Person     int64   `json:"person_id"`
	Start      int64   `json:"start"`
	End        int64   `json:"end"`
	Reason     string  `json:"reason"`
	Asked      []int64 `json:"asked_ids"`
	Declined   []int64 `json:"declined_ids"`
	Expires    int64   `json:"expire_at"`

	Schedule string `json:"-"`
	Who      mark   `json:"-"`
	Waiting  []mark `json:"-"` // who has not answered yet
	Refused  []mark `json:"-"` // who has declined
}

// MayAnswer reports whether the person may answer requests for cover.
func (v *visit) MayAnswer() bool { return !v.who.Narrowed || v.MayPlan() }

// coversForMe returns the requests that wait for the reader's answer, the newest first.
func (v *visit) coversForMe() (listed[coverRow], error) {
	return v.covers(map[string]any{"for_me": true, "limit": 10})
}

// covers returns requests for cover with their names.
func (v *visit) covers(request map[string]any) (found listed[coverRow], err error) {
	if v.who.Narrowed && !v.MayReadSchedules() {
		return found, nil
	}
	if err := v.call("/schedule/cover/list", request, &found); err != nil || len(found.Items) == 0 {
		return found, err
	}
	c, schedules := v.newCast(), []int64{}
	for _, r := range found.Items {
		c.addPersons(r.Person)
		c.addPersons(r.Asked...)
		schedules = append(schedules, r.ScheduleID)
	}
	names, err := v.scheduleNames(schedules)
	if err == nil {
		err = c.load()
	}
	for i := range found.Items {
		r := &found.Items[i]
		r.Schedule = names[r.ScheduleID]
		r.Who = c.mark(r.Person)
		r.Refused = c.marks(r.Declined)
		r.Waiting = c.marks(slices.DeleteFunc(slices.Clone(r.Asked), func(id int64) bool { return slices.Contains(r.Declined, id) }))
		if r.Schedule == "" {
			r.Schedule = v.T("schedule %d", r.ScheduleID)
		}
	}
	return found, err
}

// scheduleNames returns the names of schedules by id; none to who may not read them.
func (v *visit) scheduleNames(ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if !v.MayReadSchedules() {
		return names, nil
	}
	var reply struct {
		Items []schedule `json:"items"`
	}
	err := v.call("/schedule/infos", map[string]any{"schedule_ids": ids}, &reply)
	for _, s := range reply.Items {
		names[s.ID] = s.Name
	}
	return names, err
}

// answerCover accepts or declines a request.
func answerCover(v *visit) (string, error) {
	answer := v.r.PathValue("answer")
	if answer != "accept" && answer != "decline" {
		return "", v.noSuchForm()
	}
	return "/", v.call("/schedule/cover/"+answer, map[string]any{"request_id": number(v.r.PathValue("request"))}, nil)
}

// cancelCover takes a request back.
func cancelCover(v *visit) (string, error) {
	err := v.call("/schedule/cover/cancel", map[string]any{"request_id": number(v.r.PathValue("request"))}, nil)
	return "/people/" + strconv.FormatInt(number(v.r.PathValue("id")), 10) + "/shifts", err
}
