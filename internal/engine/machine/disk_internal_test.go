package machine

import (
	"testing"
	"time"
)

// TestDiskIsForetold: steady use is foretold for three times as long as it was seen, and a burst is not.
func TestDiskIsForetold(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	begin := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		minutes int
		free    func(minute int) int64
		least   time.Duration
		most    time.Duration // 0: not foreseen
	}{
		{"no use", 600, func(int) int64 { return 10 * gib }, 0, 0},
		{"more free", 600, func(m int) int64 { return gib + int64(m)<<20 }, 0, 0},
		{"a GiB an hour, seen for eight hours", 480, func(m int) int64 { return 30*gib - int64(m)*gib/60 }, 21 * time.Hour, 23 * time.Hour},
		{"a GiB an hour, seen for an hour", 60, func(m int) int64 { return 23*gib - int64(m)*gib/60 }, 0, 0},
		{"too slow", 480, func(m int) int64 { return 60*gib - int64(m)*gib/60 }, 0, 0},
		{"a GiB a minute", 6, func(m int) int64 { return 16*gib - int64(m)*gib }, 9 * time.Minute, 11 * time.Minute},
		{"a burst", 60, func(m int) int64 { return map[bool]int64{true: 10 * gib, false: 4 * gib}[m < 58] }, 0, 0},
		{"full", 1, func(int) int64 { return 1 << 20 }, 0, time.Second},
	} {
		var d disk
		for m := range c.minutes + 1 {
			d.add(begin.Add(time.Duration(m)*time.Minute), c.free(m))
		}
		left, within := d.fullIn()
		if within != (c.most > 0) || within && (left < c.least || left > c.most) {
			t.Errorf("%s: full in %s, %v; want %s to %s", c.name, left, within, c.least, c.most)
		}
		if len(d.samples) > 483 {
			t.Errorf("%s: %d samples", c.name, len(d.samples))
		}
	}
}
