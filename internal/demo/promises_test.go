package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/schedule"
)

// promises are the features that the schedules demonstrate: the schedule, the window, and the check of its result.
var promises = []struct {
	name     string
	schedule int64
	window   func(m moments) (from, to time.Time)
	holds    func(m moments, s seen) bool
}{
	{"an override is going on", platformOnCall, next(7), func(m moments, s seen) bool {
		return s.CurOncall != nil && s.CurOncall.Group.GroupName == "Siobhán" && s.who(m.now) == "Siobhán" && s.layer("Dentist") != nil
	}},
	{"next week a heavier override wins", platformOnCall, nextWeek, func(m moments, s seen) bool {
		return s.who(m.day(8, 12)) == "Jonas + Siobhán" && s.who(m.day(9, 12)) == "Łukasz" && s.who(m.day(10, 12)) == "Jonas + Siobhán"
	}},
	{"weeks begin on Monday at 09:00", platformOnCall, nextWeek, func(m moments, s seen) bool {
		week := s.layer("Week")
		return len(week) == 2 && week[0].End == m.day(7, 9).Unix() && week[0].Index != week[1].Index
	}},
	{"days, nights and weekends have layers of their own", checkoutClock, nextWeek, func(m moments, s seen) bool {
		return len(s.layer("Day")) == 5 && len(s.layer("Night")) == 5 && len(s.layer("Weekend")) > 0
	}},
	{"a night goes on after midnight", checkoutClock, nextWeek, func(m moments, s seen) bool {
		return has(s.layer("Night"), m.day(9, 18), m.day(10, 9)) && has(s.layer("Night"), m.day(11, 18), m.day(12, 9))
	}},
	{"Monday begins with a gap", checkoutClock, nextWeek, func(m moments, s seen) bool {
		return s.who(m.day(7, 0)) == "" && s.who(m.day(7, 8)) == "" && s.begins(m.day(7, 9))
	}},
	{"Friday night and the weekend are on call together", checkoutClock, nextWeek, func(m moments, s seen) bool {
		return strings.Contains(s.who(m.day(12, 4)), "+") && s.begins(m.day(12, 0))
	}},
	{"a backup is stacked on the primary", storefrontStack, nextWeek, func(m moments, s seen) bool {
		e := s.at(m.day(8, 12))
		return e != nil && strings.Contains(e.Group.GroupName, "+") && len(e.Group.Members) == 2 && len(s.at(m.day(8, 22)).Group.Members) == 1
	}},
	{"a layer ends next month and another follows", warehouseHandover, around(moments.nextMonth), func(m moments, s seen) bool {
		agency, own := s.layer("Agency"), s.layer("Own staff")
		end := m.nextMonth().Unix()
		return len(agency) > 0 && agency[len(agency)-1].End == end && len(own) > 0 && own[0].Start == end
	}},
	{"months have their natural length", managers, next(45), func(m moments, s seen) bool {
		from, to := time.Unix(s.CurOncall.Start, 0).In(m.monday.Location()), time.Unix(s.CurOncall.End, 0).In(m.monday.Location())
		return to.Equal(from.AddDate(0, 1, 0)) || from.Day() > 28 || from.Day() != to.Day()
	}},
	{"the turn of the next clock change is an hour shorter or longer", fairTurns, around(moments.clockChange), func(m moments, s seen) bool {
		change := m.clockChange().Unix()
		for _, e := range s.layer("Second line") {
			if e.Start < change && change < e.End {
				return e.End-e.Start == 23*3600 || e.End-e.Start == 25*3600
			}
		}
		return false
	}},
	{"a fair rotation moves on through the week", fairTurns, next(45), func(m moments, s seen) bool {
		return s.who(m.day(8, 12)) != s.who(m.day(15, 12)) && s.who(m.day(15, 12)) != s.who(m.day(22, 12))
	}},
	{"a person is always awake", followTheSun, next(45), func(m moments, s seen) bool {
		return unbroken(s, m.now, m.now.Add(45*day))
	}},
	{"and was half a year ago", followTheSun, func(m moments) (time.Time, time.Time) { return m.day(-200, 0), m.day(-160, 0) }, func(m moments, s seen) bool {
		return unbroken(s, m.day(-200, 0), m.day(-160, 0))
	}},
	{"offices overlap", followTheSun, next(7), func(m moments, s seen) bool {
		for _, e := range *s.FinalSchedule.Schedules {
			if strings.Contains(e.Group.GroupName, "+") {
				return true
			}
		}
		return false
	}},
	{"every layer keeps its own zone", followTheSun, nextWeek, func(m moments, s seen) bool {
		for _, e := range s.layer("東京") {
			if time.Unix(e.Start, 0).In(mustZone("Asia/Tokyo")).Hour() != 9 {
				return false
			}
		}
		return has(s.layer("Berlin"), m.day(8, 9), m.day(8, 18)) && len(s.layer("Los Angeles")) >= 7
	}},
	{"no one is on call", nobodyYet, next(45), func(m moments, s seen) bool {
		return s.CurOncall == nil && s.NextOncall == nil && len(*s.FinalSchedule.Schedules) == 0
	}},
	{"there is a year of history", platformOnCall, func(m moments) (time.Time, time.Time) { return m.day(-363, 0), m.day(-334, 0) }, func(m moments, s seen) bool {
		return unbroken(s, m.day(-363, 0), m.day(-334, 0))
	}},
}

// TestAtAnyMoment: at any moment the account is accepted and demonstrates its features.
func TestAtAnyMoment(t *testing.T) {
	t.Parallel()
	s, keyring := serve(t)
	for _, text := range nows {
		m := momentsAt(parse(t, text))
		if err := accountfile.Import(t.Context(), s.DB, keyring, sample(m.now), m.now, true); err != nil {
			t.Fatalf("at %s: %v", text, err)
		}
		s.Clock.Set(m.now)
		key := filled(t, s, keyring, m.now).ReadOnly
		for _, p := range promises {
			from, to := p.window(m)
			var got schedule.Schedule
			s.Call(key, "/schedule/info", fmt.Sprintf(`{"schedule_id": %d, "start": %d, "end": %d}`, p.schedule, from.Unix(), to.Unix())).Into(&got)
			if !p.holds(m, seen{got}) {
				t.Errorf("at %s it does not show that %s", text, p.name)
			}
		}
		for _, e := range []struct{ schedule, at int64 }{{fairTurns, m.day(absentTurn, 12).Unix()}, {checkoutClock, m.nextHoliday().Unix()}} {
			var why struct {
				Oncall *schedule.Entry
				Layers []struct {
					StandIn   string `json:"stand_in"`
					GroupName string `json:"group_name"`
					Calendar  string
				}
			}
			s.Call(key, "/schedule/explain", fmt.Sprintf(`{"schedule_id": %d, "at": %d}`, e.schedule, e.at)).Into(&why)
			first := why.Layers[0]
			switch {
			case why.Oncall == nil:
				t.Errorf("at %s no one is on call in %d at %d", text, e.schedule, e.at)
			case e.schedule == fairTurns && (first.GroupName != "Ελένη" || first.StandIn == ""):
				t.Errorf("at %s no one stands in: %+v", text, why)
			case e.schedule == checkoutClock && first.Calendar == "":
				t.Errorf("at %s the holiday is none: %+v", text, why)
			}
		}
		var rules struct {
			Items []struct {
				RuleName    string `json:"rule_name"`
				IsEffective bool   `json:"is_effective"`
			}
		}
		s.Call(key, "/channel/silence/rule/list", fmt.Sprintf(`{"channel_id": %d}`, payments)).Into(&rules)
		clock := m.now.Format("15:04")
		inForce := []bool{true, clock >= "22:00" || clock < "06:30", m.now.Weekday()%6 == 0, false, false}
		if len(rules.Items) != len(inForce) {
			t.Fatalf("%d silence rules, want %d", len(rules.Items), len(inForce))
		}
		for i, r := range rules.Items {
			if r.IsEffective != inForce[i] {
				t.Errorf("at %s silence rule %q is in force: %t", text, r.RuleName, r.IsEffective)
			}
		}
	}
}

// seen is the reply of /schedule/info.
type seen struct{ schedule.Schedule }

// at returns the entry of the final schedule that contains a moment, or nil.
func (s seen) at(t time.Time) *schedule.Entry {
	for _, e := range *s.FinalSchedule.Schedules {
		if e.Start <= t.Unix() && t.Unix() < e.End {
			return &e
		}
	}
	return nil
}

func (s seen) who(t time.Time) string {
	if e := s.at(t); e != nil {
		return e.Group.GroupName
	}
	return ""
}

func (s seen) layer(name string) []schedule.Entry {
	for _, l := range *s.LayerSchedules {
		if l.LayerName == name {
			return *l.Schedules
		}
	}
	return nil
}

// begins reports whether the final schedule has an entry that begins at a moment.
func (s seen) begins(at time.Time) bool {
	for _, e := range *s.FinalSchedule.Schedules {
		if e.Start == at.Unix() {
			return true
		}
	}
	return false
}

func has(entries []schedule.Entry, from, to time.Time) bool {
	for _, e := range entries {
		if e.Start == from.Unix() && e.End == to.Unix() {
			return true
		}
	}
	return false
}

// unbroken reports whether a person is on call at every second of a window.
func unbroken(s seen, from, to time.Time) bool {
	at := from.Unix()
	for _, e := range *s.FinalSchedule.Schedules {
		if e.Start != at {
			return false
		}
		at = e.End
	}
	return at == to.Unix()
}

func next(days int) func(m moments) (from, to time.Time) {
	return func(m moments) (from, to time.Time) { return m.now, m.now.Add(time.Duration(days) * day) }
}

func nextWeek(m moments) (from, to time.Time) { return m.day(7, 0), m.day(14, 0) }

func around(at func(moments) time.Time) func(m moments) (from, to time.Time) {
	return func(m moments) (from, to time.Time) { return at(m).Add(-10 * day), at(m).Add(10 * day) }
}

// clockChange returns the next clock change in the account's zone.
func (m moments) clockChange() time.Time {
	_, end := m.now.ZoneBounds()
	return end
}
