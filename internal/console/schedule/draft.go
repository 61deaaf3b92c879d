package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/console/page"
	"tocsin/internal/core/oncall"
	schedules "tocsin/internal/schedule"
)

// draft is a schedule that is being edited: what the form holds.
type draft struct {
	Name, Description, Zone, WhenAbsent string
	Revision, Team                      int64
	ManagedOnly                         bool // its persons do not change shifts themselves
	Notices                             draftNotices
	Layers                              []draftLayer
}

// newDraft is a schedule in which the first person takes turns of a week from the last Monday. A link to the form may name it.
func newDraft(v *page.Visit) draft {
	here := v.Now.In(v.Who.Zone)
	monday := time.Date(here.Year(), here.Month(), here.Day()-(int(here.Weekday())+6)%7, 9, 0, 0, 0, v.Who.Zone)
	if monday.After(here) {
		monday = monday.AddDate(0, 0, -7) // so that no gap is left before it
	}
	return draft{
		Name: v.Query("name"), Zone: v.Who.Zone.String(), WhenAbsent: "next",
		Layers: []draftLayer{{Unit: "week", Value: "1", Start: monday.Format(page.LocalTime), Groups: []draftGroup{{}}}},
	}
}

// draftLayer is a layer as the form shows it. Raw is the layer as it was stored; members that the form does not show stay
// as they are there.
type draftLayer struct {
	Raw                    string
	Name                   string
	Override               bool
	Unit                   string
	Value                  string
	Start, End             string // in the layer's zone
	Zone                   string
	Days                   [7]bool // from Sunday; none: all
	HoursFrom, HoursUntil  string  // of every day; empty: around the clock
	HoursKept              bool    // the hours are more than the form can show
	HandoffDay, HandoffFor string  // of shifts of one week: 1 Monday to 7 Sunday and the time; empty: as the start
	Skip, Only             []string
	Fair, Continuous       bool // see fair_rotation and mask_continuous_enabled
	Hidden                 bool // in user interfaces
	Groups                 []draftGroup
}

type draftGroup struct {
	Name    string
	Members []draftMember
}

type draftMember struct{ Person, Role int64 }

// draftOf returns a stored layer as the form shows it.
func draftOf(s schedules.LayerConfig, zone *time.Location) (d draftLayer, err error) {
	text, err := json.Marshal(s)
	if err != nil {
		return d, err
	}
	d = draftLayer{
		Raw: string(text), Name: s.LayerName, Override: s.Mode == overriding, Unit: s.RotationUnit,
		Value: strconv.FormatInt(s.RotationValue, 10), Zone: s.TimeZone, Skip: s.SkipCalIDs, Only: s.OnlyCalIDs,
		Fair: s.FairRotation, Continuous: s.MaskContinuousEnabled, Hidden: s.Hidden == 1,
	}
	zone = page.ZoneOr(s.TimeZone, zone)
	d.Start, d.End = localText(s.LayerStart, zone), localText(s.ExpireTime, zone)
	for _, day := range s.DayMask.Repeat {
		d.Days[day] = true
	}
	periods := s.RestrictPeriods
	if len(periods) == 0 && (s.RestrictStart != 0 || s.RestrictEnd != 0) {
		periods = []schedules.Period{{RestrictStart: s.RestrictStart, RestrictEnd: s.RestrictEnd}}
	}
	switch {
	case s.RestrictMode == int64(oncall.RestrictDay) && len(periods) == 1:
		d.HoursFrom, d.HoursUntil = dayTime(periods[0].RestrictStart), dayTime(periods[0].RestrictEnd)
	case s.RestrictMode != 0:
		d.HoursKept = true
	}
	if s.HandoffTime != 0 {
		d.HandoffDay, d.HandoffFor = strconv.FormatInt(s.HandoffTime/86400+1, 10), dayTime(s.HandoffTime%86400)
	}
	for _, g := range s.Groups {
		group := draftGroup{Name: g.GroupName}
		for _, m := range g.Members {
			for _, p := range m.PersonIDs {
				group.Members = append(group.Members, draftMember{p, m.RoleID})
			}
		}
		d.Groups = append(d.Groups, group)
	}
	return d, nil
}

func localText(at int64, zone *time.Location) string {
	if at == 0 {
		return ""
	}
	return time.Unix(at, 0).In(zone).Format(page.LocalTime)
}

// dayTime writes seconds from midnight as a time of day. 24:00 is midnight.
func dayTime(seconds int64) string { return fmt.Sprintf("%02d:%02d", seconds/3600%24, seconds%3600/60) }

// daySeconds reads a time of day; 0: it is none.
func daySeconds(text string) int64 {
	at, err := time.Parse("15:04", text)
	if err != nil {
		return 0
	}
	return int64(at.Hour()*3600 + at.Minute()*60)
}

// stored returns the layer as it is written. What the form shows and the reader left alone keeps its exact value.
func (d draftLayer) stored(zone *time.Location) (l schedules.LayerConfig, err error) {
	if d.Raw != "" {
		if err := json.Unmarshal([]byte(d.Raw), &l); err != nil {
			return l, err
		}
	}
	was, err := draftOf(l, zone)
	if err != nil {
		return l, err
	}
	if d.Name != was.Name {
		l.LayerName, l.Name = d.Name, d.Name
	}
	if d.Override != was.Override {
		l.Mode = rotation
		if d.Override {
			l.Mode = overriding
		}
	}
	if !slices.Equal(d.Skip, was.Skip) {
		l.SkipCalIDs = d.Skip
	}
	if !slices.Equal(d.Only, was.Only) {
		l.OnlyCalIDs = d.Only
	}
	l.FairRotation, l.MaskContinuousEnabled = d.Fair, d.Continuous
	l.Hidden = 0
	if d.Hidden {
		l.Hidden = 1
	}
	if !slices.EqualFunc(d.Groups, was.Groups, draftGroup.equal) {
		l.Groups = d.groups()
	}
	d.setTimes(&l, was, page.ZoneOr(d.Zone, zone))
	return l, nil
}

// setTimes sets when a layer is on and when its turns change, where the form differs from what it was.
func (d draftLayer) setTimes(l *schedules.LayerConfig, was draftLayer, zone *time.Location) {
	if d.Unit != was.Unit || d.Value != was.Value {
		l.RotationUnit = d.Unit
		l.RotationValue = page.Number(d.Value)
		l.RotationDuration = 0
	}
	moved := d.Zone != was.Zone
	if d.Start != was.Start || moved {
		l.LayerStart = localMoment(d.Start, zone)
		l.EnableTime = l.LayerStart
	}
	if d.End != was.End || moved {
		l.ExpireTime, l.LayerEnd = localMoment(d.End, zone), nil
	}
	l.TimeZone = d.Zone
	if d.Days != was.Days {
		l.DayMask = schedules.DayMask{Repeat: d.days()}
	}
	if !d.HoursKept && (d.HoursFrom != was.HoursFrom || d.HoursUntil != was.HoursUntil) {
		l.RestrictMode, l.RestrictPeriods = 0, nil
		l.RestrictStart, l.RestrictEnd = 0, 0
		if d.HoursFrom != "" || d.HoursUntil != "" {
			l.RestrictMode = int64(oncall.RestrictDay)
			l.RestrictPeriods = []schedules.Period{{RestrictStart: daySeconds(d.HoursFrom), RestrictEnd: daySeconds(d.HoursUntil)}}
		}
	}
	if d.HandoffDay != was.HandoffDay || d.HandoffFor != was.HandoffFor {
		l.HandoffTime = 0
		if d.HandoffDay != "" {
			l.HandoffTime = (page.Number(d.HandoffDay)-1)*86400 + daySeconds(d.HandoffFor)
		}
	}
}

func (g draftGroup) equal(other draftGroup) bool {
	return g.Name == other.Name && slices.Equal(g.Members, other.Members)
}

func (d draftLayer) days() []int64 {
	days := []int64{}
	for day, on := range d.Days {
		if on {
			days = append(days, int64(day))
		}
	}
	return days
}

// groups returns the groups as they are written: persons by role, in their order.
func (d draftLayer) groups() []schedules.Group {
	groups := []schedules.Group{}
	for _, g := range d.Groups {
		members := []schedules.Member{}
		for _, m := range g.Members {
			i := slices.IndexFunc(members, func(other schedules.Member) bool { return other.RoleID == m.Role })
			if i < 0 {
				i, members = len(members), append(members, schedules.Member{RoleID: m.Role})
			}
			members[i].PersonIDs = append(members[i].PersonIDs, m.Person)
		}
		groups = append(groups, schedules.Group{GroupName: g.Name, Members: members})
	}
	return groups
}

// body returns the draft as the operations take it.
func (d draft) body(account *time.Location) (body schedules.Body, err error) {
	zone := page.ZoneOr(d.Zone, account)
	layers := []schedules.WrittenLayer{} // none: they are all removed
	for _, l := range d.Layers {
		config, err := l.stored(zone)
		if err != nil {
			return body, err
		}
		layers = append(layers, schedules.WrittenLayer{LayerConfig: config})
	}
	return schedules.Body{
		ScheduleName: d.Name, Description: &d.Description, TimeZone: &d.Zone, WhenAbsent: new(cmp.Or(d.WhenAbsent, "next")),
		TeamID: &d.Team, SelfService: new(!d.ManagedOnly), Layers: layers,
	}, nil
}

// storedDraft reads a schedule as a draft.
func storedDraft(v *page.Visit, id int64) (d draft, err error) {
	s, err := storedSchedule(v, id)
	if err != nil {
		return d, err
	}
	d = draft{
		Name: s.Name(), Description: s.Description(), Zone: s.TimeZone, WhenAbsent: s.WhenAbsent, Revision: s.Revision,
		Team: page.ValueOf(s.TeamID), ManagedOnly: !s.SelfService, Notices: noticesOf(s.Notify),
	}
	for _, stored := range s.Layers() {
		l, err := draftOf(stored.LayerConfig, v.NamedZone(s.TimeZone))
		if err != nil {
			return d, err
		}
		d.Layers = append(d.Layers, l)
	}
	return d, nil
}

// text returns the draft for a hidden field.
func (d draft) text() (string, error) {
	text, err := json.Marshal(d)
	return string(text), err
}
