package oncall

import (
	"testing"
	"time"
)

// The window of the benchmarks: 45 days around the spring change of 2026 in New
// York.
const (
	benchFrom int64 = 1771563600 // 2026-02-20 00:00 EST
	benchTo         = benchFrom + 45*day
)

func benchSchedules(b *testing.B) map[string]*Schedule {
	zone := location(b, "America/New_York")
	daily := Layer{Start: benchFrom - 30*day, Unit: Day, Value: 1, Groups: groups("ABC")}
	with := func(change func(l *Layer)) *Schedule {
		l := daily
		change(&l)
		return &Schedule{Zone: zone, Layers: []Layer{l}}
	}
	return map[string]*Schedule{
		"simple":  with(func(*Layer) {}),
		"age=1d":  with(func(l *Layer) { l.Start = benchFrom - day }),
		"age=10y": with(func(l *Layer) { l.Start = benchFrom - 3652*day }),
		"masked":  with(func(l *Layer) { l.Mask = monToFri }),
		"month":   with(func(l *Layer) { l.Unit = Month }),
		"hourly":  with(func(l *Layer) { l.Unit = Hour }),
		"hard": {Zone: zone, Layers: []Layer{
			{Start: 1600000000, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("ABCD"),
				RestrictMode: RestrictDay, Restrict: []Period{{8 * 3600, 12 * 3600}, {13 * 3600, 18 * 3600}}},
			{Start: 1600000000, Unit: Day, Value: 1, Mask: monToFri, Continuous: true, Groups: groups("EFG"),
				RestrictMode: RestrictDay, Restrict: []Period{{17 * 3600, 9 * 3600}}},
			{Start: 1600000000, Unit: Week, Value: 1, Handoff: 36000, Groups: groups("HI"),
				RestrictMode: RestrictWeek, Restrict: []Period{{5 * day, 7 * day}}},
			{Zone: location(b, "Europe/London"), Weight: 2, Start: 1600000000, Unit: Hour, Value: 12, Fair: true, Groups: groups("JKL")},
			{Start: 1600000000, Unit: Month, Value: 1, Groups: groups("MN"), Mask: satSunOnly},
			{Mode: Override, Start: benchFrom + 3*day, End: benchFrom + 5*day, Groups: groups("O")},
			{Mode: Override, Weight: 1, Start: benchFrom + 4*day, End: benchFrom + 16*day + 1800, Groups: groups("P")},
		}},
	}
}

var benchNames = []string{"simple", "age=1d", "age=10y", "masked", "month", "hourly", "hard"}

func BenchmarkWindow45Days(b *testing.B) {
	schedules := benchSchedules(b)
	for _, name := range benchNames {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				schedules[name].Window(benchFrom, benchTo)
			}
		})
	}
}

func BenchmarkAt(b *testing.B) {
	schedules := benchSchedules(b)
	for _, name := range benchNames {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				schedules[name].At(benchFrom + 20*day)
			}
		})
	}
}

func BenchmarkInstant(b *testing.B) {
	z := &zone{loc: location(b, "America/New_York")}
	w := time.Date(2026, 3, 8, 2, 30, 0, 0, time.UTC).Unix()
	for b.Loop() {
		z.instant(w)
	}
}
