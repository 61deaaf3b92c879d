package shiftfeed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-ical"

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

func group(name string, persons ...int64) oncall.Group {
	return oncall.Group{Name: name, Members: []oncall.Member{{PersonIDs: persons}}}
}

// hostile are names that must stay names.
var hostile = []string{
	"Ann\r\nBEGIN:VEVENT\r\nUID:evil", "a;b,c:d\\x\\", "\"quoted\"", strings.Repeat("漢字", 60), strings.Repeat("x", 300), "tab\tnul\x00bell\a",
	"line\u2028separator\u0085next", "bad \xff utf8", " leading and trailing ", "ATTENDEE;CN=x:mailto:y\nEND:VCALENDAR", "a\rDTSTART:19700101T000000Z", "",
}

// sample returns a calendar with shifts around both clock changes of a year, and hostile names.
func sample(t testing.TB, zone *time.Location) Calendar {
	c := Calendar{Name: hostile[0], Zone: zone}
	for i, at := range []string{"2026-03-07", "2026-03-28", "2026-10-24", "2026-10-31", "2026-04-03", "2026-10-03"} {
		from, err := time.ParseInLocation(time.DateOnly, at, zone)
		if err != nil {
			t.Fatal(err)
		}
		for h := range int64(60) { // shifts of half an hour, so that some begin within the hour that is there twice
			start := from.Unix() + h*1800*3
			c.Events = append(c.Events, Event{UID: fmt.Sprintf("%d-%d@tocsin", i, h), Start: start, End: start + 1800*3,
				Summary: hostile[int(h)%len(hostile)], Description: hostile[(int(h)+1)%len(hostile)]})
		}
	}
	c.History, _ = History{}.Next(c.Events, 1776052800)
	return c
}

// parsed is an event as a parser read it.
type parsed struct {
	UID, Summary, Description string
	Start, End, Sequence      int64
}

func byUID(list []parsed) []parsed {
	slices.SortFunc(list, func(a, b parsed) int { return strings.Compare(a.UID, b.UID) })
	return list
}

func wanted(c *Calendar) (list []parsed) {
	for i := range c.Events {
		e := &c.Events[i]
		list = append(list, parsed{e.UID, clean(e.Summary), clean(e.Description), e.Start, e.End, int64(c.History.Of(e).Sequence)})
	}
	return byUID(list)
}

// emersion parses with a Go library that is not the one that writes.
func emersion(t testing.TB, text []byte) (list []parsed) {
	t.Helper()
	cal, err := ical.NewDecoder(bytes.NewReader(text)).Decode()
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for _, e := range cal.Events() {
		p := parsed{}
		read := func(name string) string {
			s, err := e.Props.Text(name)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		p.UID = read("UID")
		p.Summary = read("SUMMARY")
		p.Description = read("DESCRIPTION")
		start, err := e.DateTimeStart(time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		end, err := e.DateTimeEnd(time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		p.Start, p.End = start.Unix(), end.Unix()
		if _, err := fmt.Sscan(e.Props.Get("SEQUENCE").Value, &p.Sequence); err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return byUID(list)
}

const python = `
import sys, json, icalendar, pytz
cal = icalendar.Calendar.from_ical(sys.stdin.buffer.read())
def at(p):
    return int(p.dt.astimezone(pytz.utc).timestamp())
print(json.dumps([{"UID": str(e["UID"]), "Summary": str(e["SUMMARY"]), "Description": str(e["DESCRIPTION"]),
  "Start": at(e["DTSTART"]), "End": at(e["DTEND"]), "Sequence": int(e["SEQUENCE"])} for e in cal.walk("VEVENT")]))
`

// pythonIcalendar parses with Debian's python3-icalendar; ok is false if it is not installed.
func pythonIcalendar(t testing.TB, text []byte) (list []parsed, ok bool) {
	t.Helper()
	if exec.Command("/usr/bin/python3", "-c", "import icalendar, pytz").Run() != nil {
		return nil, false
	}
	cmd := exec.Command("/usr/bin/python3", "-c", python)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(text), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatal(err)
	}
	return byUID(list), true
}

// Two parsers that have nothing in common with the writer read the same events, to the second, also where the clock
// changes, and no name becomes a line.
func TestTwoParsersReadSameEvents(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "America/St_Johns"} {
		c := sample(t, load(t, name))
		text, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.SplitAfter(text, []byte("\n")) {
			if len(line) > 0 && !bytes.HasSuffix(line, []byte("\r\n")) || len(line) > 77 || bytes.Count(line, []byte("\r")) > 1 {
				t.Fatalf("%s: line %d is %q", name, i, line)
			}
		}
		want := wanted(&c)
		if got := emersion(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: go-ical reads %d events, want %d: %s", name, len(got), len(want), firstDifference(got, want))
		}
		got, ok := pythonIcalendar(t, text)
		if !ok {
			t.Log("NOT CHECKED WITH A SECOND PARSER: apt-get install python3-icalendar")
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: icalendar reads %d events, want %d: %s", name, len(got), len(want), firstDifference(got, want))
		}
	}
}

func firstDifference(got, want []parsed) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("\n got %q\nwant %q", fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
	return ""
}

// The clock changes in the text have the offsets of the zone, so that a client without its own zones agrees.
// TestNoParameterIsWrittenTwice: RFC 5545 forbids it, and strict readers refuse the feed.
func TestNoParameterIsWrittenTwice(t *testing.T) {
	c := sample(t, load(t, "Europe/Berlin"))
	text, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(string(text), "\r\n ", ""), "\r\n") {
		name, _, _ := strings.Cut(line, ":")
		seen := map[string]bool{}
		for _, parameter := range strings.Split(name, ";")[1:] {
			key, _, _ := strings.Cut(parameter, "=")
			if seen[key] {
				t.Error(line)
			}
			seen[key] = true
		}
	}
	if !strings.Contains(string(text), "\r\nREFRESH-INTERVAL;VALUE=DURATION:PT15M\r\n") {
		t.Error("no REFRESH-INTERVAL")
	}
}

func TestTimeZoneOfTextIsZone(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "Africa/Casablanca"} {
		c := sample(t, load(t, name))
		text, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		cal, err := ical.NewDecoder(bytes.NewReader(text)).Decode()
		if err != nil {
			t.Fatal(err)
		}
		type change struct {
			at     int64
			offset int
		}
		var changes []change
		for _, zone := range cal.Children {
			if zone.Name != "VTIMEZONE" {
				continue
			}
			for _, o := range zone.Children {
				seconds := func(prop string) int {
					at, err := time.Parse("-0700", o.Props.Get(prop).Value)
					if err != nil {
						t.Fatal(err)
					}
					_, offset := at.Zone()
					return offset
				}
				wall, err := time.Parse(localForm, o.Props.Get("DTSTART").Value)
				if err != nil {
					t.Fatal(err)
				}
				changes = append(changes, change{wall.Unix() - int64(seconds("TZOFFSETFROM")), seconds("TZOFFSETTO")})
			}
		}
		for _, e := range c.Events {
			last := change{at: -1 << 62}
			for _, x := range changes {
				if x.at <= e.Start && x.at >= last.at {
					last = x
				}
			}
			if _, want := time.Unix(e.Start, 0).In(c.Zone).Zone(); last.offset != want {
				t.Fatalf("%s: offset %d at %d, want %d", name, last.offset, e.Start, want)
			}
		}
	}
}

// Shifts equal the timeline: a person who is on call at a moment is in exactly one shift, and no other person is in one.
func TestShiftsEqualTimeline(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for n := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, n))
		s := &oncall.Schedule{Zone: load(t, "Europe/Berlin")}
		now := int64(1776052800) + r.Int64N(200)*day
		for range 1 + r.IntN(3) {
			l := oncall.Layer{Unit: oncall.Unit(1 + r.IntN(4)), Value: 1 + r.IntN(3), Start: now - r.Int64N(600)*3600, Groups: []oncall.Group{group("A", 1, 2), group("B", 2)}}
			if r.IntN(2) == 0 {
				l.Mask = oncall.Weekdays(r.IntN(128))
			}
			s.Layers = append(s.Layers, l)
		}
		until := now + 20*day
		all := Shifts(s, now, until, 0)
		again := Shifts(s, now+day, until+3*day, 0)
		for _, h := range all { // a shift has the same bounds in another window
			if h.End > now+day && !slices.ContainsFunc(again, func(o Shift) bool {
				return o.PersonID == h.PersonID && o.RoleID == h.RoleID && o.Start == h.Start && o.End == h.End
			}) {
				t.Fatalf("seed %d case %d: %v is not in %v", seed, n, h, again)
			}
		}
		for range 200 {
			at := now + r.Int64N(20*day)
			want := map[int64]bool{}
			for _, p := range s.Window(at, at+1).Final {
				for _, m := range p.Group.Members {
					for _, id := range m.PersonIDs {
						want[id] = true
					}
				}
			}
			got := map[int64]int{}
			for _, h := range all {
				if h.Start <= at && at < h.End {
					got[h.PersonID]++
				}
			}
			for id := range int64(4) {
				if (got[id] == 1) != want[id] || got[id] > 1 {
					t.Fatalf("seed %d case %d: person %d is in %d shifts at %d, on call: %t", seed, n, id, got[id], at, want[id])
				}
			}
		}
	}
}

// A shift keeps its bounds however long ago it began.
func TestLongShiftsHaveTheirTrueBounds(t *testing.T) {
	now := int64(1776052800)
	s := &oncall.Schedule{Zone: time.UTC, Layers: []oncall.Layer{
		{Unit: oncall.Month, Value: 12, Start: now - 400*day, Groups: []oncall.Group{group("A", 1)}},
		{Unit: oncall.Day, Value: 1, Start: now - 400*day, Groups: []oncall.Group{group("B", 2)}},
		{Mode: oncall.Override, Start: now + 400*day, End: now + 9000*day, Groups: []oncall.Group{group("C", 3)}},
	}}
	for _, from := range []int64{now - 30*day, now, now + 17*day} {
		got := Shifts(s, from, from+180*day, 1)
		if len(got) == 0 || (got[len(got)-1].End-got[len(got)-1].Start)/day < 360 {
			t.Errorf("%v", got)
		}
	}
	if got := Shifts(s, now+3000*day, now+3180*day, 3); len(got) != 1 || got[0].Start != now+400*day || got[0].End != now+9000*day {
		t.Errorf("%v", got)
	}
}

// The sequence number grows when an event changes and never goes down; what is left alone keeps its number and time.
func TestSequenceNumbers(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	type said struct {
		digest   string
		sequence int
	}
	var h History
	last := map[string]said{}
	for now := range int64(300) {
		var events []Event
		for uid := range 8 {
			if r.IntN(3) > 0 {
				events = append(events, Event{UID: fmt.Sprint(uid), Start: 1, End: 2 + r.Int64N(2)})
			}
		}
		next, changed := h.Next(events, now)
		if again, more := next.Next(events, now+1); more || !reflect.DeepEqual(again, next) {
			t.Fatalf("seed %d: the same events changed", seed)
		}
		if !changed && !reflect.DeepEqual(next, h) {
			t.Fatalf("seed %d: changed silently", seed)
		}
		present := map[string]bool{}
		for i := range events {
			e := &events[i]
			known := next.Of(e)
			present[e.UID] = true
			if before, found := last[e.UID]; found && (known.Sequence < before.sequence || e.digest() != before.digest && known.Sequence == before.sequence) {
				t.Fatalf("seed %d: %s went from %v to %v", seed, e.UID, before, known)
			}
			if _, found := h.Events[digest(e.UID)]; found && h.Of(e).Digest == e.digest() && h.Of(e) != known {
				t.Fatalf("seed %d: %s did not change and is %v after %v", seed, e.UID, known, h.Of(e))
			}
			last[e.UID] = said{e.digest(), known.Sequence}
		}
		h = next
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		c := Calendar{Name: name, Zone: time.UTC, Events: []Event{{UID: "1", Start: 1776052800, End: 1776056400, Summary: name, Description: name}}}
		text, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		got := emersion(t, text)
		if len(got) != 1 || got[0].Summary != clean(name) || got[0].Description != clean(name) {
			t.Fatalf("%q is read as %q", name, fmt.Sprint(got))
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	c := sample(b, load(b, "Europe/Berlin"))
	for b.Loop() {
		if _, err := c.Write(); err != nil {
			b.Fatal(err)
		}
	}
}
