package oncall

import (
	"slices"
	"testing"

	"tocsin/internal/core/sentence"
)

func TestWarnings(t *testing.T) {
	for _, x := range []struct {
		name   string
		change func(l *Layer)
		want   []string
	}{
		{"nothing", func(l *Layer) {}, nil},
		{"week restriction under a mask", func(l *Layer) { l.Mask = monToFri; l.RestrictMode = RestrictWeek; l.Restrict = []Period{{0, 3600}} },
			[]string{"layers[0].restrict_mode 2 is ignored, because day_mask is set (R14)"}},
		{"week restriction under a full mask", func(l *Layer) {
			l.Unit = Week
			l.Mask = EveryDay
			l.RestrictMode = RestrictWeek
			l.Restrict = []Period{{0, 3600}}
		}, nil},
		{"no periods", func(l *Layer) { l.RestrictMode = RestrictDay },
			[]string{"layers[0].restrict_periods is empty: restrict_mode 1 has no effect (R14)"}},
		{"an empty period", func(l *Layer) { l.RestrictMode = RestrictDay; l.Restrict = []Period{{86400, 0}, {0, 3600}} },
			[]string{"layers[0].restrict_periods[0] covers no time: it runs from 86400 to 0 (R14)"}},
		{"handoff of a daily layer", func(l *Layer) { l.Handoff = 36000 },
			[]string{"layers[0].handoff_time is ignored: only turns of exactly one week have a handoff (R9)"}},
		{"handoff of a weekly layer", func(l *Layer) { l.Unit, l.Handoff = Week, 36000 }, nil},
		{"continuous without mask", func(l *Layer) { l.Continuous = true },
			[]string{"layers[0].mask_continuous_enabled is ignored, because day_mask excludes no day (R10)"}},
		{"fair for two", func(l *Layer) { l.Fair = true },
			[]string{"layers[0].fair_rotation needs three groups to be of use: two serve twice in a row, one serves always (R13)"}},
		{"fair for three", func(l *Layer) { l.Fair, l.Groups = true, groups("ABC") }, nil},
		{"an empty group", func(l *Layer) { l.Groups = append(groups("A"), Group{}) },
			[]string{"layers[0].groups[1] names no person: no one is on call in its turns"}},
		{"the night group of a day restriction", func(l *Layer) {
			l.Unit = Hour
			l.Value = 12
			l.RestrictMode = RestrictDay
			l.Restrict = []Period{{0, 43200}}
		}, []string{"layers[0].groups[1] never serves: in the first 7 days the mask or the restricted hours leave nothing of its turns (R15)"}},
		{"seven people, working days by restriction", func(l *Layer) {
			l.Groups = groups("ABCDEFG")
			l.RestrictMode = RestrictWeek
			l.Restrict = []Period{{0, 5 * 86400}}
		}, []string{ // it begins on a Monday
			"layers[0].groups[5] never serves: in the first 7 days the mask or the restricted hours leave nothing of its turns (R15)",
			"layers[0].groups[6] never serves: in the first 7 days the mask or the restricted hours leave nothing of its turns (R15)"}},
		{"seven people, working days by mask", func(l *Layer) { l.Groups, l.Mask = groups("ABCDEFG"), monToFri }, nil},
		{"hours under a mask", func(l *Layer) {
			l.Unit = Hour
			l.Value = 1
			l.Mask = monToFri
		}, nil},
		{"a pattern of years", func(l *Layer) {
			l.Unit = Hour
			l.Value = 29
			l.Groups = groups("ABCDEFGHIJKLMNOPQRS")
			l.RestrictMode = RestrictDay
			l.Restrict = []Period{{0, 60}}
		}, nil},
		{"override", func(l *Layer) { *l = Layer{Mode: Override, Start: 1, End: 2, Groups: groups("Z")} }, nil},
		{"override with what it ignores", func(l *Layer) {
			*l = Layer{Mode: Override, Start: 1, End: 2, Mask: monToFri, Groups: append([]Group{{}}, groups("Z")...)}
		}, []string{
			"layers[0].mode is override: restrict_mode and day_mask are ignored (R18)",
			"layers[0].groups holds 2 groups, but an override uses only the first (R18)",
			"layers[0].groups[0] names no person: no one is on call during the override"}},
	} {
		s := &Schedule{Zone: location(t, "Asia/Shanghai"), Layers: []Layer{plain()}}
		x.change(&s.Layers[0])
		if err := s.Check(); err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if got := english(s.Warnings()); !slices.Equal(got, x.want) {
			t.Errorf("%s:\n got %q\nwant %q", x.name, got, x.want)
		}
	}
}

// TestWarningHiddenOverride: an override that others hide at every moment is
// warned of; one that counts for a second is not.
func TestWarningHiddenOverride(t *testing.T) {
	cover := func(weight int, start, end int64) Layer {
		return Layer{Mode: Override, Weight: weight, Start: start, End: end, Groups: groups("Z")}
	}
	for _, x := range []struct {
		layers []Layer
		want   []string
	}{
		{[]Layer{cover(0, 100, 200), cover(1, 50, 150), cover(0, 150, 200)},
			[]string{"layers[0].weight 0 is too low: other overrides take precedence over this one at every moment (R19)"}},
		{[]Layer{cover(0, 100, 200), cover(1, 50, 150), cover(0, 151, 200)}, nil},
		{[]Layer{cover(1, 100, 200), cover(0, 100, 201)}, nil},
		{[]Layer{cover(0, 100, 200), cover(0, 100, 200)},
			[]string{"layers[0].weight 0 is too low: other overrides take precedence over this one at every moment (R19)"}},
	} {
		if got := english((&Schedule{Layers: x.layers}).Warnings()); !slices.Equal(got, x.want) {
			t.Errorf("got %q, want %q", got, x.want)
		}
	}
}

func english(warnings []sentence.Value) (texts []string) {
	for _, w := range warnings {
		texts = append(texts, w.English())
	}
	return texts
}
