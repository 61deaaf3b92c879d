package oncall

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests name zones and must find them on any machine
)

// The worked examples W1 to W18 of docs/timeline.md, with their numbers.

func location(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// groups makes one group for every letter; the group A holds person 65, the
// letter's code, in role 0.
func groups(letters string) []Group {
	var out []Group
	for _, c := range letters {
		out = append(out, Group{Name: string(c), Members: []Member{{PersonIDs: []int64{int64(c)}}}})
	}
	return out
}

const (
	monToFri   Weekdays = 0b0111110
	satSunOnly Weekdays = 0b1000001
)

// layerWords writes entries as "A [start,end)" joined by spaces.
func layerWords(l *Layer, entries []Entry) string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s [%d,%d)", l.Groups[e.Group].Name, e.Start, e.End))
	}
	return strings.Join(out, " ")
}

// pieceWords writes pieces the same way.
func pieceWords(pieces []Piece) string {
	var out []string
	for _, p := range pieces {
		out = append(out, fmt.Sprintf("%s [%d,%d)", p.Group.Name, p.Start, p.End))
	}
	return strings.Join(out, " ")
}

// personWords writes pieces as "0:A,X [start,end)": the role and those who hold it, by their letters.
func personWords(pieces []Piece) string {
	var out []string
	for _, p := range pieces {
		var roles []string
		for _, m := range p.Group.Members {
			var letters []string
			for _, person := range m.PersonIDs {
				letters = append(letters, string(rune(person)))
			}
			roles = append(roles, fmt.Sprintf("%d:%s", m.RoleID, strings.Join(letters, ",")))
		}
		out = append(out, fmt.Sprintf("%s [%d,%d)", strings.Join(roles, " "), p.Start, p.End))
	}
	return strings.Join(out, " ")
}

// pair is a group with a primary and a backup, by their letters.
func pair(primary, backup rune) Group {
	return Group{Name: string([]rune{primary, backup}), Members: []Member{
		{RoleID: 0, PersonIDs: []int64{int64(primary)}}, {RoleID: 1, PersonIDs: []int64{int64(backup)}}}}
}

// example is one worked example. Layers and final are checked where they are
// set.
type example struct {
	name     string
	zone     string
	layers   []Layer
	covers   []Cover
	absences []Absence
	absent   WhenAbsent
	from, to int64
	want     []string // per layer
	final    string
	persons  bool // final names persons by role instead of groups
}

var examples = []example{
	{
		name: "W1", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1766372400, Unit: Day, Value: 1, Groups: groups("ABCDE")}},
		from:   1778468400, to: 1778641200,
		want:  []string{"A [1778468400,1778554800) B [1778554800,1778641200)"},
		final: "A [1778468400,1778554800) B [1778554800,1778641200)",
	},
	{
		name: "W2", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1775980800, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("AB")}},
		from:   1775980800, to: 1776240000,
		want: []string{"A [1776009600,1776096000) B [1776096000,1776182400) A [1776182400,1776240000)"},
	},
	{
		name: "W2/three groups, nine days", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1775980800, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("ABC")}},
		from:   1775980800, to: 1775980800 + 9*86400 + 8*3600,
		want: []string{"A [1776009600,1776096000) B [1776096000,1776182400) C [1776182400,1776268800) " +
			"A [1776268800,1776355200) B [1776355200,1776441600) C [1776614400,1776700800) A [1776700800,1776787200)"},
	},
	{
		name: "W3", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1767542400, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("AB")}},
		from:   1776009600, to: 1776009600 + 8*86400,
		want: []string{"A [1776009600,1776096000) B [1776096000,1776182400) A [1776182400,1776268800) " +
			"B [1776268800,1776355200) A [1776355200,1776441600) B [1776614400,1776700800)"},
	},
	{
		name: "W4", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1775980800, Unit: Day, Value: 1, Mask: monToFri, Continuous: true, Groups: groups("AB")}},
		from:   1775980800, to: 1776758400,
		want: []string{"A [1776067200,1776153600) B [1776153600,1776240000) A [1776240000,1776326400) " +
			"B [1776326400,1776412800) A [1776412800,1776499200) B [1776672000,1776758400)"},
	},
	{
		name: "W5", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1776214800, Unit: Week, Value: 1, Handoff: 36000, Groups: groups("ABC")}},
		from:   1776214800, to: 1777860000 + 604800,
		want: []string{"A [1776214800,1776650400) B [1776650400,1777255200) C [1777255200,1777860000) A [1777860000,1778464800)"},
	},
	{
		name: "W5/seven days instead of a week", zone: "Asia/Shanghai",
		layers: []Layer{{Start: 1776214800, Unit: Day, Value: 7, Handoff: 36000, Groups: groups("ABC")}},
		from:   1776214800, to: 1777860000 + 604800,
		want: []string{"A [1776214800,1776650400) B [1776650400,1777255200) C [1777255200,1777860000) A [1777860000,1778464800)"},
	},
	{
		name: "W6", zone: "Asia/Shanghai",
		layers: []Layer{
			{Start: 1776009600, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("AB"),
				RestrictMode: RestrictDay, Restrict: []Period{{32400, 64800}}},
			{Start: 1776009600 + 18*3600, Unit: Day, Value: 1, Mask: monToFri, Continuous: true, Groups: groups("XY"),
				RestrictMode: RestrictDay, Restrict: []Period{{64800, 32400}}},
			{Start: 1776441600, Unit: Week, Value: 1, Groups: groups("M"),
				RestrictMode: RestrictWeek, Restrict: []Period{{432000, 604800}}},
		},
		from: 1776355200, to: 1776700800,
		want: []string{
			"A [1776387600,1776420000) B [1776646800,1776679200)",
			"Y [1776355200,1776387600) X [1776420000,1776474000) Y [1776679200,1776700800)",
			"M [1776441600,1776614400)",
		},
		final: "Y [1776355200,1776387600) A [1776387600,1776420000) X [1776420000,1776441600) X+M [1776441600,1776474000) " +
			"M [1776474000,1776614400) B [1776646800,1776679200) Y [1776679200,1776700800)",
	},
	{
		name: "W7", zone: "Asia/Shanghai",
		layers: []Layer{
			{Start: 1776042000, Unit: Day, Value: 1, Groups: groups("AB")},
			{Mode: Override, Start: 1776096000, End: 1776182400, Groups: groups("Z")},
		},
		from: 1776042000, to: 1776301200,
		want: []string{
			"A [1776042000,1776128400) B [1776128400,1776214800) A [1776214800,1776301200)",
			"Z [1776096000,1776182400)",
		},
		final: "A [1776042000,1776096000) Z [1776096000,1776182400) B [1776182400,1776214800) A [1776214800,1776301200)",
	},
	{
		name: "W8", zone: "America/New_York",
		layers: []Layer{{Start: 1772805600, Unit: Day, Value: 1, Groups: groups("AB")}},
		from:   1772805600, to: 1773147600,
		want: []string{"A [1772805600,1772892000) B [1772892000,1772974800) A [1772974800,1773061200) B [1773061200,1773147600)"},
	},
	{
		name: "W8/24 hours instead of a day", zone: "America/New_York",
		layers: []Layer{{Start: 1772805600, Unit: Hour, Value: 24, Groups: groups("AB")}},
		from:   1772805600, to: 1773064800,
		want: []string{"A [1772805600,1772892000) B [1772892000,1772978400) A [1772978400,1773064800)"},
	},
	{
		name: "W9", zone: "America/New_York",
		layers: []Layer{{Start: 1793332800, Unit: Day, Value: 1, Mask: 0b1100011, Groups: groups("ABC")}},
		from:   1793332800, to: 1793682000,
		want: []string{"A [1793332800,1793419200) B [1793419200,1793505600) C [1793505600,1793595600) A [1793595600,1793682000)"},
	},
	{
		name: "W9/nights", zone: "America/New_York",
		layers: []Layer{{Start: 1793376000, Unit: Day, Value: 1, Groups: groups("AB"),
			RestrictMode: RestrictDay, Restrict: []Period{{79200, 21600}}}},
		from: 1793376000, to: 1793617200,
		want: []string{"A [1793412000,1793440800) B [1793498400,1793530800) A [1793588400,1793617200)"},
	},
	{
		name: "W10", zone: "America/New_York",
		layers: []Layer{{Start: 1769868000, Unit: Month, Value: 1, Groups: groups("AB")}},
		from:   1771563600, to: 1775361600,
		want: []string{"A [1771563600,1772287200) B [1772287200,1774962000) A [1774962000,1775361600)"},
	},
	{
		name: "W11", zone: "UTC",
		layers: []Layer{{Start: 1780272000, Unit: Day, Value: 1, Fair: true, Groups: groups("ABC")}},
		from:   1780272000, to: 1780272000 + 9*86400,
		want: []string{"A [1780272000,1780358400) B [1780358400,1780444800) C [1780444800,1780531200) " +
			"B [1780531200,1780617600) C [1780617600,1780704000) A [1780704000,1780790400) " +
			"C [1780790400,1780876800) A [1780876800,1780963200) B [1780963200,1781049600)"},
	},
	{
		name: "W12", zone: "UTC",
		layers: []Layer{
			{Start: 1780272000, Unit: Day, Value: 1, Groups: groups("AB")},
			{Start: 1780272000, Unit: Hour, Value: 12, Groups: groups("XY"),
				RestrictMode: RestrictDay, Restrict: []Period{{28800, 72000}}},
		},
		from: 1780272000, to: 1780358400,
		final: "A [1780272000,1780300800) A+X [1780300800,1780315200) A+Y [1780315200,1780344000) A [1780344000,1780358400)",
	},
	{
		name: "W13", zone: "America/New_York",
		layers: []Layer{{Start: 1772859600, Unit: Day, Value: 1, Groups: groups("A"),
			RestrictMode: RestrictDay, Restrict: []Period{{9000, 14400}}}},
		from: 1772859600, to: 1773043200,
		want: []string{"A [1772868600,1772874000) A [1772955000,1772956800) A [1773037800,1773043200)"},
	},
	{
		name: "W14", zone: "UTC",
		layers: []Layer{{Start: 1780272000, Unit: Day, Value: 1, Groups: []Group{pair('A', 'B'), pair('C', 'D')}}},
		covers: []Cover{{Start: 1780300800, End: 1780315200, PersonID: 'A', RoleID: AnyRole, By: 'X'}},
		from:   1780272000, to: 1780444800, persons: true,
		final: "0:A 1:B [1780272000,1780300800) 0:X 1:B [1780300800,1780315200) 0:A 1:B [1780315200,1780358400) 0:C 1:D [1780358400,1780444800)",
	},
	{
		name: "W14/a shift that is handed on, and a role", zone: "UTC",
		layers: []Layer{{Start: 1780272000, Unit: Day, Value: 1, Groups: []Group{pair('A', 'B'), pair('C', 'D')}}},
		covers: []Cover{
			{Start: 1780272000, End: 1780358400, PersonID: 'A', RoleID: 0, By: 'X'},
			{Start: 1780315200, End: 1780444800, PersonID: 'X', RoleID: AnyRole, By: 'Y'},
			{Start: 1780358400, End: 1780444800, RoleID: 1, By: 'Z'},
		},
		from: 1780272000, to: 1780444800, persons: true,
		final: "0:X 1:B [1780272000,1780315200) 0:Y 1:B [1780315200,1780358400) 0:C 1:Z [1780358400,1780444800)",
	},
	{
		name: "W15", zone: "UTC",
		layers:   []Layer{{Start: 1780272000, Unit: Day, Value: 1, Groups: groups("ABC")}},
		absences: []Absence{{PersonID: 'B', Start: 1780358400, End: 1780401600}},
		from:     1780272000, to: 1780272000 + 4*86400,
		want:  []string{"A [1780272000,1780358400) C [1780358400,1780401600) B [1780401600,1780444800) C [1780444800,1780531200) A [1780531200,1780617600)"},
		final: "A [1780272000,1780358400) C [1780358400,1780401600) B [1780401600,1780444800) C [1780444800,1780531200) A [1780531200,1780617600)",
	},
	{
		name: "W15/the gap shows", zone: "UTC",
		layers:   []Layer{{Start: 1780272000, Unit: Day, Value: 1, Groups: groups("ABC")}},
		absences: []Absence{{PersonID: 'B', Start: 1780358400, End: 1780401600}}, absent: AbsentGap,
		from: 1780272000, to: 1780272000 + 3*86400,
		final: "A [1780272000,1780358400) B [1780401600,1780444800) C [1780444800,1780531200)",
	},
	{
		name: "W16", zone: "UTC",
		layers:   []Layer{{Start: 1780272000, Unit: Day, Value: 1, Groups: []Group{pair('A', 'B'), pair('C', 'D')}}},
		absences: []Absence{{PersonID: 'A', Start: 1780300800, End: 1780444800}},
		from:     1780272000, to: 1780444800, persons: true,
		final: "0:A 1:B [1780272000,1780300800) 1:B [1780300800,1780358400) 0:C 1:D [1780358400,1780444800)",
	},
	{
		name: "W17", zone: "Europe/Berlin",
		layers: []Layer{
			{Start: 1766358000, Unit: Day, Value: 1, Groups: groups("AB"), Skip: []*Calendar{christmas}},
			{Start: 1766358000, Unit: Week, Value: 1, Groups: groups("X"), Only: []*Calendar{christmas}},
		},
		from: 1766530800, to: 1766962800, // Wednesday 24 December 2025 to Monday
		final: "A [1766530800,1766617200) X [1766617200,1766790000) B [1766790000,1766876400) A [1766876400,1766962800)",
	},
	{
		name: "W18", zone: "UTC",
		layers: []Layer{
			{Start: 1780272000, Unit: Day, Value: 1, Groups: groups("AB")},
			{Mode: Override, Start: 1780358400, End: 1780444800, Groups: groups("Z")},
		},
		covers:   []Cover{{Start: 1780358400, End: 1780401600, PersonID: 'Z', RoleID: AnyRole, By: 'A'}},
		absences: []Absence{{PersonID: 'A', Start: 1780272000, End: 1780444800}, {PersonID: 'Z', Start: 1780272000, End: 1780531200}},
		from:     1780272000, to: 1780444800, persons: true,
		final: "0:B [1780272000,1780358400) 0:A [1780358400,1780401600) 0:Z [1780401600,1780444800)",
	},
}

// christmas has 25 and 26 December 2025 off.
var christmas = NewCalendar(EveryDay, []Exception{{Date(2025, time.December, 25), Date(2025, time.December, 27), true}})

func TestExamples(t *testing.T) {
	for _, x := range examples {
		t.Run(x.name, func(t *testing.T) {
			s := &Schedule{Zone: location(t, x.zone), Layers: x.layers, Covers: x.covers, Absences: x.absences, WhenAbsent: x.absent}
			if err := s.Check(); err != nil {
				t.Fatal(err)
			}
			got := s.Window(x.from, x.to)
			for i, want := range x.want {
				if words := layerWords(&s.Layers[i], got.Layers[i]); words != want {
					t.Errorf("layer %d:\n got %s\nwant %s", i, words, want)
				}
			}
			words := pieceWords(got.Final)
			if x.persons {
				words = personWords(got.Final)
			}
			if x.final != "" && words != x.final {
				t.Errorf("final:\n got %s\nwant %s", words, x.final)
			}
		})
	}
}

// TestExampleNow is the second half of W1: who is on call at one moment, and who is next.
func TestExampleNow(t *testing.T) {
	s := &Schedule{Zone: location(t, "Asia/Shanghai"), Layers: examples[0].layers}
	current, next := s.At(1778475795)
	if got, want := pieceWords([]Piece{*current, *next}), "A [1778468400,1778554800) B [1778554800,1778641200)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if current.Index != 0 || next.Index != 1 {
		t.Errorf("indexes %d, %d, want 0, 1", current.Index, next.Index)
	}
}
