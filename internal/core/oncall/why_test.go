package oncall

import (
	"slices"
	"strings"
	"testing"
)

// explains reports whether the explanation of an instant agrees with the model
// and with the windows around it.
func (c testCase) explains(t testing.TB) bool {
	t.Helper()
	w := c.Why(c.now)
	current, _ := c.At(c.now)
	if (w.Piece == nil) != (current == nil) || current != nil && (w.Piece.Start != current.Start || w.Piece.End != current.End) {
		t.Errorf("at %d: Why returns %+v, At returns %+v", c.now, w.Piece, current)
		return false
	}
	if words := w.Words(c.Schedule); len(words) != len(c.Layers)+1+len(w.Covers) || slices.Contains(words, "") {
		t.Errorf("at %d: words %q", c.now, words)
		return false
	}
	var used []int
	for _, r := range w.Covers {
		if cover := c.Covers[r.Cover]; c.now < cover.Start || c.now >= cover.End {
			t.Errorf("at %d: cover %+v is not in force", c.now, cover)
			return false
		}
		if len(r.Holders) > 0 {
			used = append(used, r.Cover)
		}
	}
	if current != nil && !slices.Equal(used, current.Covers()) || current == nil && used != nil {
		t.Errorf("at %d: covers %v, explained %+v", c.now, current, w.Covers)
		return false
	}
	for i, got := range w.Layers {
		if want := c.verdict(i, current); got.Reason != want {
			t.Errorf("at %d: layer %d is %v, want %v as in the model", c.now, i, got.Reason, want)
			return false
		}
		if got.Reason == OnCall || got.Reason == Preempted {
			wide := c.Window(got.Entry.Start-1, got.Entry.End+1)
			same := func(x Entry) bool {
				x.presence = got.Entry.presence // a number of another computation
				return x == got.Entry
			}
			if !slices.ContainsFunc(wide.Layers[i], same) || got.Entry.Start > c.now || got.Entry.End <= c.now {
				t.Errorf("at %d: layer %d: entry %+v is not in %+v", c.now, i, got.Entry, wide)
				return false
			}
		}
	}
	return true
}

// verdict returns the model's verdict about a layer now.
func (c testCase) verdict(i int, current *Piece) Reason {
	m := newModel(&c.Layers[i], c.Zone, c.now, c.now+1)
	inTurn := slices.ContainsFunc(m.turns, func(x modelTurn) bool { return x.start <= c.now && c.now < x.end })
	switch {
	case c.now < m.Start:
		return NotStarted
	case !m.alive(c.now):
		return Ended
	case m.stateAt(c.Schedule, c.now).turn != off:
		if slices.ContainsFunc(current.Sources, func(s Source) bool { return s.Layer == i }) {
			return OnCall
		}
		return Preempted
	case !inTurn || m.hasMask && !within(m.masked, c.now):
		return Masked
	case m.hasDates && !within(m.dated, c.now):
		return NotACalendarDay
	case m.hasHours && !within(m.allowed, c.now):
		return Restricted
	default:
		return Absent
	}
}

// TestWhy covers every verdict and every rule of the final timeline, in data and in words.
func TestWhy(t *testing.T) {
	s := &Schedule{Zone: location(t, "Asia/Shanghai"), Layers: []Layer{
		{Name: "day", Start: 1776009600, Unit: Day, Value: 1, Mask: monToFri, Groups: groups("AB"),
			RestrictMode: RestrictDay, Restrict: []Period{{32400, 64800}}},
		{Name: "backup", Weight: -1, Start: 1776009600, Unit: Week, Value: 1, Groups: groups("MN")},
		{Name: "hourly", Weight: -2, Start: 1776009600, End: 1776096000, Unit: Hour, Value: 1, Groups: groups("XY")},
		{Name: "later", Start: 1776700800, Unit: Month, Value: 1, Groups: groups("P")},
		{Name: "broken", Start: 1776009600, Unit: Day, Value: 31, Groups: groups("Q")},
		{Name: "cover", Mode: Override, Start: 1776135600, End: 1776142800, Groups: groups("Z")},
	}}
	for _, x := range []struct {
		at       int64
		verdicts []Reason
		words    []string // beginnings and endings of sentences, "…" between
	}{
		{1776042000, []Reason{OnCall, OnCall, OnCall, NotStarted, Invalid, NotStarted}, []string{ // Mon 09:00
			`"A+M+Y" is on call at Mon 2026-04-13 09:00:00 +0800, from Mon 2026-04-13 09:00:00 +0800 to Mon 2026-04-13 10:00:00 +0800, by layer 0 "day", layer 1 "backup", layer 2 "hourly": …(R20).`,
			`layer 0 "day" is in turn 0, of group "A", on from Mon 2026-04-13 09:00:00 +0800 (the restricted hours, R14) to Mon 2026-04-13 18:00:00 +0800 (the restricted hours, R14).`,
			`layer 1 "backup" is in turn 0, of group "M", on from Mon 2026-04-13 00:00:00 +0800 (the layer's own bound, R4) to Mon 2026-04-20 00:00:00 +0800 (the turn's bound, R7).`,
			`layer 2 "hourly" is in turn 9, of group "Y", on from…(the turn's bound, R5) to Mon 2026-04-13 10:00:00 +0800 (the turn's bound, R5).`,
			`layer 3 "later" begins at Tue 2026-04-21 00:00:00 +0800 (R4).`,
			`layer 4 "broken" is not computed: rotation_value must be 1 to 30, got 31.`,
			`override 5 "cover" begins at Tue 2026-04-14 11:00:00 +0800 (R4).`,
		}},
		{1776137000, []Reason{Preempted, Preempted, Ended, NotStarted, Invalid, OnCall}, []string{ // Tue 11:23
			`"Z" is on call at…to Tue 2026-04-14 13:00:00 +0800, by override 5 "cover": an override replaces everything else (R19).`,
			`layer 0 "day" is in turn 1, of group "B", on from…, but an override counts instead (R19).`,
			`layer 1 "backup" is in turn 0, of group "M",…, but an override counts instead (R19).`,
			`layer 2 "hourly" ended at Tue 2026-04-14 00:00:00 +0800 (R4).`,
		}},
		{1776168000, []Reason{Restricted, OnCall, Ended, NotStarted, Invalid, Ended}, []string{ // Tue 20:00
			`"M" is on call at…by layer 1 "backup": it is the only layer that covers this moment (R20).`,
			`layer 0 "day" is in turn 1, of group "B", and the restricted hours exclude this moment (R14).`,
		}},
		{1776484800, []Reason{Masked, OnCall, Ended, NotStarted, Invalid, Ended}, []string{ // Sat 12:00
			`"M" is on call`,
			`layer 0 "day" has no turn in progress, and the date mask excludes this moment (R10).`,
		}},
		{1776009599, []Reason{NotStarted, NotStarted, NotStarted, NotStarted, Invalid, NotStarted}, []string{
			`No one is on call at Sun 2026-04-12 23:59:59 +0800.`,
		}},
	} {
		w := s.Why(x.at)
		for i, want := range x.verdicts {
			if got := w.Layers[i].Reason; got != want {
				t.Errorf("at %d: layer %d is %v, want %v", x.at, i, got, want)
			}
		}
		words := w.Words(s)
		for i, want := range x.words {
			begin, end, _ := strings.Cut(want, "…")
			if !strings.HasPrefix(words[i], begin) || !strings.HasSuffix(words[i], end) {
				t.Errorf("at %d:\n got %s\nwant %s", x.at, words[i], want)
			}
		}
	}
}

// TestTurnRule checks that the rule named is the one that bounds the turn.
func TestTurnRule(t *testing.T) {
	for want, l := range map[string]Layer{
		"R5":  {Unit: Hour, Value: 24},
		"R6":  {Unit: Day, Value: 2},
		"R7":  {Unit: Week, Value: 1},
		"R8":  {Unit: Month, Value: 1},
		"R9":  {Unit: Day, Value: 7, Handoff: 3600},
		"R11": {Unit: Hour, Value: 24, Mask: monToFri},
	} {
		if got := l.turnRule(); got != want {
			t.Errorf("%+v: got %s, want %s", l, got, want)
		}
	}
}
