package schedule

import (
	"fmt"
	"slices"

	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

// LayerConfig is one rotation or one temporary override, as it is written, stored and shown (specification 2.2;
// docs/timeline.md). After normalise, members with two names hold the same value under both.
type LayerConfig struct {
	LayerName             string   `json:"layer_name" maxLength:"255" required:"false" doc:"Name of the layer."`
	Name                  string   `json:"name" maxLength:"255" required:"false" doc:"Older name of layer_name, used where that is empty."`
	Hidden                int64    `json:"hidden" required:"false" minimum:"0" maximum:"1" doc:"1 hides the layer in user interfaces; it is computed as usual."`
	Mode                  int64    `json:"mode" required:"false" minimum:"0" maximum:"1" doc:"0 rotation; 1 override: its first group alone is on call from layer_start to layer_end, and rotation, mask and restriction are ignored."`
	Weight                int64    `json:"weight" required:"false" doc:"The heavier of two overrides wins; the heavier of two rotations comes first."`
	Groups                []Group  `json:"groups" maxItems:"1000" required:"false" doc:"Who takes shifts, in order; one of them must have a person."`
	RotationUnit          string   `json:"rotation_unit" enum:"hour,day,week,month," required:"false" doc:"Unit of a shift: hour (elapsed time), day, week or month (by the wall clock); empty: by rotation_duration, or of an override."`
	RotationValue         int64    `json:"rotation_value" required:"false" minimum:"0" maximum:"30" doc:"How many rotation_units a shift lasts, 1 to 30."`
	RotationDuration      int64    `json:"rotation_duration" required:"false" minimum:"0" doc:"Length of a shift in seconds, a month counting as 30 days. Used only where rotation_unit and rotation_value are unset, and then 1 to 30 whole weeks, days or hours."`
	HandoffTime           int64    `json:"handoff_time" required:"false" minimum:"0" maximum:"604799" doc:"Seconds from Monday 00:00 at which shifts of exactly one week change; 0: at the weekday and time of layer_start."`
	EnableTime            int64    `json:"enable_time" required:"false" doc:"Older name of layer_start."`
	ExpireTime            int64    `json:"expire_time" required:"false" doc:"Older name of layer_end; 0: the layer never ends."`
	LayerStart            int64    `json:"layer_start" required:"false" doc:"When the layer begins, Unix seconds; required under one of its names."`
	LayerEnd              *int64   `json:"layer_end" required:"false" doc:"When the layer ends, Unix seconds. When it is null expire_time is read, and when that is 0 the layer never ends, which an override must."`
	RestrictMode          int64    `json:"restrict_mode" required:"false" minimum:"0" maximum:"2" doc:"0 around the clock; 1 restricted hours of every day; 2 restricted hours of every week, ignored under a day mask."`
	RestrictStart         int64    `json:"restrict_start" required:"false" minimum:"0" maximum:"604800" doc:"Older form of a single restricted period, used where restrict_periods is empty: its start in seconds from 00:00, or from Monday 00:00."`
	RestrictEnd           int64    `json:"restrict_end" required:"false" minimum:"0" maximum:"604800" doc:"End of that period, likewise."`
	RestrictPeriods       []Period `json:"restrict_periods" maxItems:"100" required:"false" doc:"The hours in which the layer is on; empty: all."`
	DayMask               DayMask  `json:"day_mask" required:"false" doc:"The days of the week on which the layer is on."`
	FairRotation          bool     `json:"fair_rotation" required:"false" doc:"Shifts the order of the groups by one after each full round."`
	MaskContinuousEnabled bool     `json:"mask_continuous_enabled" required:"false" doc:"A day of day_mask or of a calendar begins at the time of day of layer_start instead of 00:00 and reaches into the next."`
	TimeZone              string   `json:"time_zone,omitzero" maxLength:"255" doc:"IANA zone of this layer; absent: the schedule's."`
	SkipCalIDs            []string `json:"skip_cal_ids,omitzero" maxItems:"20" maxLength:"63" doc:"Calendars whose days off the layer skips, by the dates of its own zone; absent: none."`
	OnlyCalIDs            []string `json:"only_cal_ids,omitzero" maxItems:"20" maxLength:"63" doc:"Calendars on whose days off alone the layer is on; absent: no limit."`
}

// WrittenLayer is a layer in a request and in an account file. A layer as it is shown is accepted: it gets the stamps of
// its schedule, and its own are not stored.
type WrittenLayer struct {
	LayerConfig
	AccountID  int64 `json:"account_id,omitzero" doc:"In replies; not used in a request. In an account file, the account."`
	ScheduleID int64 `json:"schedule_id,omitzero" doc:"In replies; not used in a request. In an account file, the schedule."`
	CreateAt   int64 `json:"create_at,omitzero" doc:"In replies; not used."`
	CreateBy   int64 `json:"create_by,omitzero" doc:"In replies; not used."`
	UpdateAt   int64 `json:"update_at,omitzero" doc:"In replies; not used."`
	UpdateBy   int64 `json:"update_by,omitzero" doc:"In replies; not used."`
}

// Group is a rotation group: the persons who share one shift.
type Group struct {
	GroupName string   `json:"group_name" maxLength:"255" required:"false" doc:"Name of the group."`
	Name      string   `json:"name" maxLength:"255" required:"false" doc:"Older name of group_name, used where that is empty."`
	Members   []Member `json:"members" maxItems:"1000" required:"false" doc:"Who is in it, by on-call role."`
	Start     int64    `json:"start" required:"false" doc:"0 in a configured layer; in a timeline the start of the period, Unix seconds."`
	End       int64    `json:"end" required:"false" doc:"0 in a configured layer; in a timeline the end of the period, Unix seconds."`
}

// Member is the persons with one on-call role in a group.
type Member struct {
	RoleID    int64   `json:"role_id" required:"false" minimum:"0" doc:"On-call role: 0 primary, 1 backup, or one of the account's own."`
	PersonIDs []int64 `json:"person_ids" maxItems:"5000" minimum:"1" required:"false" doc:"The people."`
}

// Period is a part of the day or of the week, in wall-clock seconds. An end that is not after the start is on the next
// day, or in the next week.
type Period struct {
	RestrictStart int64 `json:"restrict_start" minimum:"0" maximum:"604800" doc:"Seconds from 00:00 (restrict_mode 1, at most 86400) or from Monday 00:00 (restrict_mode 2)."`
	RestrictEnd   int64 `json:"restrict_end" minimum:"0" maximum:"604800" doc:"Likewise. One that is not after restrict_start lies on the next day, or in the next week."`
}

// DayMask is a set of days of the week.
type DayMask struct {
	Repeat []int64 `json:"repeat" maxItems:"100" minimum:"0" maximum:"6" required:"false" doc:"Days on which the layer is on, 0 Sunday to 6 Saturday; empty: all."`
}

// normalise sets both names of each pair to one value, completes the rotation and checks what the engine does not check
// (see engine). It is idempotent.
func (l *LayerConfig) normalise(path string) error {
	unify(&l.LayerName, &l.Name)
	unify(&l.LayerStart, &l.EnableTime)
	if l.LayerEnd != nil && *l.LayerEnd != 0 {
		l.ExpireTime = *l.LayerEnd
	}
	l.LayerEnd = nil
	if end := l.ExpireTime; end != 0 {
		l.LayerEnd = &end
	}
	if l.LayerStart == 0 {
		return fault.Invalid(path+".layer_start", "is required, under this name or as enable_time")
	}
	for _, b := range []struct {
		field            string
		value, low, high int64
	}{
		{"hidden", l.Hidden, 0, 1}, {"mode", l.Mode, 0, 1},
		{"rotation_value", l.RotationValue, 0, oncall.MaxValue},
		{"restrict_mode", l.RestrictMode, 0, 2},
	} {
		if err := between(path+"."+b.field, b.value, b.low, b.high); err != nil {
			return err
		}
	}
	if err := l.normaliseRotation(path); err != nil {
		return err
	}
	if err := l.checkRestriction(path); err != nil {
		return err
	}
	for i, day := range l.DayMask.Repeat {
		if err := between(fmt.Sprintf("%s.day_mask.repeat[%d]", path, i), day, 0, 6); err != nil {
			return err
		}
	}
	if err := l.normaliseCalendars(path); err != nil {
		return err
	}
	for i := range l.Groups {
		if err := l.Groups[i].normalise(fmt.Sprintf("%s.groups[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

// unitSeconds lists the rotation units, the longest first, with their nominal lengths in seconds.
var unitSeconds = []struct {
	unit    string
	seconds int64
}{{"month", 30 * 86400}, {"week", 7 * 86400}, {"day", 86400}, {"hour", 3600}}

// normaliseRotation makes unit, value and duration agree. Unit and value win; where both are unset they are derived from
// the duration, in whole weeks, days or hours.
func (l *LayerConfig) normaliseRotation(path string) error {
	if l.RotationDuration < 0 {
		return fault.Invalid(path+".rotation_duration", "must not be negative, got %d", l.RotationDuration)
	}
	if l.RotationUnit == "" && l.RotationValue == 0 {
		for _, u := range unitSeconds[1:] {
			if n := l.RotationDuration / u.seconds; n*u.seconds == l.RotationDuration && n >= 1 && n <= oncall.MaxValue {
				l.RotationUnit, l.RotationValue = u.unit, n
				return nil
			}
		}
		switch {
		case l.Mode == int64(oncall.Override):
			return nil
		case l.RotationDuration == 0:
			return fault.Invalid(path+".rotation_unit", "is required with rotation_value, or else rotation_duration")
		}
		return fault.Invalid(path+".rotation_duration", "must be 1 to %d whole weeks, days or hours in seconds, got %d", oncall.MaxValue,
			l.RotationDuration)
	}
	for _, u := range unitSeconds {
		if u.unit == l.RotationUnit {
			if l.RotationValue > 0 {
				l.RotationDuration = l.RotationValue * u.seconds
			}
			return nil
		}
	}
	if l.RotationUnit == "" && l.Mode == int64(oncall.Override) {
		return nil
	}
	return fault.Invalid(path+".rotation_unit", "must be hour, day, week or month, got %q", l.RotationUnit)
}

// checkRestriction returns fault.Invalid for an offset beyond the length of a day or of a week. It checks unused offsets
// too: a later change of the mode may use them.
func (l *LayerConfig) checkRestriction(path string) error {
	most := int64(7 * 86400)
	if l.RestrictMode == int64(oncall.RestrictDay) {
		most = 86400
	}
	check := func(path string, p Period) error {
		if err := between(path+"restrict_start", p.RestrictStart, 0, most); err != nil {
			return err
		}
		return between(path+"restrict_end", p.RestrictEnd, 0, most)
	}
	if err := check(path+".", Period{l.RestrictStart, l.RestrictEnd}); err != nil {
		return err
	}
	for i, p := range l.RestrictPeriods {
		if err := check(fmt.Sprintf("%s.restrict_periods[%d].", path, i), p); err != nil {
			return err
		}
	}
	return nil
}

// normalise sets both names of the group to one value and clears its bounds, which only timelines have.
func (g *Group) normalise(path string) error {
	unify(&g.GroupName, &g.Name)
	g.Start, g.End = 0, 0
	for i, m := range g.Members {
		if m.RoleID < 0 {
			return fault.Invalid(fmt.Sprintf("%s.members[%d].role_id", path, i), "must not be negative, got %d", m.RoleID)
		}
		for j, person := range m.PersonIDs {
			if person < 1 {
				return fault.Invalid(fmt.Sprintf("%s.members[%d].person_ids[%d]", path, i, j), "must be at least 1, got %d", person)
			}
		}
	}
	return nil
}

// unify sets both names of a value to the newer one, or to the older one where the newer is unset.
func unify[T comparable](newer, older *T) {
	var unset T
	if *newer == unset {
		*newer = *older
	}
	*older = *newer
}

// between returns fault.Invalid unless low <= value <= high.
func between(field string, value, low, high int64) error {
	if value < low || value > high {
		return fault.Invalid(field, "must be from %d to %d, got %d", low, high, value)
	}
	return nil
}

// whenAbsent has the names of the choices in the API, by their values.
var whenAbsent = []string{oncall.AbsentNext: "next", oncall.AbsentGap: "gap"}

// parseWhenAbsent returns the choice of a name, or fault.Invalid.
func parseWhenAbsent(field, name string) (int64, error) {
	i := slices.Index(whenAbsent, name)
	if i < 0 {
		return 0, fault.Invalid(field, "must be next or gap, got %.60q", name)
	}
	return int64(i), nil
}
