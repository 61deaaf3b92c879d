package schedule

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/core/oncall"
	schedules "tocsin/internal/schedule"
)

var schedulePages = []page.Page{
	{Path: "/schedules", Template: "schedules", Tab: "schedules", Show: showSchedules},
	{Path: "/schedules/new", Template: "schedule_edit", Tab: "schedules", Show: showEdit, Needs: page.ManageSchedules},
	{Path: "/schedules/{id}", Template: "schedule", Tab: "schedules", Show: showSchedule},
	{Path: "/schedules/{id}/why", Template: "schedule_why", Tab: "schedules", Show: showScheduleWhy},
	{Path: "/schedules/{id}/override", Template: "schedule_override", Tab: "schedules", Show: showOverride},
	{Path: "/schedules/{id}/edit", Template: "schedule_edit", Tab: "schedules", Show: showEdit, Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/plan", Template: "schedule_plan", Tab: "schedules", Show: showNoPlan, Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/delete", Template: "schedule_delete", Tab: "schedules", Show: showScheduleDelete, Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/shift/{kind}", Template: "schedule_shift", Tab: "schedules", Show: showShift},
	{Path: "/schedules/{id}/hours", Template: "schedule_hours", Tab: "schedules", Show: showHours},
	{Path: "/calendar-feeds", Template: "calendar_feeds", Tab: "schedules", Show: showFeeds},
	{Path: "/people/{id}/shifts", Template: "shifts", Tab: "schedules", Show: showShifts},
}

var scheduleActions = []page.Action{
	{Path: "/schedules/{id}/override", Do: makeOverride, Show: showOverride, Template: "schedule_override"},
	{Path: "/schedules/{id}/override/delete", Do: deleteOverride, Show: showOverride, Template: "schedule_override",
		Needs: page.ManageSchedules},
	{Path: "/schedules/new", Do: changeSchedule, Show: showEdit, Template: "schedule_edit", Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/edit", Do: changeSchedule, Show: showEdit, Template: "schedule_edit", Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/plan", Do: changeSchedule, Show: showEdit, Template: "schedule_edit", Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/delete", Do: page.Does[api.Removal]("/schedule/delete", "/schedules", scheduleToDelete),
		Show: showScheduleDelete, Template: "schedule_delete", Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/status/{to}", Do: setScheduleStatus, Show: showSchedule, Template: "schedule", Needs: page.ManageSchedules},
	{Path: "/schedules/{id}/shift/{kind}", Do: changeShift, Show: showShift, Template: "schedule_shift"},
	{Path: "/people/{id}/cover/{request}/cancel", Do: cancelCover, Show: showShifts, Template: "shifts"},
	{Path: "/calendar-feeds", Do: makeFeed, Show: showFeeds, Template: "calendar_feeds"},
	{Path: "/calendar-feeds/revoke", Do: revokeFeed, Show: showFeeds, Template: "calendar_feeds"},
	{Path: "/people/{id}/absence", Do: makeAbsence, Show: showShifts, Template: "shifts"},
	{Path: "/people/{id}/absence/delete", Do: deleteAbsence, Show: showShifts, Template: "shifts"},
}

// schedule is a schedule of a reply. Its methods return what members hold that a reply may lack; zero: it lacks them.
type schedule struct{ schedules.Schedule }

// Name returns the schedule's name.
func (s schedule) Name() string { return page.ValueOf(s.ScheduleName) }

// Description returns what the schedule is for.
func (s schedule) Description() string { return page.ValueOf(s.Schedule.Description) }

// Status returns 0 for a schedule that is enabled and 1 for a disabled one.
func (s schedule) Status() int64 { return page.ValueOf(s.Schedule.Status) }

// Layers returns the layers as they are configured.
func (s schedule) Layers() []schedules.Layer { return page.ValueOf(s.Schedule.Layers) }

// Overrides returns the overrides of the window.
func (s schedule) Overrides() []schedules.Override { return page.ValueOf(s.Schedule.Overrides) }

// final returns when who is on call in the window.
func (s schedule) final() []schedules.Entry { return page.ValueOf(s.FinalSchedule.Schedules) }

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

// mayServe reports whether the person may take shifts of a schedule, hand over their own and ask for cover. It only decides
// what is drawn: the operations refuse the rest.
func mayServe(v *page.Visit, s schedule) bool {
	may := v.MayPlan() || s.SelfService && !v.Who.Narrowed
	return may && s.Status() == 0 && slices.Contains(s.members(), v.Who.PersonID)
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

// city returns the name of a zone for people: the last part of its name.
func city(zone *time.Location) string {
	name := zone.String()
	return strings.ReplaceAll(name[strings.LastIndexByte(name, '/')+1:], "_", " ")
}

// schedulesView is the list of schedules.
type schedulesView struct {
	page.Titled
	Query     string
	P, Total  int64
	Before    int64 // the pages before and after; 0: none
	After     int64
	Schedules []scheduleRow
	DayLabels []picture.Tick
	Window    listWindow
}

// scheduleRow is a schedule in the list.
type scheduleRow struct {
	schedule
	Who   []picture.Mark
	Until int64
	Next  []picture.Mark
	From  int64 // of the next shift
	Gap   int64 // when no one is on call next; 0: not in the week
	Rules int64
	Bars  []picture.BarView
}

// week is the window of the list, in days; schedulesAtOnce is how many schedules it has at once.
const week, schedulesAtOnce = 7, 20

func showSchedules(v *page.Visit) (page.View, error) {
	d := schedulesView{Titled: page.Titled(v.T("Schedules")), Query: v.Query("q"), P: max(1, page.Number(v.Query("p")))}
	d.Window = readListWindow(v)
	from, until := d.Window.From, d.Window.To
	request := schedules.ListRequest{Query: d.Query, IsMyTeam: d.Window.Teams, Window: schedules.Window{Start: &from, End: &until}}
	request.P, request.Limit = d.P, schedulesAtOnce
	reply, err := page.Call[schedules.Page](v, "/schedule/list", request)
	if err != nil {
		return nil, err
	}
	found := asSchedules(reply.Items)
	d.Total, d.Before = reply.Total, d.P-1
	if d.P*schedulesAtOnce < d.Total {
		d.After = d.P + 1
	}
	rules, err := uses(v, found)
	if err != nil {
		return nil, err
	}
	c := newCast(v)
	for _, s := range found {
		c.add(s)
	}
	if err := c.load(); err != nil {
		return nil, err
	}
	p := newPainter(v, c, v.Zone)
	for _, s := range found {
		row := scheduleRow{schedule: s, Rules: rules[s.ScheduleID]}
		pieces := picture.WithGaps(c.final(s), from, until)
		if e := s.CurOncall; e != nil {
			row.Who, row.Until = c.Marks(personsOf(e.Group)), e.End
		}
		if e := s.NextOncall; e != nil {
			row.Next, row.From = c.Marks(personsOf(e.Group)), e.Start
		}
		if i := slices.IndexFunc(pieces, func(p picture.Piece) bool { return len(p.Persons) == 0 }); i >= 0 {
			row.Gap = pieces[i].Start
		}
		row.Bars = p.Bars(picture.LaneBars(pieces, from, until, v.Now.Unix()), "solid", 0, 0, picture.LaneSliver)
		d.Schedules = append(d.Schedules, row)
	}
	d.DayLabels = p.Axis(d.Window.days(v.Zone), from, until)
	return d, nil
}

// uses returns how many rules use each schedule.
func uses(v *page.Visit, list []schedule) (map[int64]int64, error) {
	rules := map[int64]int64{}
	if !v.MayReadSchedules() || len(list) == 0 {
		return rules, nil
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].ScheduleID
	}
	reply, err := page.Call[api.Items[schedules.Use]](v, "/schedule/uses", schedules.UsesRequest{ScheduleIDs: ids})
	for _, i := range reply.Items {
		rules[i.ScheduleID] = i.Rules
	}
	return rules, err
}
