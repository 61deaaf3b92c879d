package oncall

import (
	"encoding/binary"
	"reflect"
	"slices"
	"testing"
)

// FuzzWindow builds a schedule and a window from bytes. Whatever the bytes, it
// must be computed without panic and without delay. Layers that do not pass
// their check must change nothing. For the others the promises of holds must be
// kept.
func FuzzWindow(f *testing.F) {
	for _, x := range [][]byte{nil, {1}, slices.Repeat([]byte{1}, 80), slices.Repeat([]byte{7, 0, 255, 3}, 40), slices.Repeat([]byte{2, 1, 90, 128, 0}, 60)} {
		f.Add(x)
	}
	zones := append(slices.Clone(namedZones), "UTC", "Antarctica/Troll", "Asia/Kathmandu", "Pacific/Kwajalein", "Europe/Dublin", "Asia/Gaza")
	f.Fuzz(func(t *testing.T, data []byte) {
		b := feed(data)
		c := testCase{Schedule: &Schedule{Zone: location(t, zones[b.take(1)%int64(len(zones))])}, grain: 1}
		c.from = b.near(b.take(4))
		c.to = c.from + 1 + b.take(3)%(45*day)
		c.now = c.from + b.take(3)%(c.to-c.from)
		for exceptions := len(b) / 4; len(b) > exceptions && len(c.Layers) < 6; {
			l := fuzzLayer(&b, c.from)
			if z := b.take(1); z < int64(len(zones)) {
				l.Zone = location(t, zones[z])
			}
			c.Layers = append(c.Layers, l)
		}

		fuzzExceptions(&b, &c)

		all := c.Window(c.from, c.to)
		if problem := malformed(all, c.from, c.to); problem != "" {
			t.Fatalf("%s\n%s", problem, c)
		}
		c.At(c.now)
		if words := c.Why(c.now).Words(c.Schedule); len(words) < len(c.Layers)+1 {
			t.Fatalf("%d sentences for %d layers\n%s", len(words), len(c.Layers), c)
		}
		var kept [][]Entry
		c.Layers = slices.DeleteFunc(c.Layers, func(l Layer) bool {
			field, _ := l.check()
			return field != ""
		})
		for _, list := range all.Layers {
			if len(list) > 0 {
				kept = append(kept, list)
			}
		}
		valid := c.Window(c.from, c.to)
		if len(kept) > len(c.Layers) || len(all.Final) != len(valid.Final) {
			t.Fatalf("layers that do not pass their check count\n%s", c)
		}
		for i, p := range valid.Final {
			if q := all.Final[i]; p.Start != q.Start || p.End != q.End || !reflect.DeepEqual(p.Group, q.Group) {
				t.Fatalf("piece %d is %+v without the layers that do not pass, and %+v with them\n%s", i, p, q, c)
			}
		}
		if err := c.Check(); err == nil {
			c.Warnings()
		}
		if !c.holds(t) {
			t.Fatal(c)
		}
	})
}

// feed holds bytes that take removes from the front; when there are no more they are zero.
type feed []byte

// take returns a number of n bytes.
func (b *feed) take(n int) int64 {
	var word [8]byte
	copy(word[8-n:], (*b)[:min(n, len(*b))])
	*b = (*b)[min(n, len(*b)):]
	return int64(binary.BigEndian.Uint64(word[:]))
}

// near returns a number close to n, or now and then an extreme one.
func (b *feed) near(n int64) int64 {
	switch b.take(1) {
	case 250:
		return 0
	case 251:
		return -n
	case 252:
		return lastInstant - n%(100*day)
	default:
		return n
	}
}

// fuzzExceptions adds covers, absences and calendars, most of them near the window, some of them not valid.
func fuzzExceptions(b *feed, c *testCase) {
	c.WhenAbsent = WhenAbsent(b.take(1) % 3)
	for len(*b) > 0 && len(c.Covers)+len(c.Absences) < 12 {
		start := c.from + b.take(2)*60 - 10*day
		end := start + b.take(2)*60 - 60
		switch b.take(1) % 3 {
		case 0:
			c.Covers = append(c.Covers, Cover{Start: start, End: end, PersonID: 64 + b.take(1)%8, RoleID: b.take(1)%4 - 1, By: 65 + b.take(1)%8})
		case 1:
			c.Covers = append(c.Covers, Cover{Start: start, End: end, RoleID: b.take(1)%3 - 1, By: 65 + b.take(1)%8})
		case 2:
			c.Absences = append(c.Absences, Absence{65 + b.take(1)%8, start, end})
		}
	}
	for i := range c.Layers {
		first := floor(c.from, day) + (b.take(1)%20-5)*day
		calendar := NewCalendar(Weekdays(b.take(1)), []Exception{{first, first + b.take(1)%9*day, b.take(1)%2 == 0}})
		switch b.take(1) % 4 {
		case 1:
			c.Layers[i].Skip = []*Calendar{calendar}
		case 2:
			c.Layers[i].Only = []*Calendar{calendar}
		}
	}
}

func fuzzLayer(b *feed, from int64) Layer {
	l := Layer{
		Mode:         Mode(b.take(1) % 3),
		Weight:       int(b.take(1) % 3),
		Unit:         Unit(b.take(1) % 6),
		Value:        int(b.take(1)%34) - 1,
		Handoff:      b.near(b.take(3)%(week+2)) - 1,
		RestrictMode: RestrictMode(b.take(1) % 4),
		Mask:         Weekdays(b.take(1)),
		Continuous:   b.take(1)%2 == 0,
		Fair:         b.take(1)%2 == 0,
		Groups:       groups("ABCDEFG"[:b.take(1)%8]),
	}
	switch b.take(1) % 3 {
	case 0:
		l.Start = b.near(b.take(4))
	case 1:
		l.Start = from - b.take(3)
	case 2:
		l.Start = from + b.take(2)
	}
	if b.take(1)%2 == 0 {
		l.End = l.Start + b.take(3) - 5
	}
	for range b.take(1) % 6 {
		unit := day
		if l.RestrictMode == RestrictWeek {
			unit = week
		}
		l.Restrict = append(l.Restrict, Period{b.take(3)%(unit+3) - 1, b.take(3)%(unit+3) - 1})
	}
	return l
}
