package console

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	schedules "tocsin/internal/schedule"
)

// coverRow is a request that another person be on call in someone's place.
type coverRow struct {
	schedules.CoverRequest
	Schedule string
	Who      mark
	Waiting  []mark // who has not answered yet
	Refused  []mark // who has declined
}

// MayAnswer reports whether the person may answer requests for cover.
func (v *visit) MayAnswer() bool { return !v.who.Narrowed || v.MayPlan() }

// coversForMe returns the requests that wait for the reader's answer, the newest first.
func (v *visit) coversForMe() (listed[coverRow], error) {
	return v.covers(schedules.CoverListRequest{ForMe: true, Page: ten})
}

// covers returns requests for cover with their names.
func (v *visit) covers(request schedules.CoverListRequest) (found listed[coverRow], err error) {
	if v.who.Narrowed && !v.MayReadSchedules() {
		return found, nil
	}
	reply, err := call[api.Paged[schedules.CoverRequest]](v, "/schedule/cover/list", request)
	if err != nil || len(reply.Items) == 0 {
		return found, err
	}
	c, ids := v.newCast(), []int64{}
	for _, r := range reply.Items {
		c.addPersons(r.PersonID)
		c.addPersons(r.AskedIDs...)
		ids = append(ids, r.ScheduleID)
	}
	names, err := v.scheduleNames(ids)
	if err == nil {
		err = c.load()
	}
	found.Total = reply.Total
	for _, asked := range reply.Items {
		r := coverRow{CoverRequest: asked, Schedule: names[asked.ScheduleID], Who: c.mark(asked.PersonID)}
		r.Refused = c.marks(r.Declined)
		r.Waiting = c.marks(slices.DeleteFunc(slices.Clone(r.AskedIDs), func(id int64) bool { return slices.Contains(r.Declined, id) }))
		if r.Schedule == "" {
			r.Schedule = v.T("schedule %d", r.ScheduleID)
		}
		found.Items = append(found.Items, r)
	}
	return found, err
}

// scheduleNames returns the names of schedules by id; none to who may not read them.
func (v *visit) scheduleNames(ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if !v.MayReadSchedules() {
		return names, nil
	}
	reply, err := call[api.Items[schedules.Schedule]](v, "/schedule/infos", schedules.InfosRequest{ScheduleIDs: ids})
	for _, s := range asSchedules(reply.Items) {
		names[s.ScheduleID] = s.Name()
	}
	return names, err
}

// answerCover accepts or declines a request.
func answerCover(v *visit) (string, error) {
	request := schedules.CoverAnswerRequest{RequestID: number(v.r.PathValue("request"))}
	switch v.r.PathValue("answer") {
	case "accept":
		return "/", do[schedules.CoverTaken](v, "/schedule/cover/accept", request)
	case "decline":
		return "/", do[api.Empty](v, "/schedule/cover/decline", request)
	}
	return "", v.noSuchForm()
}

// cancelCover takes a request back.
func cancelCover(v *visit) (string, error) {
	err := do[api.Empty](v, "/schedule/cover/cancel", schedules.CoverAnswerRequest{RequestID: number(v.r.PathValue("request"))})
	return "/people/" + strconv.FormatInt(number(v.r.PathValue("id")), 10) + "/shifts", err
}
