package fairness

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"tocsin/internal/core/oncall"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// random returns a question in which everything happens on whole minutes, around a clock change often.
func random(t testing.TB, r *rand.Rand) Question {
	names := []string{"UTC", "America/New_York", "Europe/Berlin", "Asia/Shanghai"}
	zones := []*time.Location{}
	for _, name := range names {
		zones = append(zones, load(t, name))
	}
	from := time.Date(2026, []time.Month{3, 10, 6}[r.IntN(3)], 1+r.IntN(28), r.IntN(24), r.IntN(60), 0, 0, time.UTC).Unix()
	q := Question{From: from, Until: from + (1+r.Int64N(12*1440))*60, Night: Span{r.Int64N(1440) * 60, r.Int64N(1440) * 60},
		Zone: func(person int64) *time.Location { return zones[person%4] }}
	for at := from - day; at < q.Until && r.IntN(4) > 0; at += day + r.Int64N(5*1440)*60 {
		q.Holidays = append(q.Holidays, Span{at, at + day})
	}
	if r.IntN(3) == 0 {
		q.Roles = []int64{int64(r.IntN(2))}
	}
	for range 1 + r.IntN(3) {
		s := &oncall.Schedule{Zone: zones[r.IntN(4)]}
		for range 1 + r.IntN(3) {
			l := oncall.Layer{Unit: oncall.Unit(1 + r.IntN(2)), Value: 1 + r.IntN(9), Start: from - r.Int64N(3000)*60, Zone: zones[r.IntN(4)], Mask: oncall.Weekdays(r.IntN(128))}
			for range 1 + r.IntN(3) {
				l.Groups = append(l.Groups, oncall.Group{Name: "G", Members: []oncall.Member{
					{RoleID: 0, PersonIDs: []int64{r.Int64N(6)}}, {RoleID: 1, PersonIDs: []int64{r.Int64N(6), r.Int64N(6)}}}})
			}
			s.Layers = append(s.Layers, l)
		}
		q.Schedules = append(q.Schedules, s)
	}
	return q
}

// naive counts minute by minute.
func naive(q Question) (counts []Count) {
	all := map[int64]*Count{}
	run := map[int64]int64{}
	for _, s := range q.Schedules {
		for _, l := range s.Layers {
			for _, g := range l.Groups {
				for _, m := range g.Members {
					for _, p := range m.PersonIDs {
						if len(q.Roles) == 0 || m.RoleID == q.Roles[0] {
							all[p] = &Count{PersonID: p}
						}
					}
				}
			}
		}
	}
	for at := q.From; at < q.Until; at += 60 {
		now := map[int64]bool{}
		for _, s := range q.Schedules {
			for _, p := range s.Window(at, at+60).Final {
				for _, m := range p.Group.Members {
					for _, person := range m.PersonIDs {
						if len(q.Roles) == 0 || m.RoleID == q.Roles[0] {
							now[person] = true
						}
					}
				}
			}
		}
		for person, c := range all {
			if !now[person] {
				run[person] = 0
				continue
			}
			local := time.Unix(at, 0).In(q.Zone(person))
			c.Seconds += 60
			run[person] += 60
			c.Longest = max(c.Longest, run[person])
			inside := atNight(at, q.Night, q.Zone(person))
			if inside {
				c.Night += 60
			}
			if local.Weekday() == time.Saturday || local.Weekday() == time.Sunday {
				c.Weekend += 60
			}
			for _, h := range q.Holidays {
				if at >= h.From && at < h.Until {
					c.Holiday += 60
				}
			}
		}
	}
	for person := range int64(6) {
		if all[person] != nil {
			counts = append(counts, *all[person])
		}
	}
	return counts
}

// atNight reports whether a moment is in the night that began on its date, or in that of the date before.
func atNight(at int64, night Span, zone *time.Location) bool {
	ends := night.Until
	if ends <= night.From {
		ends += day
	}
	y, m, d := time.Unix(at, 0).In(zone).Date()
	for _, date := range []int{d - 1, d} {
		if wall(y, m, date, night.From, zone) <= at && at < wall(y, m, date+int(ends/day), ends%day, zone) {
			return true
		}
	}
	return false
}

// wall returns when a clock shows a time of day (docs/timeline.md R2): for the first time where it does so twice, and by
// the offset before the change where it never does.
func wall(y int, m time.Month, d int, seconds int64, zone *time.Location) int64 {
	asUTC := time.Date(y, m, d, 0, 0, int(seconds), 0, time.UTC).Unix()
	_, before := time.Unix(asUTC-day, 0).In(zone).Zone()
	_, after := time.Unix(asUTC+day, 0).In(zone).Zone()
	for _, offset := range []int{before, after} {
		at := asUTC - int64(offset)
		if _, there := time.Unix(at, 0).In(zone).Zone(); there == offset {
			return at
		}
	}
	return asUTC - int64(before)
}

func TestCountsEqualScanOfMinutes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(30) {
		q := random(t, rand.New(rand.NewPCG(seed, n)))
		got, err := Persons(q)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Shifts = 0
		}
		if want := naive(q); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d case %d night %v %d to %d:\n got %v\nwant %v", seed, n, q.Night, q.From, q.Until, got, want)
		}
	}
}

// Shifts are those of core/oncall, also where a computation ends in between.
func TestShiftsAreCountedOnce(t *testing.T) {
	for _, days := range []int64{1, 7, 45, 46, 90, 366} {
		from := int64(1776052800)
		layer := oncall.Layer{Unit: oncall.Day, Value: 4, Start: from - 400*day, Groups: []oncall.Group{
			{Members: []oncall.Member{{PersonIDs: []int64{1}}}}, {Members: []oncall.Member{{PersonIDs: []int64{2}}}}}}
		s := &oncall.Schedule{Layers: []oncall.Layer{layer}}
		got, err := Persons(Question{Schedules: []*oncall.Schedule{s}, From: from, Until: from + days*day, Zone: func(int64) *time.Location { return time.UTC }})
		if err != nil {
			t.Fatal(err)
		}
		want := map[int64]int64{}
		for _, h := range s.Shifts(s.Window(from, from+days*day).Final) {
			want[h.PersonID]++
		}
		for _, c := range got {
			if c.Shifts != want[c.PersonID] {
				t.Errorf("%d days: %+v, want %d shifts", days, c, want[c.PersonID])
			}
		}
	}
}

func large(layers int, unit oncall.Unit) Question {
	s := &oncall.Schedule{Zone: time.UTC}
	for i := range int64(layers) {
		l := oncall.Layer{Unit: unit, Value: 1, Start: 1600000000 + i*1800}
		for p := range int64(5) {
			l.Groups = append(l.Groups, oncall.Group{Name: fmt.Sprint(p), Members: []oncall.Member{{PersonIDs: []int64{i*5 + p}}}})
		}
		s.Layers = append(s.Layers, l)
	}
	return Question{Schedules: []*oncall.Schedule{s}, From: 1776052800, Until: 1776052800 + 366*day, Night: Span{22 * 3600, 6 * 3600},
		Zone: func(int64) *time.Location { return time.UTC }}
}

func TestWorkIsBounded(t *testing.T) {
	q := large(50, oncall.Hour)
	for range 3 {
		q.Schedules = append(q.Schedules, q.Schedules[0])
	}
	if _, err := Persons(q); err != ErrTooMany { //nolint:errorlint // it is returned as it is
		t.Errorf("four times a year of 50 layers by the hour: %v", err)
	}
}

func BenchmarkYearOf50Layers(b *testing.B) {
	for name, unit := range map[string]oncall.Unit{"daily": oncall.Day, "weekly": oncall.Week} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			q := large(50, unit)
			for b.Loop() {
				if _, err := Persons(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// In Berlin 02:59 does not exist on 29 March 2026: it is 03:59, after the end of a night until 03:45.
func TestClockChangeRemovesNight(t *testing.T) {
	zone := load(t, "Europe/Berlin")
	from := time.Date(2026, 3, 28, 12, 0, 0, 0, zone).Unix()
	if list := nights(zone, Span{2*3600 + 59*60, 3*3600 + 45*60}, from, from+day); overlap(list, []Span{{from, from + day}}) != 0 {
		t.Errorf("%v", list)
	}
}
