package oncall

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Shifts that went wrong in other systems, with the instants they should have.
// Numbers in names are those of the collection they were taken from.

// inUTC writes a layer's entries as "A 2024-10-29 14:00 169h".
func inUTC(l *Layer, entries []Entry) string {
	var out []string
	for _, e := range entries {
		start := time.Unix(e.Start, 0).UTC().Format("01-02 15:04")
		length := strings.TrimSuffix((time.Duration(e.End-e.Start) * time.Second).String(), "0s")
		if whole, ok := strings.CutSuffix(length, "h0m"); ok {
			length = whole + "h"
		}
		out = append(out, fmt.Sprintf("%s %s %s", l.Groups[e.Group].Name, start, length))
	}
	return strings.Join(out, "; ")
}

func TestShiftsInZones(t *testing.T) {
	hours := func(periods ...Period) func(*Layer) {
		return func(l *Layer) {
			l.RestrictMode = RestrictDay
			for _, p := range periods {
				l.Restrict = append(l.Restrict, Period{p.Start * 60, p.End * 60}) // minutes, to be readable
			}
		}
	}
	for _, x := range []struct {
		name, zone string
		start      string // wall clock
		unit       Unit
		groups     string
		change     func(*Layer)
		from, to   string // UTC
		want       string
	}{
		{"1 weekly, autumn", "America/Chicago", "2024-10-01 09:00:00", Week, "AB", nil,
			"2024-10-22 14:00:00", "2024-11-19 15:00:00",
			"B 10-22 14:00 168h; A 10-29 14:00 169h; B 11-05 15:00 168h; A 11-12 15:00 168h"},
		{"1 weekly, spring", "America/Chicago", "2024-10-01 09:00:00", Week, "AB", nil,
			"2025-02-25 15:00:00", "2025-03-18 14:00:00",
			"B 02-25 15:00 168h; A 03-04 15:00 167h; B 03-11 14:00 168h"},
		{"2 office hours", "Europe/London", "2023-10-27 00:00:00", Day, "AB", hours(Period{510, 1050}),
			"2023-10-26 23:00:00", "2023-10-31 00:00:00",
			"A 10-27 07:30 9h; B 10-28 07:30 9h; A 10-29 08:30 9h; B 10-30 08:30 9h"},
		{"3 ends at an ambiguous time", "America/New_York", "2025-11-01 00:00:00", Day, "A", hours(Period{0, 90}),
			"2025-11-01 04:00:00", "2025-11-04 00:00:00",
			"A 11-01 04:00 1h30m; A 11-02 04:00 1h30m; A 11-03 05:00 1h30m"},
		{"3 starts at an ambiguous time", "America/New_York", "2025-11-01 00:00:00", Day, "A", hours(Period{90, 180}),
			"2025-11-01 04:00:00", "2025-11-04 00:00:00",
			"A 11-01 05:30 1h30m; A 11-02 05:30 2h30m; A 11-03 06:30 1h30m"},
		{"4 starts at a time that does not exist", "America/New_York", "2025-03-08 00:00:00", Day, "A", hours(Period{150, 300}),
			"2025-03-08 05:00:00", "2025-03-11 00:00:00",
			"A 03-08 07:30 2h30m; A 03-09 07:30 1h30m; A 03-10 06:30 2h30m"},
		{"4 turns change at a time that does not exist", "America/New_York", "2025-03-07 02:30:00", Day, "AB", nil,
			"2025-03-07 07:30:00", "2025-03-11 06:30:00",
			"A 03-07 07:30 24h; B 03-08 07:30 24h; A 03-09 07:30 23h; B 03-10 06:30 24h"},
		{"5 nights, spring", "America/New_York", "2025-03-07 12:00:00", Day, "AB", hours(Period{1320, 360}),
			"2025-03-07 17:00:00", "2025-03-10 17:00:00",
			"A 03-08 03:00 8h; B 03-09 03:00 7h; A 03-10 02:00 8h"},
		{"5 nights, autumn", "America/New_York", "2025-10-31 12:00:00", Day, "AB", hours(Period{1320, 360}),
			"2025-10-31 16:00:00", "2025-11-03 17:00:00",
			"A 11-01 02:00 8h; B 11-02 02:00 9h; A 11-03 03:00 8h"},
		{"6 no midnight, Cairo", "Africa/Cairo", "2025-04-21 00:00:00", Day, "ABC", func(l *Layer) { l.Mask = 0b0110110 }, // not Wed, Sat, Sun
			"2025-04-20 22:00:00", "2025-04-28 21:00:00",
			"A 04-20 22:00 24h; B 04-21 22:00 24h; C 04-23 22:00 24h; A 04-24 22:00 23h; B 04-27 21:00 24h"},
		{"6 no midnight, Sao Paulo", "America/Sao_Paulo", "2018-11-02 00:00:00", Day, "AB", nil,
			"2018-11-02 03:00:00", "2018-11-06 02:00:00",
			"A 11-02 03:00 24h; B 11-03 03:00 24h; A 11-04 03:00 23h; B 11-05 02:00 24h"},
		{"7 half an hour, spring", "Australia/Lord_Howe", "2025-10-04 00:00:00", Day, "ABC", nil,
			"2025-10-03 13:30:00", "2025-10-06 13:00:00",
			"A 10-03 13:30 24h; B 10-04 13:30 23h30m; C 10-05 13:00 24h"},
		{"7 half an hour, autumn", "Australia/Lord_Howe", "2025-04-05 00:00:00", Day, "ABC", nil,
			"2025-04-04 13:00:00", "2025-04-07 13:30:00",
			"A 04-04 13:00 24h; B 04-05 13:00 24h30m; C 04-06 13:30 24h"},
		{"8 Ramadan begins", "Africa/Casablanca", "2025-02-22 02:30:00", Day, "AB", nil,
			"2025-02-22 01:30:00", "2025-02-25 02:30:00",
			"A 02-22 01:30 24h; B 02-23 01:30 25h; A 02-24 02:30 24h"},
		{"8 Ramadan ends", "Africa/Casablanca", "2025-04-05 02:30:00", Day, "AB", nil,
			"2025-04-05 02:30:00", "2025-04-08 01:30:00",
			"A 04-05 02:30 24h; B 04-06 02:30 23h; A 04-07 01:30 24h"},
		{"9 a date that does not exist", "Pacific/Apia", "2011-12-28 00:00:00", Day, "ABCD", nil,
			"2011-12-28 10:00:00", "2012-01-01 10:00:00",
			"A 12-28 10:00 24h; B 12-29 10:00 24h; D 12-30 10:00 24h; A 12-31 10:00 24h"},
		{"9 a date that does not exist, masked", "Pacific/Apia", "2011-12-28 00:00:00", Day, "ABCD", func(l *Layer) { l.Mask = monToFri },
			"2011-12-28 10:00:00", "2012-01-03 10:00:00",
			"A 12-28 10:00 24h; B 12-29 10:00 24h; D 01-01 10:00 24h; A 01-02 10:00 24h"},
		{"9 a night into it", "Pacific/Apia", "2011-12-28 12:00:00", Day, "ABCD", hours(Period{1080, 540}),
			"2011-12-28 22:00:00", "2012-01-01 22:00:00",
			"A 12-29 04:00 15h; B 12-30 04:00 15h; D 12-31 04:00 15h; A 01-01 04:00 15h"},
		{"11 Friday's person is followed by the next on Monday", "Europe/London", "2026-01-05 00:00:00", Day, "ABC",
			func(l *Layer) {
				l.Mask = monToFri
				hours(Period{540, 1140})(l)
			},
			"2026-01-08 00:00:00", "2026-01-14 00:00:00",
			"A 01-08 09:00 10h; B 01-09 09:00 10h; C 01-12 09:00 10h; A 01-13 09:00 10h"},
		{"15 twelve elapsed hours", "America/New_York", "2026-03-07 08:00:00", Hour, "AB", func(l *Layer) { l.Value = 12 },
			"2026-03-07 13:00:00", "2026-03-09 13:00:00",
			"A 03-07 13:00 12h; B 03-08 01:00 12h; A 03-08 13:00 12h; B 03-09 01:00 12h"},
	} {
		t.Run(x.name, func(t *testing.T) {
			loc := location(t, x.zone)
			l := Layer{Start: naiveInstant(loc, time.Unix(utc(x.start), 0).UTC()), Unit: x.unit, Value: 1, Groups: groups(x.groups)}
			if x.change != nil {
				x.change(&l)
			}
			s := &Schedule{Zone: loc, Layers: []Layer{l}}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			if got := inUTC(&l, s.Window(utc(x.from), utc(x.to)).Layers[0]); got != x.want {
				t.Errorf("\n got %s\nwant %s", got, x.want)
			}
		})
	}
}
