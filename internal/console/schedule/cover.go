package schedule

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// CoverRow is a request that another person be on call in someone's place.
type CoverRow struct {
	schedules.CoverRequest
	Schedule string
	Who      picture.Mark
	Waiting  []picture.Mark // who has not answered yet
	Refused  []picture.Mark // who has declined
}

// CoversForMe returns the requests that wait for the reader's answer, the newest first.
func CoversForMe(v *page.Visit) (page.Listed[CoverRow], error) {
	return covers(v, schedules.CoverListRequest{ForMe: true, Page: page.Ten})
}

// covers returns requests for cover with their names.
func covers(v *page.Visit, request schedules.CoverListRequest) (found page.Listed[CoverRow], err error) {
	if v.Who.Narrowed && !v.MayReadSchedules() {
		return found, nil
	}
	reply, err := page.Call[api.Paged[schedules.CoverRequest]](v, "/schedule/cover/list", request)
	if err != nil || len(reply.Items) == 0 {
		return found, err
	}
	c, ids := newCast(v), []int64{}
	for _, r := range reply.Items {
		c.AddPersons(r.PersonID)
		c.AddPersons(r.AskedIDs...)
		ids = append(ids, r.ScheduleID)
	}
	names, err := scheduleNames(v, ids)
	if err == nil {
		err = c.load()
	}
	found.Total = reply.Total
	for _, asked := range reply.Items {
		r := CoverRow{CoverRequest: asked, Schedule: names[asked.ScheduleID], Who: c.Mark(asked.PersonID)}
		r.Refused = c.Marks(r.Declined)
		r.Waiting = c.Marks(slices.DeleteFunc(slices.Clone(r.AskedIDs), func(id int64) bool { return slices.Contains(r.Declined, id) }))
		if r.Schedule == "" {
			r.Schedule = v.T("schedule %d", r.ScheduleID)
		}
		found.Items = append(found.Items, r)
	}
	return found, err
}

// scheduleNames returns the names of schedules by id; none to who may not read them.
func scheduleNames(v *page.Visit, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	if !v.MayReadSchedules() {
		return names, nil
	}
	reply, err := page.Call[api.Items[schedules.Schedule]](v, "/schedule/infos", schedules.InfosRequest{ScheduleIDs: ids})
	for _, s := range asSchedules(reply.Items) {
		names[s.ScheduleID] = s.Name()
	}
	return names, err
}

// AnswerCover accepts or declines a request.
func AnswerCover(v *page.Visit) (string, error) {
	request := schedules.CoverAnswerRequest{RequestID: page.Number(v.Request.PathValue("request"))}
	switch v.Request.PathValue("answer") {
	case "accept":
		return "/", page.Do[schedules.CoverTaken](v, "/schedule/cover/accept", request)
	case "decline":
		return "/", page.Do[api.Empty](v, "/schedule/cover/decline", request)
	}
	return "", v.NoSuchForm()
}

// cancelCover takes a request back.
func cancelCover(v *page.Visit) (string, error) {
	err := page.Do[api.Empty](v, "/schedule/cover/cancel",
		schedules.CoverAnswerRequest{RequestID: page.Number(v.Request.PathValue("request"))})
	return "/people/" + strconv.FormatInt(v.ID(), 10) + "/shifts", err
}
