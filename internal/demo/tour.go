package demo

import (
	"fmt"
	"time"
)

// Tour returns example calls of what is beside the specification's operations, as of now: what happened, how well it was
// handled, and who is on call on special days.
func Tour(now time.Time) []Call {
	m := momentsAt(now)
	week := fmt.Sprintf(`"start_time": %d, "end_time": %d`, m.ago(7*day).Unix(), m.now.Unix())
	return []Call{
		{"How fast each team acknowledged and closed its incidents of the last week", "/insight/team", `{` + week + `}`},
		{"An incident with its custom fields", "/incident/info", fmt.Sprintf(`{"incident_id": "%s"}`, object(kindIncident, 1))},
		{
			"Earlier incidents that are similar to one, and why",
			"/incident/past/list",
			fmt.Sprintf(`{"incident_id": "%s"}`, object(kindIncident, 4)),
		},
		{
			"What was changed in the last three days: the basket, shortly before it failed",
			"/change/list",
			fmt.Sprintf(`{"start_time": %d, "end_time": %d}`, m.ago(3*day).Unix(), m.now.Unix()),
		},
		{"What the status page shows of it", "/status-page/change/active/list", fmt.Sprintf(`{"page_id": %d}`, shopPage)},
		{"Every version of a route, the newest first", "/route/history/list", fmt.Sprintf(`{"integration_id": %d}`, prometheusIntake)},
		{"What is wrong with a schedule: Monday mornings have no one", "/schedule/lint", fmt.Sprintf(`{"schedule_ids": [%d]}`, checkoutClock)},
		{
			"Is it fair? Hours, nights, weekends and holidays of each person, over a year",
			"/schedule/stats",
			fmt.Sprintf(`{"schedule_ids": [%d], "start": %d, "end": %d, "cal_id": "%s"}`,
				fairTurns, m.day(-363, 0).Unix(), m.day(1, 0).Unix(), officeDays),
		},
		{
			"Who stands in for Ελένη while she is absent, and why",
			"/schedule/explain",
			fmt.Sprintf(`{"schedule_id": %d, "at": %d}`, fairTurns, m.day(absentTurn, 12).Unix()),
		},
		{
			"Who is on call on the next public holiday, and why",
			"/schedule/explain",
			fmt.Sprintf(`{"schedule_id": %d, "at": %d}`, checkoutClock, m.nextHoliday().Unix()),
		},
		{"Who asks for cover and waits for a yes", "/schedule/cover/list", `{"status": "open"}`},
		{"Make an address of your shifts for your calendar program", "/schedule/calendar/url", `{"kind": "person"}`},
	}
}

// absentTurn is the day, counted from this week's Monday, on which the turn of the person who is absent begins.
const absentTurn = 22
