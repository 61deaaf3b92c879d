package lint

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/oncall"
)

// TestHoursThatAreCutOrDrift checks layers whose hours are cut or drift, and the same layers in the better form.
func TestHoursThatAreCutOrDrift(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	const weekdays = oncall.Weekdays(0b0111110)
	start := func(hour int) int64 { return time.Date(2026, 1, 5, hour, 0, 0, 0, berlin).Unix() }
	nights := func(start int64, continuous bool, mask oncall.Weekdays, hours ...oncall.Period) oncall.Layer {
		return oncall.Layer{Name: "N", Unit: oncall.Day, Value: 1, Start: start, Groups: []oncall.Group{group(1)}, Mask: mask, Continuous: continuous,
			RestrictMode: oncall.RestrictDay, Restrict: hours}
	}
	night, office := oncall.Period{Start: 19 * 3600, End: 7 * 3600}, oncall.Period{Start: 9 * 3600, End: 18 * 3600}
	dated := nights(start(0), false, 0, night)
	dated.Skip = []*oncall.Calendar{{}}
	turns := func(value int, mask oncall.Weekdays, zone *time.Location, end int64) oncall.Layer {
		return oncall.Layer{Name: "H", Unit: oncall.Hour, Value: value, Start: start(7), End: end, Zone: zone, Mask: mask, Groups: []oncall.Group{group(1), group(2)}}
	}
	for _, c := range []struct {
		name  string
		layer oncall.Layer
		want  string // empty: neither
	}{
		{"nights under a mask", nights(start(0), false, weekdays, night),
			`hours_cut: layers[0] "N": day_mask ends each day at 00:00, so the hours 19:00 to 07:00 of Friday end on Saturday at 00:00, and Monday is on call from 00:00 to 07:00;`},
		{"nights of single days", nights(start(0), false, 0b0100010, night), "so the hours 19:00 to 07:00 of Monday end on Tuesday at 00:00, and Monday is on call"},
		{"nights of their own days", nights(start(19), true, weekdays, night), ""},
		{"nights of days that begin at midnight all the same", nights(start(0), true, weekdays, night), "day_mask ends each day at 00:00"},
		{"office hours", nights(start(0), false, weekdays, office), ""},
		{"office hours within which days begin", nights(start(12), true, weekdays, office), "its days begin at 12:00, within the hours 09:00 to 18:00"},
		{"an evening until midnight", nights(start(0), false, weekdays, oncall.Period{Start: 19 * 3600}), ""},
		{"nights in two parts", nights(start(0), false, weekdays, oncall.Period{Start: 19 * 3600, End: day}, oncall.Period{End: 7 * 3600}), ""},
		{"whole days", nights(start(0), false, weekdays, oncall.Period{Start: 9 * 3600, End: 9 * 3600}), ""},
		{"days and nights", nights(start(0), false, weekdays, night, oncall.Period{Start: 7 * 3600, End: 19 * 3600}), ""},
		{"nights without a mask", nights(start(0), false, 0, night), ""},
		{"nights beside days off", dated, "its days begin at 00:00, within the hours 19:00 to 07:00"},

		{"turns of 12 hours", turns(12, 0, berlin, 0), `turns_drift: layers[0] "H": hours are elapsed time, so its turns change at other times of day after the clock change of Europe/Berlin on 2026-10-25; a layer for each shift`},
		{"turns of 24 hours", turns(24, 0, berlin, 0), "at another time of day after the clock change of Europe/Berlin on 2026-10-25; turns with rotation_unit day do not"},
		{"turns of 24 hours under a mask", turns(24, weekdays, berlin, 0), ""},
		{"turns of an hour", turns(1, 0, berlin, 0), ""},
		{"turns in a zone without changes", turns(12, 0, time.UTC, 0), ""},
		{"turns that end before the change", turns(12, 0, berlin, time.Date(2026, 10, 1, 0, 0, 0, 0, berlin).Unix()), ""},
	} {
		now := time.Date(2026, 4, 13, 0, 0, 0, 0, berlin)
		s := &oncall.Schedule{Zone: berlin, Layers: []oncall.Layer{c.layer}}
		found := slices.DeleteFunc(check(s, now.Format(time.DateOnly)), func(f string) bool {
			return !strings.HasPrefix(f, "hours_cut") && !strings.HasPrefix(f, "turns_drift")
		})
		if got := strings.Join(found, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
