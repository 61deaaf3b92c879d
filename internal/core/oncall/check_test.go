package oncall

import (
	"errors"
	"strings"
	"testing"
)

// plain is a layer that passes.
func plain() Layer {
	return Layer{Start: 1776009600, Unit: Day, Value: 1, Groups: groups("AB")}
}

func TestCheck(t *testing.T) {
	override := Layer{Mode: Override, Start: 1776009600, End: 1776096000, Groups: groups("Z")}
	for _, x := range []struct {
		name   string
		change func(l *Layer)
		want   string // "" = accepted
	}{
		{"plain", func(l *Layer) {}, ""},
		{"no start", func(l *Layer) { l.Start = 0 }, "layers[1].layer_start must be 1 to 253402300799, got 0"},
		{"milliseconds", func(l *Layer) { l.Start *= 1000 }, "layers[1].layer_start must be 1 to 253402300799, got 1776009600000"},
		{"negative end", func(l *Layer) { l.End = -1 }, "layers[1].layer_end must be 0 to 253402300799, got -1"},
		{"end at start", func(l *Layer) { l.End = l.Start }, "layers[1].layer_end must be after layer_start 1776009600, got 1776009600"},
		{"unknown mode", func(l *Layer) { l.Mode = 2 }, "layers[1].mode must be 0 to 1, got 2"},
		{"no unit", func(l *Layer) { l.Unit = 0 }, "layers[1].rotation_unit must be hour, day, week or month, got unit(0)"},
		{"unknown unit", func(l *Layer) { l.Unit = 5 }, "layers[1].rotation_unit must be hour, day, week or month, got unit(5)"},
		{"value 0", func(l *Layer) { l.Value = 0 }, "layers[1].rotation_value must be 1 to 30, got 0"},
		{"value 30", func(l *Layer) { l.Value = 30 }, ""},
		{"value 31", func(l *Layer) { l.Value = 31 }, "layers[1].rotation_value must be 1 to 30, got 31"},
		{"last handoff", func(l *Layer) { l.Handoff = 604799 }, ""},
		{"late handoff", func(l *Layer) { l.Handoff = 604800 }, "layers[1].handoff_time must be 0 to 604799, got 604800"},
		{"negative handoff", func(l *Layer) { l.Handoff = -1 }, "layers[1].handoff_time must be 0 to 604799, got -1"},
		{"restrict mode", func(l *Layer) { l.RestrictMode = 3 }, "layers[1].restrict_mode must be 0 to 2, got 3"},
		{"whole day", func(l *Layer) { l.RestrictMode = RestrictDay; l.Restrict = []Period{{0, 86400}} }, ""},
		{"late in the day", func(l *Layer) { l.RestrictMode = RestrictDay; l.Restrict = []Period{{0, 1}, {5, 86401}} },
			"layers[1].restrict_periods[1].restrict_end must be 0 to 86400, got 86401"},
		{"whole week", func(l *Layer) { l.RestrictMode = RestrictWeek; l.Restrict = []Period{{604800, 604800}} }, ""},
		{"before the week", func(l *Layer) { l.RestrictMode = RestrictWeek; l.Restrict = []Period{{-1, 5}} },
			"layers[1].restrict_periods[0].restrict_start must be 0 to 604800, got -1"},
		{"periods without a mode", func(l *Layer) { l.Restrict = []Period{{-1, 5}} }, ""},
		{"many periods", func(l *Layer) { l.Restrict = make([]Period, 101) }, "layers[1].restrict_periods must be 100 at most, got 101"},
		{"eighth day", func(l *Layer) { l.Mask = 1 << 7 }, "layers[1].day_mask.repeat must hold days 0 to 6 only, got the set 0b10000000"},
		{"no groups", func(l *Layer) { l.Groups = nil }, "layers[1].groups must hold a group with a person in it"},
		{"no person", func(l *Layer) { l.Groups = []Group{{Name: "A", Members: []Member{{RoleID: 1}}}, {}} },
			"layers[1].groups must hold a group with a person in it"},
		{"an empty group among others", func(l *Layer) { l.Groups = append([]Group{{}}, l.Groups...) }, ""},
		{"many groups", func(l *Layer) { l.Groups = make([]Group, 1001) }, "layers[1].groups must be 1000 at most, got 1001"},
		{"override", func(l *Layer) { *l = override }, ""},
		{"endless override", func(l *Layer) { *l = override; l.End = 0 }, "layers[1].layer_end is required for an override"},
		{"override with the defaults of a rotation", func(l *Layer) { *l = override; l.Unit, l.Value = Day, 0 }, ""},
	} {
		l := plain()
		x.change(&l)
		err := (&Schedule{Layers: []Layer{plain(), l}}).Check()
		var problem *ConfigError
		switch {
		case err == nil && x.want == "":
		case err == nil || err.Error() != x.want || !errors.As(err, &problem):
			t.Errorf("%s: got %v, want %q", x.name, err, x.want)
		}
	}
}

func TestCheckSchedule(t *testing.T) {
	many := func(n int, l Layer) *Schedule {
		s := &Schedule{}
		for range n {
			s.Layers = append(s.Layers, l)
		}
		return s
	}
	crowd := plain()
	crowd.Groups[0].Members[0].PersonIDs = make([]int64, 5000)
	for _, x := range []struct {
		s    *Schedule
		want string
	}{
		{&Schedule{}, ""},
		{many(50, plain()), ""},
		{many(51, plain()), "layers must hold 50 layers of mode 0 at most, got 51"},
		{many(501, plain()), "layers must be 500 at most, got 501"},
		{many(2, crowd), "layers must name 10000 persons at most, got 10002"},
	} {
		err := x.s.Check()
		if x.want == "" && err != nil || x.want != "" && (err == nil || err.Error() != x.want) {
			t.Errorf("got %v, want %q", err, x.want)
		}
	}
}

func TestNames(t *testing.T) {
	for u := Hour; u <= Month; u++ {
		if got, err := ParseUnit(u.String()); err != nil || got != u {
			t.Errorf("ParseUnit(%q) = %v, %v", u.String(), got, err)
		}
	}
	if _, err := ParseUnit("year"); err == nil || !strings.Contains(err.Error(), `got "year"`) {
		t.Errorf("ParseUnit(year): %v", err)
	}
	if Weekdays(0).Active() || EveryDay.Active() || !monToFri.Active() {
		t.Error("a mask is active unless it is empty or full")
	}
}
