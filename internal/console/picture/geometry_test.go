package picture

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func in(t *testing.T, zone string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func unix(t *testing.T, zone, at string) int64 {
	t.Helper()
	when, err := time.ParseInLocation("2006-01-02 15:04", at, in(t, zone))
	if err != nil {
		t.Fatal(err)
	}
	return when.Unix()
}

// shown writes bars as "left+width", in hours of the strip or lane, with their marks.
func drawn(bars []bar, hours float64) string {
	var all []string
	for _, b := range bars {
		text := fmt.Sprintf("%d:%.4g+%.4g", b.Person, b.Left*hours/100, b.Width*hours/100)
		if b.CutStart {
			text = "<" + text
		}
		if b.CutEnd {
			text += ">"
		}
		if b.Half > 0 {
			text += fmt.Sprintf("/%d", b.Half)
		}
		if b.More > 0 {
			text += fmt.Sprintf("(%d more)", b.More)
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestDayOfClockChangeHasItsLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, date string
		hours      float64
		missing    string
		twice      string
	}{
		{"Europe/Berlin", "2027-03-27", 24, "0+0", "0+0"},
		{"Europe/Berlin", "2027-03-28", 23, "2+1", "0+0"},
		{"Europe/Berlin", "2027-10-31", 25, "0+0", "2+1"},
		{"Australia/Lord_Howe", "2027-10-03", 23.5, "2+0.5", "0+0"},
		{"Australia/Lord_Howe", "2027-04-04", 24.5, "0+0", "1.5+0.5"},
		{"Africa/Cairo", "2027-04-30", 23, "0+1", "0+0"}, // the clock goes from 24:00 to 01:00
		{"America/Havana", "2027-11-07", 25, "0+0", "0+1"},
	} {
		d := DaysFrom(unix(t, c.zone, c.date+" 12:00"), 1, in(t, c.zone))[0]
		hour := func(s span) string { return fmt.Sprintf("%.4g+%.4g", s.Left*.24, s.Width*.24) }
		if got := float64(d.Length()) / 3600; got != c.hours || hour(d.Missing()) != c.missing || hour(d.Twice()) != c.twice {
			t.Errorf("%s in %s has %g hours, missing %s, twice %s", c.date, c.zone, got, hour(d.Missing()), hour(d.Twice()))
		}
	}
}

func TestStripsShowWallClock(t *testing.T) {
	t.Parallel()
	const berlin = "Europe/Berlin"
	at := func(text string) int64 { return unix(t, berlin, text) }
	for _, c := range []struct {
		name, date string
		pieces     []Piece
		now        string
		want       string
	}{
		{"cut by the day", "2027-03-25", []Piece{{Start: at("2027-03-24 20:00"), End: at("2027-03-26 02:00"), Persons: []int64{1}}}, "2027-03-01 00:00", "<1:0+24>"},
		{"split by the missing hour", "2027-03-28", []Piece{{Start: at("2027-03-28 01:00"), End: at("2027-03-28 09:00"), Persons: []int64{1}}}, "2027-03-01 00:00",
			"1:1+1> <1:3+6"},
		{"from the end of the missing hour", "2027-03-28", []Piece{{Start: at("2027-03-28 03:00"), End: at("2027-03-28 04:00"), Persons: []int64{1}}}, "2027-03-01 00:00", "1:3+1"},
		{"the repeated hour in two halves", "2027-10-31", []Piece{
			{Start: at("2027-10-31 03:00") - 7200, End: at("2027-10-31 03:00") - 3600, Persons: []int64{1}},
			{Start: at("2027-10-31 03:00") - 3600, End: at("2027-10-31 03:00"), Persons: []int64{2}},
			{Start: at("2027-10-31 03:00"), End: at("2027-11-01 00:00"), Persons: []int64{3}},
		}, "2027-03-01 00:00", "1:2+0.5 2:2.5+0.5 3:3+21"},
		{"split at now", "2027-03-25", []Piece{{Start: at("2027-03-25 00:00"), End: at("2027-03-25 12:00"), Persons: []int64{1}}}, "2027-03-25 06:00", "1:0+6> <1:6+6"},
		{"stacked, with more", "2027-03-25", []Piece{{Start: at("2027-03-25 00:00"), End: at("2027-03-25 12:00"), Persons: []int64{1, 2, 3, 4}}}, "2027-03-01 00:00",
			"1:0+12/1 2:0+12/2(2 more)"},
		{"a gap", "2027-03-25", []Piece{{Start: at("2027-03-25 06:00"), End: at("2027-03-25 12:00")}}, "2027-03-01 00:00", "0:6+6"},
		{"on another day", "2027-03-25", []Piece{{Start: at("2027-03-26 00:00"), End: at("2027-03-26 12:00")}}, "2027-03-01 00:00", ""},
	} {
		d := DaysFrom(at(c.date+" 12:00"), 1, in(t, berlin))[0]
		if got := drawn(StripBars(c.pieces, d, at(c.now)), 24); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLanesShowElapsedTime(t *testing.T) {
	t.Parallel()
	at := func(text string) int64 { return unix(t, "Europe/Berlin", text) }
	days := DaysFrom(at("2027-03-28 12:00"), 2, in(t, "Europe/Berlin"))
	from, to := days[0].Start, days[1].End
	pieces := []Piece{
		{Start: at("2027-03-20 00:00"), End: at("2027-03-28 04:00"), Persons: []int64{1}}, // three hours: 02:00 is missing
		{Start: at("2027-03-28 04:00"), End: at("2027-03-28 04:15"), Persons: []int64{2}}, // a sliver
		{Start: at("2027-03-28 04:15"), End: at("2027-03-29 00:00"), Persons: []int64{3, 4}},
		{Start: at("2027-03-29 00:00"), End: at("2027-04-20 00:00"), Persons: []int64{5}},
	}
	if got, want := drawn(LaneBars(pieces, from, to, 0), 47), "<1:0+3 2:3+0.25 3:3.25+19.75/1 4:3.25+19.75/2 5:23+24>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	now := LaneBars(pieces, from, to, at("2027-03-29 12:00"))
	if got, want := drawn(now[len(now)-2:], 47), "5:23+12> <5:35+12>"; got != want || !now[len(now)-2].Past || now[len(now)-1].Past {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBarsFillWhatTheyShow: whatever the pieces, the day, and the zone, bars lie within the strip, do not overlap, and a
// piece that lasts all day fills all of it but the missing hour.
func TestBarsFillWhatTheyShow(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	zones := []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "Africa/Cairo", "America/Havana", "Asia/Kathmandu"}
	for range 3000 {
		zone := in(t, zones[random.IntN(len(zones))])
		d := DaysFrom(1_800_000_000+random.Int64N(400*86400), 1, zone)[0]
		if d.Length() < 22*3600 || d.Length() > 26*3600 {
			t.Fatalf("%v lasts %d seconds", time.Unix(d.Start, 0).In(zone), d.Length())
		}
		var pieces []Piece
		for at := d.Start - random.Int64N(86400); at < d.End; {
			end := at + 60 + random.Int64N(10*3600)
			pieces, at = append(pieces, Piece{Start: at, End: end, Persons: []int64{1}}), end
		}
		right, width := 0.0, 0.0
		for _, b := range StripBars(pieces, d, d.Start+random.Int64N(86400)) {
			if b.Left < right-1e-9 || b.Width <= 0 || b.Left+b.Width > 100+1e-9 {
				t.Fatalf("%v in %v: bar %g+%g after %g", time.Unix(d.Start, 0).In(zone), zone, b.Left, b.Width, right)
			}
			right, width = b.Left+b.Width, width+b.Width
		}
		if math.Abs(width+d.Missing().Width-100) > 1e-6 {
			t.Fatalf("%v in %v: bars fill %g, %g is missing", time.Unix(d.Start, 0).In(zone), zone, width, d.Missing().Width)
		}
	}
}

func TestGapsAndShadows(t *testing.T) {
	t.Parallel()
	text := func(pieces []Piece) string {
		var all []string
		for _, p := range pieces {
			mark := ""
			if p.Ghost {
				mark = "ghost"
			}
			all = append(all, fmt.Sprintf("%d-%d%v%s", p.Start, p.End, p.Persons, mark))
		}
		return strings.Join(all, " ")
	}
	final := []Piece{{Start: 10, End: 20, Persons: []int64{1}}, {Start: 20, End: 30, Persons: []int64{2}}, {Start: 35, End: 40, Persons: []int64{1, 3}}}
	if got, want := text(WithGaps(final, 5, 50)), "5-10[] 10-20[1] 20-30[2] 30-35[] 35-40[1 3] 40-50[]"; got != want {
		t.Errorf("gaps: %s, want %s", got, want)
	}
	layer := []Piece{{Start: 10, End: 40, Persons: []int64{1}}}
	if got, want := text(Shadowed(layer, final)), "10-20[1] 20-35[1]ghost 35-40[1]"; got != want {
		t.Errorf("shadows: %s, want %s", got, want)
	}
	lost, gained := []Piece{{Start: 15, End: 20, Persons: []int64{1}}}, []Piece{{Start: 30, End: 35, Persons: []int64{4}}, {Start: 12, End: 13, Persons: []int64{1}}}
	if got, want := text(Applied(WithGaps(final, 5, 50), lost, gained, 5, 50)), "5-10[] 10-15[1] 15-20[] 20-30[2] 30-35[4] 35-40[1 3] 40-50[]"; got != want {
		t.Errorf("applied: %s, want %s", got, want)
	}
	if !slices.Equal(cuts(0, 10, 10, 0, 5, 5), []stretch{{0, 5}, {5, 10}}) {
		t.Errorf("cuts: %v", cuts(0, 10, 10, 0, 5, 5))
	}
}
