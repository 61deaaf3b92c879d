package oncall

import (
	"reflect"
	"slices"
	"testing"
)

// holds reports whether the promises that need no model hold for a case.
func (c testCase) holds(t testing.TB) bool {
	t.Helper()
	whole := c.Window(c.from, c.to)
	fail := func(format string, args ...any) bool {
		t.Helper()
		t.Errorf(format, args...)
		return false
	}
	if problem := malformed(whole, c.from, c.to); problem != "" {
		return fail("window: %s", problem)
	}

	for _, p := range whole.Final {
		if got, want := p.Preempted, replaced(whole, p); !sameSources(got, want) {
			return fail("piece %+v: preempted %v, expected %v", p, got, want)
		}
	}

	// A part of the window is the same part of the result.
	part := stretch{c.from + (c.now-c.from)/2, c.now + (c.to-c.now)/2}
	if got, want := core(c.Window(part.start, part.end)), restrict(core(whole), part); !reflect.DeepEqual(got, want) {
		return fail("window %d..%d:\n  computed %+v\n  expected %+v", part.start, part.end, got, want)
	}
	return c.nowHolds(t, whole)
}

// nowHolds checks At against Window.
func (c testCase) nowHolds(t testing.TB, whole Timeline) bool {
	t.Helper()
	current, next := c.At(c.now)
	i := slices.IndexFunc(whole.Final, func(p Piece) bool { return p.Start <= c.now && c.now < p.End })
	if (i >= 0) != (current != nil) {
		t.Errorf("at %d: current is %+v, the window has piece %d", c.now, current, i)
		return false
	}
	after := c.now
	if current != nil {
		after = current.End
		if !reflect.DeepEqual(current.Sources, whole.Final[i].Sources) || !reflect.DeepEqual(current.Group, whole.Final[i].Group) {
			t.Errorf("at %d: current is %+v, the window has %+v", c.now, *current, whole.Final[i])
			return false
		}
		if !c.exact(t, current) {
			return false
		}
	}
	if next == nil {
		if left := c.Window(after, after+Horizon).Final; len(left) > 0 {
			t.Errorf("at %d: no next piece, but there is %+v", c.now, left[0])
			return false
		}
	} else {
		first := c.Window(after, next.End+1).Final[0]
		if next.Start < after || first.Start != next.Start || first.End != next.End || !reflect.DeepEqual(first.Sources, next.Sources) {
			t.Errorf("at %d: next is %+v, the window has %+v", c.now, *next, first)
			return false
		}
		if !c.exact(t, next) {
			return false
		}
	}
	return true
}

// exact reports whether a piece from At has its true bounds: a window that is
// wider by a second holds it unclipped.
func (c testCase) exact(t testing.TB, p *Piece) bool {
	t.Helper()
	for _, wide := range c.Window(p.Start-1, p.End+1).Final {
		if wide.Start == p.Start && wide.End == p.End && samePiece(wide, *p) {
			return true
		}
	}
	t.Errorf("at %d: the bounds of %+v are not those of %+v", c.now, *p, c.Window(p.Start-1, p.End+1).Final)
	return false
}

// malformed returns what is wrong with the shape of a timeline, or nothing.
func malformed(tl Timeline, from, to int64) string {
	from, to = max(from, 0), min(to, lastInstant) // all of time that is computed
	var covered []stretch
	for _, list := range tl.Layers {
		last := Entry{End: from}
		for i, e := range list {
			switch {
			case e.Start >= e.End || e.Start < last.End || e.End > to:
				return "entries are empty, overlap, are unsorted or leave the window"
			case i > 0 && e.Start == last.End && e.Turn == last.Turn && e.Group == last.Group && e.presence == last.presence:
				return "two entries of one turn touch"
			case (e.Start == from) != (e.StartBy == CauseWindow) || (e.End == to) != (e.EndBy == CauseWindow):
				return "an edge on the window is not put down to it, or another is"
			}
			last = e
			covered = append(covered, stretch{e.Start, e.End})
		}
	}
	// The final pieces cover what the entries cover, once.
	slices.SortFunc(covered, func(a, b stretch) int { return int(a.start - b.start) })
	var union, final []stretch
	for _, s := range covered {
		union = join(union, s)
	}
	last := Piece{End: from}
	for i, p := range tl.Final {
		switch {
		case p.Start >= p.End || p.Start < last.End || p.End > to:
			return "pieces are empty, overlap, are unsorted or leave the window"
		case i > 0 && p.Start == last.End && samePiece(p, last):
			return "two pieces of the same sources and changes touch"
		}
		last = p
		final = join(final, stretch{p.Start, p.End})
	}
	if !slices.Equal(union, final) {
		return "the final pieces do not cover what the layers cover"
	}
	return ""
}

// restrict returns the part of a timeline that lies in a stretch.
func restrict(tl modelTimeline, to stretch) modelTimeline {
	out := modelTimeline{Layers: make([][]modelEntry, len(tl.Layers))}
	for i, list := range tl.Layers {
		for _, e := range list {
			e.Start, e.End = max(e.Start, to.start), min(e.End, to.end)
			if e.Start < e.End {
				out.Layers[i] = append(out.Layers[i], e)
			}
		}
	}
	for _, p := range tl.Final {
		p.Start, p.End = max(p.Start, to.start), min(p.End, to.end)
		if p.Start < p.End {
			out.Final = append(out.Final, p)
		}
	}
	return out
}

// replaced returns the turns that meet an override's piece and are not its own, each once.
func replaced(tl Timeline, p Piece) []Source {
	var out []Source
	for _, list := range tl.Layers {
		for _, e := range list {
			known := slices.ContainsFunc(out, func(s Source) bool { return s.Layer == e.Layer && s.Turn == e.Turn })
			if p.Rule == RuleOverride && e.Layer != p.Sources[0].Layer && e.Start < p.End && e.End > p.Start && !known {
				out = append(out, Source{e.Layer, e.Turn, e.Group})
			}
		}
	}
	return out
}

// sameSources reports whether two lists hold the same sources in any order.
func sameSources(a, b []Source) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s Source) bool { return !slices.Contains(b, s) })
}
