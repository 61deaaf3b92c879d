package console

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/oncall"
	schedules "tocsin/internal/schedule"
)

var schedulePages = []page{
	{path: "/schedules", template: "schedules", tab: "schedules", show: showSchedules},
	{path: "/schedules/new", template: "schedule_edit", tab: "schedules", show: showEdit, needs: manageSchedules},
	{path: "/schedules/{id}", template: "schedule", tab: "schedules", show: showSchedule},
	{path: "/schedules/{id}/why", template: "schedule_why", tab: "schedules", show: showScheduleWhy},
	{path: "/schedules/{id}/override", template: "schedule_override", tab: "schedules", show: showOverride},
	{path: "/schedules/{id}/edit", template: "schedule_edit", tab: "schedules", show: showEdit, needs: manageSchedules},
	{path: "/schedules/{id}/plan", template: "schedule_plan", tab: "schedules", show: showNoPlan, needs: manageSchedules},
	{path: "/schedules/{id}/delete", template: "schedule_delete", tab: "schedules", show: showScheduleDelete, needs: manageSchedules},
	{path: "/schedules/{id}/shift/{kind}", template: "schedule_shift", tab: "schedules", show: showShift},
	{path: "/schedules/{id}/hours", template: "schedule_hours", tab: "schedules", show: showHours},
	{path: "/calendar-feeds", template: "calendar_feeds", tab: "schedules", show: showFeeds},
	{path: "/people/{id}/shifts", template: "shifts", tab: "schedules", show: showShifts},
}

var scheduleActions = []action{
	{path: "/schedules/{id}/override", do: makeOverride, show: showOverride, page: "schedule_override"},
	{path: "/schedules/{id}/override/delete", do: deleteOverride, show: showOverride, page: "schedule_override", needs: manageSchedules},
	{path: "/schedules/new", do: changeSchedule, show: showEdit, page: "schedule_edit", needs: manageSchedules},
	{path: "/schedules/{id}/edit", do: changeSchedule, show: showEdit, page: "schedule_edit", needs: manageSchedules},
	{path: "/schedules/{id}/plan", do: changeSchedule, show: showEdit, page: "schedule_edit", needs: manageSchedules},
	{path: "/schedules/{id}/delete", do: deleteSchedule, show: showScheduleDelete, page: "schedule_delete", needs: manageSchedules},
	{path: "/schedules/{id}/status/{to}", do: setScheduleStatus, show: showSchedule, page: "schedule", needs: manageSchedules},
	{path: "/schedules/{id}/shift/{kind}", do: changeShift, show: showShift, page: "schedule_shift"},
	{path: "/cover/{request}/{answer}", do: answerCover, show: showNow, page: "now"},
	{path: "/people/{id}/cover/{request}/cancel", do: cancelCover, show: showShifts, page: "shifts"},
	{path: "/calendar-feeds", do: makeFeed, show: showFeeds, page: "calendar_feeds"},
	{path: "/calendar-feeds/revoke", do: revokeFeed, show: showFeeds, page: "calendar_feeds"},
	{path: "/people/{id}/absence", do: makeAbsence, show: showShifts, page: "shifts"},
	{path: "/people/{id}/absence/delete", do: deleteAbsence, show: showShifts, page: "shifts"},
}

// schedule is a schedule of a reply. Its methods return what members hold that a reply may lack; zero: it lacks them.
type schedule struct{ schedules.Schedule }

// Name returns the schedule's name.
func (s schedule) Name() string { return valueOf(s.ScheduleName) }

// Description returns what the schedule is for.
func (s schedule) Description() string { return valueOf(s.Schedule.Description) }

// Status returns 0 for a schedule that is enabled and 1 for a disabled one.
func (s schedule) Status() int64 { return valueOf(s.Schedule.Status) }

// Layers returns the layers as they are configured.
func (s schedule) Layers() []schedules.Layer { return valueOf(s.Schedule.Layers) }

// Overrides returns the overrides of the window.
func (s schedule) Overrides() []schedules.Override { return valueOf(s.Schedule.Overrides) }

// final returns when who is on call in the window.
func (s schedule) final() []schedules.Entry { return valueOf(s.FinalSchedule.Schedules) }

// The modes of layers.
const rotation, overriding = int64(oncall.Rotation), int64(oncall.Override)

// asSchedules returns the schedules of a reply.
func asSchedules(items []schedules.Schedule) []schedule {
	all := make([]schedule, len(items))
	for i, item := range items {
		all[i] = schedule{item}
	}
	return all
}

// personsOf returns the persons of a group, each once, the primary ones first.
func personsOf(g schedules.Group) (all []int64) {
	members := slices.SortedStableFunc(slices.Values(g.Members), func(a, b schedules.Member) int { return int(a.RoleID - b.RoleID) })
	for _, m := range members {
		for _, p := range m.PersonIDs {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// MayPlan reports whether the person may change schedules.
func (v *visit) MayPlan() bool { return v.who.May(auth.SchedulesManage) }

// MayReadSchedules reports whether the person may look into schedules.
func (v *visit) MayReadSchedules() bool { return v.who.May(auth.SchedulesRead) || v.MayPlan() }

// MayServe reports whether the person may take shifts of a schedule, hand over their own and ask for cover. It only decides
// what is drawn: the operations refuse the rest.
func (v *visit) MayServe(s schedule) bool {
	may := v.MayPlan() || s.SelfService && !v.who.Narrowed
	return may && s.Status() == 0 && slices.Contains(s.members(), v.who.PersonID)
}

// members returns the persons in the layers of the schedule, and who is on call in place of others, each once.
func (s schedule) members() (all []int64) {
	add := func(persons ...int64) {
		for _, p := range persons {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	for _, l := range s.Layers() {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				add(m.PersonIDs...)
			}
		}
	}
	for _, o := range s.Overrides() {
		add(o.By)
	}
	return all
}

// number returns a whole number of an address or a form; 0: it is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// zoneOf returns a zone by its name, or the account's.
func (v *visit) zoneOf(name string) *time.Location {
	if loc, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return loc
	}
	return v.who.Zone
}

// city returns the name of a zone for people: the last part of its name.
func city(zone *time.Location) string {
	name := zone.String()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// schedulesView is the list of schedules.
type schedulesView struct {
	titled
	Query     string
	P, Total  int64
	Before    int64 // the pages before and after; 0: none
	After     int64
	Schedules []scheduleRow
	DayLabels []tick
}

// scheduleRow is a schedule in the list.
type scheduleRow struct {
	schedule
	Who   []mark
	Until int64
	Next  []mark
	From  int64 // of the next shift
	Gap   int64 // when no one is on call next; 0: not in the week
	Rules int64
	Bars  []barView
}

// week is the window of the list, in days; schedulesAtOnce is how many schedules it has at once.
const week, schedulesAtOnce = 7, 20

func showSchedules(v *visit) (view, error) {
	d := schedulesView{titled: titled(v.T("Schedules")), Query: v.query("q"), P: max(1, number(v.query("p")))}
	from, until := v.Now.Unix(), v.Now.Unix()+week*86400
	request := schedules.ListRequest{Query: d.Query, Window: schedules.Window{Start: &from, End: &until}}
	request.P, request.Limit = d.P, schedulesAtOnce
	reply, err := call[schedules.Page](v, "/schedule/list", request)
	if err != nil {
		return nil, err
	}
	found := asSchedules(reply.Items)
	d.Total, d.Before = reply.Total, d.P-1
	if d.P*schedulesAtOnce < d.Total {
		d.After = d.P + 1
	}
	rules, err := v.uses(found)
	if err != nil {
		return nil, err
	}
	c := v.newCast()
	for _, s := range found {
		c.add(s)
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	p := v.newPainter(c, v.Zone)
	for _, s := range found {
		row := scheduleRow{schedule: s, Rules: rules[s.ScheduleID]}
		pieces := withGaps(c.final(s), from, until)
		if e := s.CurOncall; e != nil {
			row.Who, row.Until = c.marks(personsOf(e.Group)), e.End
		}
		if e := s.NextOncall; e != nil {
			row.Next, row.From = c.marks(personsOf(e.Group)), e.Start
		}
		if i := slices.IndexFunc(pieces, func(p piece) bool { return len(p.Persons) == 0 }); i >= 0 {
			row.Gap = pieces[i].Start
		}
		row.Bars = p.bars(laneBars(pieces, from, until, from), "solid", 0, 0, laneSliver)
		d.Schedules = append(d.Schedules, row)
	}
	d.DayLabels = p.days(daysFrom(from, week+1, v.Zone), from, until)
	return d, nil
}

// uses returns how many rules use each schedule.
func (v *visit) uses(list []schedule) (map[int64]int64, error) {
	rules := map[int64]int64{}
	if !v.MayReadSchedules() || len(list) == 0 {
		return rules, nil
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ScheduleID
	}
	reply, err := call[api.Items[schedules.Use]](v, "/schedule/uses", schedules.UsesRequest{ScheduleIDs: ids})
	for _, i := range reply.Items {
		rules[i.ScheduleID] = i.Rules
	}
	return rules, err
}
