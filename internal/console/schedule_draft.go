package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// draft is a schedule that is being edited: what the form holds.
type draft struct {
	Name, Description, Zone, WhenAbsent string
	Revision, Team                      int64
	ManagedOnly                         bool // its persons do not change shifts themselves
	Layers                              []draftLayer
}

// newDraft is a schedule in which the first person takes turns of a week from the last Monday.
func (v *visit) newDraft() draft {
	here := v.Now.In(v.who.Zone)
	monday := time.Date(here.Year(), here.Month(), here.Day()-(int(here.Weekday())+6)%7, 9, 0, 0, 0, v.who.Zone)
	if monday.After(here) {
		monday = monday.AddDate(0, 0, -7) // so that no gap is left before it
	}
	return draft{
		Zone: v.who.Zone.String(), WhenAbsent: "next",
		Layers: []draftLayer{{Unit: "week", Value: "1", Start: monday.Format(localTime), Groups: []draftGroup{{}}}},
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
	Groups                 []draftGroup
}

type draftGroup struct {
	Name    string
	Members []draftMember
}

type draftMember struct{ Person, Role int64 }

// storedLayer is the part of a stored layer that the form shows.
type storedLayer struct {
	Name     string   `json:"layer_name"`
	Mode     int64    `json:"mode"`
	Unit     string   `json:"rotation_unit"`
	Value    int64    `json:"rotation_value"`
	Start    int64    `json:"layer_start"`
	End      int64    `json:"expire_time"`
	Zone     string   `json:"time_zone"`
	Handoff  int64    `json:"handoff_time"`
	Restrict int64    `json:"restrict_mode"`
	From     int64    `json:"restrict_start"`
	Until    int64    `json:"restrict_end"`
	Periods  []hours  `json:"restrict_periods"`
	DayMask  dayMask  `json:"day_mask"`
	Skip     []string `json:"skip_cal_ids"`
	Only     []string `json:"only_cal_ids"`
	Groups   []struct {
		Name    string   `json:"group_name"`
		Members []member `json:"members"`
	} `json:"groups"`
}

type hours struct {
	From  int64 `json:"restrict_start"`
	Until int64 `json:"restrict_end"`
}

type dayMask struct {
	Repeat []int64 `json:"repeat"`
}

// draftOf returns a stored layer as the form shows it.
func draftOf(raw rawLayer, zone *time.Location) (d draftLayer, err error) {
	text, err := json.Marshal(raw, json.Deterministic(true))
	if err != nil {
		return d, err
	}
	var s storedLayer
	if err := json.Unmarshal(text, &s); err != nil {
		return d, err
	}
	d = draftLayer{
		Raw: string(text), Name: s.Name, Override: s.Mode == overriding, Unit: s.Unit, Value: strconv.FormatInt(s.Value, 10),
		Zone: s.Zone, Skip: s.Skip, Only: s.Only,
	}
	zone = zoneOr(s.Zone, zone)
	d.Start, d.End = localText(s.Start, zone), localText(s.End, zone)
	for _, day := range s.DayMask.Repeat {
		d.Days[day] = true
	}
	if len(s.Periods) == 0 && (s.From != 0 || s.Until != 0) {
		s.Periods = []hours{{s.From, s.Until}}
	}
	switch {
	case s.Restrict == 1 && len(s.Periods) == 1:
		d.HoursFrom, d.HoursUntil = dayTime(s.Periods[0].From), dayTime(s.Periods[0].Until)
	case s.Restrict != 0:
		d.HoursKept = true
	}
	if s.Handoff != 0 {
		d.HandoffDay, d.HandoffFor = strconv.FormatInt(s.Handoff/86400+1, 10), dayTime(s.Handoff%86400)
	}
	for _, g := range s.Groups {
		group := draftGroup{Name: g.Name}
		for _, m := range g.Members {
			for _, p := range m.Persons {
				group.Members = append(group.Members, draftMember{p, m.Role})
			}
		}
		d.Groups = append(d.Groups, group)
	}
	return d, nil
}

func zoneOr(name string, otherwise *time.Location) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		return zone
	}
	return otherwise
}

func localText(at int64, zone *time.Location) string {
	if at == 0 {
		return ""
	}
	return time.Unix(at, 0).In(zone).Format(localTime)
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
func (d draftLayer) stored(zone *time.Location) (rawLayer, error) {
	raw := rawLayer{}
	if d.Raw != "" {
		if err := json.Unmarshal([]byte(d.Raw), &raw); err != nil {
			return nil, err
		}
	}
	was, err := draftOf(raw, zone)
	if err != nil {
		return nil, err
	}
	set := func(changed bool, values map[string]any) {
		for name, value := range values {
			if text, e := json.Marshal(value, json.Deterministic(true)); changed && err == nil {
				raw[name], err = text, e
			}
		}
	}
	own := zoneOr(d.Zone, zone)
	mode := rotation
	if d.Override {
		mode = overriding
	}
	set(d.Name != was.Name, map[string]any{"layer_name": d.Name, "name": d.Name})
	set(d.Override != was.Override, map[string]any{"mode": mode})
	turn := map[string]any{"rotation_unit": d.Unit, "rotation_value": number(d.Value), "rotation_duration": 0}
	set(d.Unit != was.Unit || d.Value != was.Value, turn)
	moved := d.Zone != was.Zone
	set(d.Start != was.Start || moved, map[string]any{"layer_start": localMoment(d.Start, own), "enable_time": localMoment(d.Start, own)})
	set(d.End != was.End || moved, map[string]any{"expire_time": localMoment(d.End, own), "layer_end": nil})
	set(moved, map[string]any{"time_zone": d.Zone})
	set(d.Days != was.Days, map[string]any{"day_mask": map[string]any{"repeat": d.days()}})
	if !d.HoursKept && (d.HoursFrom != was.HoursFrom || d.HoursUntil != was.HoursUntil) {
		none := d.HoursFrom == "" && d.HoursUntil == ""
		set(true, map[string]any{"restrict_mode": 0, "restrict_periods": []hours{}, "restrict_start": 0, "restrict_end": 0})
		only := []hours{{daySeconds(d.HoursFrom), daySeconds(d.HoursUntil)}}
		set(!none, map[string]any{"restrict_mode": 1, "restrict_periods": only})
	}
	handoff := int64(0)
	if d.HandoffDay != "" {
		handoff = (number(d.HandoffDay)-1)*86400 + daySeconds(d.HandoffFor)
	}
	set(d.HandoffDay != was.HandoffDay || d.HandoffFor != was.HandoffFor, map[string]any{"handoff_time": handoff})
	set(!slices.Equal(d.Skip, was.Skip), map[string]any{"skip_cal_ids": d.Skip})
	set(!slices.Equal(d.Only, was.Only), map[string]any{"only_cal_ids": d.Only})
	set(!slices.EqualFunc(d.Groups, was.Groups, draftGroup.equal), map[string]any{"groups": d.groups()})
	return raw, err
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
func (d draftLayer) groups() []map[string]any {
	groups := []map[string]any{}
	for _, g := range d.Groups {
		members := []member{}
		for _, m := range g.Members {
			i := slices.IndexFunc(members, func(other member) bool { return other.Role == m.Role })
			if i < 0 {
				i, members = len(members), append(members, member{Role: m.Role})
			}
			members[i].Persons = append(members[i].Persons, m.Person)
		}
		groups = append(groups, map[string]any{"group_name": g.Name, "members": members})
	}
	return groups
}

// body returns the draft as the operations take it.
func (d draft) body(account *time.Location) (map[string]any, error) {
	zone := zoneOr(d.Zone, account)
	layers := []rawLayer{}
	for _, l := range d.Layers {
		raw, err := l.stored(zone)
		if err != nil {
			return nil, err
		}
		layers = append(layers, raw)
	}
	return map[string]any{
		"schedule_name": d.Name, "description": d.Description, "time_zone": d.Zone, "when_absent": cmp.Or(d.WhenAbsent, "next"),
		"team_id": d.Team, "self_service": !d.ManagedOnly, "layers": layers,
	}, nil
}

// storedDraft reads a schedule as a draft.
func (v *visit) storedDraft(id int64) (d draft, err error) {
	var s struct {
		schedule
		WhenAbsent string `json:"when_absent"`
	}
	if err := v.call("/schedule/info", map[string]any{"schedule_id": id}, &s); err != nil {
		return d, err
	}
	d = draft{
		Name: s.Name, Description: s.Description, Zone: s.Zone, WhenAbsent: s.WhenAbsent, Revision: s.Revision, Team: s.Team,
		ManagedOnly: !s.SelfService,
	}
	layers, err := v.rawLayers(id)
	for _, raw := range layers {
		l, err := draftOf(raw, v.zoneOf(s.Zone))
		if err != nil {
			return d, err
		}
		d.Layers = append(d.Layers, l)
	}
	return d, err
}

// text returns the draft for a hidden field.
func (d draft) text() (string, error) {
	text, err := json.Marshal(d)
	return string(text), err
}
