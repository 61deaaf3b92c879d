package oncall

import "fmt"

// Bounds of what can be configured. The numbers of layers, periods and persons
// are far above any real schedule; they keep every answer computable quickly.
const (
	MaxValue     = 30          // units in one turn
	MaxRotations = 50          // layers of mode Rotation in a schedule
	MaxLayers    = 500         // layers of both modes in a schedule
	MaxGroups    = 1000        // groups in a layer
	MaxPeriods   = 100         // restricted periods in a layer
	MaxPersons   = 10_000      // mentions of persons in a schedule
	MaxCalendars = 20          // calendars that a layer skips, and likewise those that it has alone
	MaxCovers    = 1000        // covers of a schedule
	MaxTogether  = 100         // covers of a schedule that are in force at one moment
	MaxAbsences  = 10_000      // absences of the persons of a schedule
	MaxInstant   = lastInstant // Unix seconds, 9999-12-31 23:59:59 UTC
)

// ConfigError names the value of a schedule that cannot be accepted, and why.
type ConfigError struct {
	Path   string // where, in the names of the API: layers[2].rotation_value
	Reason string // the bound and the value: must be 1 to 30, got 31
}

// Error returns the path followed by the reason.
func (e *ConfigError) Error() string { return e.Path + " " + e.Reason }

// Check returns a *ConfigError for the first value that makes the schedule
// impossible to compute, or nil. A schedule that passes can be computed for any
// window.
func (s *Schedule) Check() error {
	if n := len(s.Layers); n > MaxLayers {
		return &ConfigError{"layers", fmt.Sprintf("must be %d at most, got %d", MaxLayers, n)}
	}
	rotations, persons := 0, 0
	for i := range s.Layers {
		l := &s.Layers[i]
		if field, reason := l.check(); field != "" {
			return &ConfigError{fmt.Sprintf("layers[%d].%s", i, field), reason}
		}
		if l.Mode == Rotation {
			rotations++
		}
		for j := range l.Groups {
			persons += l.Groups[j].persons()
		}
	}
	if rotations > MaxRotations {
		return &ConfigError{"layers", fmt.Sprintf("must hold %d layers of mode 0 at most, got %d", MaxRotations, rotations)}
	}
	if persons > MaxPersons {
		return &ConfigError{"layers", fmt.Sprintf("must name %d persons at most, got %d", MaxPersons, persons)}
	}
	return s.checkExceptions()
}

// checkExceptions is Check for covers and absences.
func (s *Schedule) checkExceptions() error {
	if n := len(s.Covers); n > MaxCovers {
		return &ConfigError{"overrides", fmt.Sprintf("must be %d at most, got %d", MaxCovers, n)}
	}
	if n := len(s.Absences); n > MaxAbsences {
		return &ConfigError{"absences", fmt.Sprintf("must be %d at most, got %d", MaxAbsences, n)}
	}
	if s.WhenAbsent > AbsentGap {
		return &ConfigError{"when_absent", fmt.Sprintf("must be 0 or 1, got %d", s.WhenAbsent)}
	}
	for i, c := range s.Covers {
		path := fmt.Sprintf("overrides[%d].", i)
		switch {
		case c.Start < 1 || c.Start > MaxInstant:
			return &ConfigError{path + "start", fmt.Sprintf("must be 1 to %d, got %d", MaxInstant, c.Start)}
		case c.End <= c.Start || c.End > MaxInstant:
			return &ConfigError{path + "end", fmt.Sprintf("must be after start %d and at most %d, got %d", c.Start, MaxInstant, c.End)}
		case c.By < 1:
			return &ConfigError{path + "by", fmt.Sprintf("must be at least 1, got %d", c.By)}
		case c.By == c.PersonID:
			return &ConfigError{path + "by", fmt.Sprintf("must not be the covered person %d", c.PersonID)}
		case c.PersonID == 0 && c.RoleID == AnyRole:
			return &ConfigError{path + "person_id", "is required without role_id"}
		}
	}
	if at, n := s.together(); n > MaxTogether {
		return &ConfigError{"overrides", fmt.Sprintf("must be %d at most at one moment, got %d at %d", MaxTogether, n, at)}
	}
	for i, a := range s.Absences {
		if a.Start >= a.End {
			return &ConfigError{fmt.Sprintf("absences[%d].end", i), fmt.Sprintf("must be after start %d, got %d", a.Start, a.End)}
		}
	}
	return nil
}

// check returns the first field of the layer that cannot be accepted and the
// reason, or nothing. It allocates only when it objects, because every
// computation begins with it.
func (l *Layer) check() (field, reason string) {
	within := func(name string, value, low, high int64) bool {
		if value >= low && value <= high {
			return true
		}
		field, reason = name, fmt.Sprintf("must be %d to %d, got %d", low, high, value)
		return false
	}
	switch {
	case !within("mode", int64(l.Mode), 0, 1),
		!within("layer_start", l.Start, 1, MaxInstant),
		!within("layer_end", l.End, 0, MaxInstant):
		return field, reason
	case l.End == 0 && l.Mode == Override:
		return "layer_end", "is required for an override"
	case l.End != 0 && l.End <= l.Start:
		return "layer_end", fmt.Sprintf("must be after layer_start %d, got %d", l.Start, l.End)
	case l.Mode == Rotation && (l.Unit < Hour || l.Unit > Month):
		return "rotation_unit", fmt.Sprintf("must be hour, day, week or month, got %v", l.Unit)
	case l.Mode == Rotation && !within("rotation_value", int64(l.Value), 1, MaxValue),
		!within("handoff_time", l.Handoff, 0, week-1),
		!within("restrict_mode", int64(l.RestrictMode), 0, 2):
		return field, reason
	case l.Mask > EveryDay:
		return "day_mask.repeat", fmt.Sprintf("must hold days 0 to 6 only, got the set %#b", l.Mask)
	}
	if n := len(l.Skip); n > MaxCalendars {
		return "skip_cal_ids", fmt.Sprintf("must be %d at most, got %d", MaxCalendars, n)
	}
	if n := len(l.Only); n > MaxCalendars {
		return "only_cal_ids", fmt.Sprintf("must be %d at most, got %d", MaxCalendars, n)
	}
	field, reason = l.checkPeriods()
	if field != "" {
		return field, reason
	}
	return l.checkGroups()
}

// checkPeriods is check for the restricted periods.
func (l *Layer) checkPeriods() (field, reason string) {
	if n := len(l.Restrict); n > MaxPeriods {
		return "restrict_periods", fmt.Sprintf("must be %d at most, got %d", MaxPeriods, n)
	}
	var most int64
	switch l.RestrictMode {
	case RestrictNone:
		return "", ""
	case RestrictDay:
		most = day
	case RestrictWeek:
		most = week
	}
	// Both ends are judged alike; the first that is out of bounds is reported.
	for i, p := range l.Restrict {
		name, value := "restrict_start", p.Start
		if value >= 0 && value <= most {
			name, value = "restrict_end", p.End
		}
		if value < 0 || value > most {
			return fmt.Sprintf("restrict_periods[%d].%s", i, name), fmt.Sprintf("must be 0 to %d, got %d", most, value)
		}
	}
	return "", ""
}

// checkGroups is check for the groups.
func (l *Layer) checkGroups() (field, reason string) {
	if n := len(l.Groups); n > MaxGroups {
		return "groups", fmt.Sprintf("must be %d at most, got %d", MaxGroups, n)
	}
	for i := range l.Groups {
		if l.Groups[i].persons() > 0 {
			return "", ""
		}
	}
	return "groups", "must hold a group with a person in it"
}

// persons returns how many persons the group mentions, in all roles together.
func (g *Group) persons() int {
	n := 0
	for _, m := range g.Members {
		n += len(m.PersonIDs)
	}
	return n
}
