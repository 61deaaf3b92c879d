package demo

import (
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/schedule"
)

const (
	platformOnCall int64 = accountID + 200_000 + iota*1000
	checkoutClock
	storefrontStack
	warehouseHandover
	managers
	fairTurns
	followTheSun
	nobodyYet
)

func schedules(m moments) []schedule.Record {
	all := []schedule.Record{
		{
			ScheduleID: platformOnCall,
			Body: body(platform, "Plattform: Rufbereitschaft",
				"Weekly, handed over on Mondays at 09:00. An override is always going on, and next week has two that overlap: the heavier one wins.",
				platformLayers(m)...),
		},
		{
			ScheduleID: checkoutClock,
			Body: body(checkout, "Checkout rund um die Uhr",
				"Days, nights and weekends in layers of their own, and one for public holidays. "+
					"Sunday night belongs to nobody: on Mondays the first nine hours are a gap.",
				dayNightWeekend(m)...),
		},
		{
			ScheduleID: storefrontStack,
			Body: body(storefront, "Storefront mit Datenbank-Reserve",
				"A primary for the week and, during the day, a database expert as backup: both are on call at the same time.",
				stacked(m)...),
		},
		{
			ScheduleID: warehouseHandover,
			Body: body(storefront, "Lager: Übergabe",
				"The agency ends on the first Monday of next month at 09:00; our own people take over at that second.",
				handover(m)...),
		},
		{
			ScheduleID: managers,
			Body: body(platform, "Incident managers",
				"A natural month each. While the warehouse moves, in May 2027, two deputies are on call with them.",
				rotation("Month", m.yearAgo(0, 9), "month", 1, group("Anna", anna), group("Zoë", zoe), group("Maya", maya)),
				deputies(m)),
		},
		{
			ScheduleID: fairTurns,
			Body: body(checkout, "Checkout second line",
				"Daily at 08:00, in fair order: nobody always gets the same day of the week. The turn of the clock change lasts 23 or 25 hours.",
				fair(m)...),
		},
		{
			ScheduleID: followTheSun,
			Body: body(storefront, "Follow the sun",
				"Every layer keeps the hours of its own time zone; where offices overlap, both are on call.",
				sun(m)...),
		},
		{
			ScheduleID: nobodyYet,
			Body:       body(storefront, "Search relevance (unstaffed)", "No layers yet, so that nobody is on call."),
		},
	}
	all[0].Notify = notify()
	for i := range all {
		s := &all[i]
		s.AccountID = accountID
		s.CreateBy = anna
		s.UpdateBy = jonas
		s.CreateAt, s.UpdateAt = m.yearAgo(-3, 15).Unix(), m.ago(9*day).Unix()
	}
	return all
}

// overrides lets a colleague take three hours of the person on call.
func overrides(m moments) []schedule.Override {
	primary, from := int64(0), m.now.Truncate(30*time.Minute).Add(26*hour)
	return []schedule.Override{{
		OverrideID: accountID + 210_000, ScheduleID: platformOnCall, RoleID: &primary, By: zoe,
		Start: from.Unix(), End: from.Add(3 * hour).Unix(), Reason: "Choir practice",
		CreateAt: m.ago(day).Unix(), CreateBy: zoe, UpdateAt: m.ago(day).Unix(), UpdateBy: zoe,
	}}
}

// absences lets one of seven persons who take turns be on holiday.
func absences(m moments) []absence.Absence {
	return []absence.Absence{{
		AbsenceID: accountID + 220_000, PersonID: eleni, Start: m.day(20, 0).Unix(), End: m.day(27, 0).Unix(), Note: "Holiday",
		CreateAt: m.ago(2 * day).Unix(), CreateBy: eleni, UpdateAt: m.ago(2 * day).Unix(), UpdateBy: eleni,
	}}
}

func body(team int64, name, description string, layers ...schedule.WrittenLayer) schedule.Body {
	return schedule.Body{ScheduleName: name, Description: &description, TeamID: &team, Layers: layers}
}

func platformLayers(m moments) []schedule.WrittenLayer {
	weekly := rotation("Week", m.yearAgo(0, 9), "week", 1, group("Anna", anna), group("Jonas", jonas), group("Łukasz", lukasz),
		group("민준", minjun))
	weekly.HandoffTime = 9 * 3600
	now := m.now.Truncate(30 * time.Minute)
	heavy := override("Swap on Wednesday", m.day(9, 0), m.day(10, 0), group("Łukasz", lukasz))
	heavy.Weight = 10
	return []schedule.WrittenLayer{
		weekly,
		override("Dentist", now.Add(-1*hour), now.Add(5*hour), group("Siobhán", siobhan)),
		override("Conference", m.day(7, 12), m.day(11, 18), group("Jonas + Siobhán", jonas, siobhan)),
		heavy,
	}
}

// dayNightWeekend covers the whole week except Monday 00:00 to 09:00. The duty days of the nights begin at 18:00 and
// extend into the next date, so that Friday night lasts until Saturday 09:00 beside the weekend. On a public holiday the
// persons of the days are off, and those of the holidays are on call in their place.
func dayNightWeekend(m moments) []schedule.WrittenLayer {
	days := rotation("Day", m.yearAgo(0, 0), "day", 1, group("Zoë", zoe), group("Ελένη", eleni), group("Олена", olena))
	days.DayMask.Repeat, days.SkipCalIDs = []int64{1, 2, 3, 4, 5}, []string{officeDays}
	restrict(&days, 1, 9*3600, 18*3600)
	nights := rotation("Night", m.yearAgo(0, 18), "day", 1, group("Beatriz", beatriz), group("佐藤", sato))
	nights.DayMask.Repeat, nights.MaskContinuousEnabled = []int64{1, 2, 3, 4, 5}, true
	restrict(&nights, 1, 18*3600, 9*3600)
	weekends := rotation("Weekend", m.yearAgo(5, 0), "week", 1, group("Олена", olena), group("Zoë", zoe), group("Ελένη", eleni))
	restrict(&weekends, 2, 5*86400, 7*86400)
	holidays := rotation("Holiday", m.yearAgo(0, 0), "day", 1, group("佐藤", sato), group("Beatriz", beatriz))
	holidays.DayMask.Repeat, holidays.OnlyCalIDs = []int64{1, 2, 3, 4, 5}, []string{officeDays}
	restrict(&holidays, 1, 9*3600, 18*3600)
	return []schedule.WrittenLayer{days, nights, weekends, holidays}
}

func stacked(m moments) []schedule.WrittenLayer {
	primary := rotation("Primary", m.yearAgo(0, 10), "week", 1, group("李娜", lina), group("Maya", maya), group("प्रिया", priya))
	primary.HandoffTime = 10 * 3600
	primary.Weight = 1
	backup := func(name string, person int64) schedule.Group {
		return schedule.Group{GroupName: name, Members: []schedule.Member{{RoleID: 1, PersonIDs: []int64{person}}}}
	}
	experts := rotation("Database experts", m.yearAgo(0, 8), "day", 2, backup("Jonas", jonas), backup("민준", minjun))
	restrict(&experts, 1, 8*3600, 20*3600)
	return []schedule.WrittenLayer{primary, experts}
}

func handover(m moments) []schedule.WrittenLayer {
	agency := rotation("Agency", m.yearAgo(0, 9), "day", 7, group("Beatriz", beatriz), group("Łukasz", lukasz))
	end := m.nextMonth().Unix()
	agency.LayerEnd = &end
	own := rotation("Own staff", m.nextMonth(), "week", 1, group("प्रिया", priya), group("李娜", lina))
	own.HandoffTime = 9 * 3600
	return []schedule.WrittenLayer{agency, own}
}

// deputies covers a month that is the same at any moment: examples of the reference name shifts in it.
func deputies(m moments) schedule.WrittenLayer {
	two := schedule.Group{GroupName: "Deputies", Members: []schedule.Member{{RoleID: 1, PersonIDs: []int64{anna, jonas}}}}
	may := rotation("Deputies", time.Date(2027, time.May, 1, 9, 0, 0, 0, m.now.Location()), "month", 1, two)
	may.LayerEnd = new(time.Date(2027, time.June, 1, 9, 0, 0, 0, m.now.Location()).Unix())
	return may
}

func fair(m moments) []schedule.WrittenLayer {
	daily := rotation("Second line", m.yearAgo(0, 8), "day", 1, group("Ελένη", eleni), group("Олена", olena), group("佐藤", sato),
		group("Beatriz", beatriz), group("Zoë", zoe), group("Maya", maya), group("Jonas", jonas))
	daily.FairRotation = true
	return []schedule.WrittenLayer{daily}
}

// sun covers every hour of the year, whichever of its zones have summer time. Weeks begin on each zone's own Monday.
func sun(m moments) []schedule.WrittenLayer {
	office := func(name, zone string, end int64, groups ...schedule.Group) schedule.WrittenLayer {
		year, month, date := m.yearAgo(0, 0).Date()
		l := rotation(name, time.Date(year, month, date, 0, 0, 0, 0, mustZone(zone)), "week", 1, groups...)
		l.TimeZone = zone
		restrict(&l, 1, 9*3600, end*3600)
		return l
	}
	return []schedule.WrittenLayer{
		office("東京", "Asia/Tokyo", 17, group("佐藤", sato), group("민준", minjun)),
		office("Berlin", "Europe/Berlin", 18, group("Zoë", zoe), group("Ελένη", eleni), group("Олена", olena)),
		office("São Paulo", "America/Sao_Paulo", 14, group("Beatriz", beatriz)),
		office("Los Angeles", "America/Los_Angeles", 17, group("Maya", maya), group("Siobhán", siobhan)),
	}
}

func rotation(name string, start time.Time, unit string, value int64, groups ...schedule.Group) schedule.WrittenLayer {
	return schedule.WrittenLayer{LayerConfig: schedule.LayerConfig{
		LayerName: name, LayerStart: start.Unix(), RotationUnit: unit, RotationValue: value, Groups: groups,
	}}
}

func override(name string, start, end time.Time, who schedule.Group) schedule.WrittenLayer {
	until := end.Unix()
	return schedule.WrittenLayer{LayerConfig: schedule.LayerConfig{
		LayerName: name, Mode: 1, LayerStart: start.Unix(), LayerEnd: &until, Groups: []schedule.Group{who},
	}}
}

func restrict(l *schedule.WrittenLayer, mode, start, end int64) {
	l.RestrictMode, l.RestrictPeriods = mode, []schedule.Period{{RestrictStart: start, RestrictEnd: end}}
}

func group(name string, persons ...int64) schedule.Group {
	return schedule.Group{GroupName: name, Members: []schedule.Member{{PersonIDs: persons}}}
}

func notify() *schedule.Notify {
	hour := int64(3600)
	return &schedule.Notify{
		AdvanceInTime: &hour,
		FixedTime:     &schedule.FixedTime{Cycle: "day", Start: "08:30"},
		By:            &schedule.NotifyBy{FollowPreference: true},
		Webhooks: &[]schedule.Webhook{
			{Type: "slack_app", Settings: schedule.WebhookSettings{DataSourceID: new(chat), ChatIDs: []string{"C0DEMO1ONCALL"}}},
			{
				Type: "zoom",
				Settings: schedule.WebhookSettings{
					Alias:       new("War room"),
					Token:       new("https://chat." + domain + "/hooks/war-room"),
					VerifyToken: new("${env:ZOOM_VERIFY_TOKEN}"),
				},
			},
		},
	}
}
