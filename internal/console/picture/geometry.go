// Package picture draws schedules and figures: bars on lanes, charts and graphs. It is pure: it must never know of a visit, call an
// operation or read the clock.
package picture

import (
	"slices"
	"time"

	"tocsin/internal/core/oncall"
)

// The geometry of the picture of a schedule: where bars lie, in percent of the width, computed from moments alone. Lanes
// show elapsed time from left to right; day strips show the wall clock of one date each.

// Piece is a period in which the same persons are on call; without persons it is a gap. Origin is where it comes from.
type Piece struct {
	Start, End int64
	Persons    []int64
	Origin     string
	Override   bool
	Ghost      bool // of a layer: something else counts instead
}

// bar is a part of a piece as it is drawn, for one person of it.
type bar struct {
	Piece
	Person      int64 // 0: a gap
	Left, Width float64
	CutStart    bool // the piece begins before what is drawn
	CutEnd      bool
	Past        bool
	Half        int // 0 the whole height, 1 the upper half, 2 the lower
	More        int // persons beyond the two that are drawn, beside this one
	Split       int // 1 and 2: the parts before and after now of a bar that was split there
}

// span is a stretch of a row: an hour that a clock change repeats or leaves out.
type span struct{ Left, Width float64 }

// LaneBars returns the bars of pieces on a lane between two moments.
func LaneBars(pieces []Piece, from, to, now int64) (bars []bar) {
	at := func(t int64) float64 { return 100 * float64(min(max(t, from), to)-from) / float64(to-from) }
	for _, p := range pieces {
		if p.End <= from || p.Start >= to || p.End <= p.Start {
			continue
		}
		for i, cut := range cuts(max(p.Start, from), min(p.End, to), now) {
			b := p.bar(cut, at(cut.from), at(cut.to), now)
			if p.Start < now && now < p.End && from < now && now < to {
				b.Split = i + 1
			}
			bars = append(bars, b.stacked()...)
		}
	}
	return bars
}

// bar returns a part of the piece between two positions.
func (p Piece) bar(part stretch, left, right float64, now int64) bar {
	return bar{Piece: p, Left: left, Width: right - left, CutStart: p.Start < part.from, CutEnd: p.End > part.to, Past: part.to <= now}
}

// stacked returns the bar once for each person that is drawn: two at most, in halves.
func (b bar) stacked() []bar {
	if len(b.Persons) == 0 {
		return []bar{b}
	}
	b.Person = b.Persons[0]
	if len(b.Persons) == 1 {
		return []bar{b}
	}
	low := b
	b.Half = 1
	low.Half = 2
	low.Person = b.Persons[1]
	low.More = len(b.Persons) - 2
	return []bar{b, low}
}

type stretch struct{ from, to int64 }

// cuts divides a stretch at the moments that lie within it.
func cuts(from, to int64, moments ...int64) (parts []stretch) {
	slices.Sort(moments)
	for _, m := range moments {
		if from < m && m < to {
			parts, from = append(parts, stretch{from, m}), m
		}
	}
	return append(parts, stretch{from, to})
}

// Day is one date in a time zone.
type Day struct {
	Start, End int64
	first      int64 // seconds on the wall clock at Start: 0, unless a clock change leaves midnight out
	Change     int64 // the moment of a clock change between Start and End; 0: none
	zone       *time.Location
	Shift      int64 // by how many seconds it sets the wall clock forward; negative: back
}

// DaysFrom returns n dates, the first of which has a moment.
func DaysFrom(at int64, n int, zone *time.Location) []Day {
	y, m, d := time.Unix(at, 0).In(zone).Date()
	noon := time.Date(y, m, d, 12, 0, 0, 0, zone).Unix()
	start := oncall.NextDaily(zone, 0, noon-86400)
	days := make([]Day, 0, n)
	for range n {
		end := oncall.NextDaily(zone, 0, start)
		h, mi, s := time.Unix(start, 0).In(zone).Clock()
		one := Day{Start: start, End: end, zone: zone, first: int64(h*3600 + mi*60 + s)}
		one.Change, one.Shift = clockChange(start, end, zone)
		days, start = append(days, one), end
	}
	return days
}

// clockChange returns the first clock change between two moments; 0: there is none.
func clockChange(from, to int64, zone *time.Location) (at, shift int64) {
	for t := time.Unix(from, 0).In(zone); ; {
		_, end := t.ZoneBounds()
		if end.IsZero() || end.Unix() >= to {
			return 0, 0
		}
		_, before := t.Zone()
		_, after := end.Zone()
		if before != after {
			return end.Unix(), int64(after - before)
		}
		t = end
	}
}

// Length returns how long the date lasts, in seconds.
func (d Day) Length() int64 { return d.End - d.Start }

// At returns the position of a moment on the strip of the date. An hour that the clock shows twice has a place of one hour
// with a half for each time; one that it never shows has its place and nothing in it. ending: the moment ends something, so
// at a clock change it lies before the missing hour.
func (d Day) At(t int64, ending bool) float64 {
	t = min(max(t, d.Start), d.End)
	wall := float64(d.first + t - d.Start)
	changed := d.Change != 0 && (t > d.Change || t == d.Change && !ending)
	switch back := -d.Shift; {
	case d.Change == 0:
	case d.Shift > 0 && changed:
		wall += float64(d.Shift)
	case back > 0 && t > d.Change-back && t < d.Change+back:
		repeated := d.Change - back
		wall = float64(d.first+repeated-d.Start) + float64(t-repeated)/2
	case back > 0 && t >= d.Change+back:
		wall -= float64(back)
	}
	return min(100, 100*wall/86400)
}

// Missing returns the hour that the clock of the date does not show; a width of 0: it shows all.
func (d Day) Missing() span {
	if d.Change != 0 && d.Shift > 0 {
		left := d.At(d.Change, true)
		return span{left, d.At(d.Change, false) - left}
	}
	return span{0, 100 * float64(d.first) / 86400}
}

// Twice returns the hour that the clock of the date shows twice; a width of 0: none.
func (d Day) Twice() span {
	if d.Change == 0 || d.Shift > 0 {
		return span{}
	}
	left := d.At(d.Change+d.Shift, false)
	return span{left, d.At(d.Change-d.Shift, false) - left}
}

// StripBars returns the bars of pieces on the strip of a date.
func StripBars(pieces []Piece, d Day, now int64) (bars []bar) {
	moments := []int64{now}
	if d.Shift > 0 {
		moments = append(moments, d.Change)
	}
	for _, p := range pieces {
		if p.End <= d.Start || p.Start >= d.End || p.End <= p.Start {
			continue
		}
		for _, cut := range cuts(max(p.Start, d.Start), min(p.End, d.End), moments...) {
			bars = append(bars, p.bar(cut, d.At(cut.from, false), d.At(cut.to, true), now).stacked()...)
		}
	}
	return bars
}

// WithGaps returns pieces in order with a gap wherever none of them is, between two moments.
func WithGaps(pieces []Piece, from, to int64) (all []Piece) {
	at := from
	for _, p := range pieces {
		if p.Start > at {
			all = append(all, Piece{Start: at, End: min(p.Start, to)})
		}
		all, at = append(all, p), max(at, p.End)
	}
	if at < to {
		all = append(all, Piece{Start: at, End: to})
	}
	return all
}

// Shadowed divides the pieces of a layer where what counts changes, and marks the parts of which no person counts.
func Shadowed(layer, final []Piece) (all []Piece) {
	for _, p := range layer {
		var moments []int64
		for _, f := range final {
			if f.End > p.Start && f.Start < p.End {
				moments = append(moments, f.Start, f.End)
			}
		}
		for _, cut := range cuts(p.Start, p.End, moments...) {
			part := p
			part.Start, part.End = cut.from, cut.to
			part.Ghost = !slices.ContainsFunc(final, func(f Piece) bool {
				return f.Start < cut.to && f.End > cut.from && Meet(p.Persons, f.Persons)
			})
			if n := len(all); n > 0 && all[n-1].End == part.Start && all[n-1].Ghost == part.Ghost && slices.Equal(all[n-1].Persons, part.Persons) {
				all[n-1].End = part.End
				continue
			}
			all = append(all, part)
		}
	}
	return all
}

// Applied returns who is on call once persons lose and gain shifts, in order and with gaps, between two moments.
func Applied(before []Piece, lost, gained []Piece, from, to int64) (after []Piece) {
	var moments []int64
	for _, list := range [][]Piece{before, lost, gained} {
		for _, p := range list {
			moments = append(moments, p.Start, p.End)
		}
	}
	during := func(list []Piece, s stretch, each func(int64)) {
		for _, p := range list {
			if p.Start < s.to && p.End > s.from {
				for _, person := range p.Persons {
					each(person)
				}
			}
		}
	}
	for _, s := range cuts(from, to, moments...) {
		p := Piece{Start: s.from, End: s.to}
		gone := map[int64]bool{}
		during(lost, s, func(person int64) { gone[person] = true })
		during(gained, s, func(person int64) { delete(gone, person) })
		add := func(person int64) {
			if !gone[person] && !slices.Contains(p.Persons, person) {
				p.Persons = append(p.Persons, person)
			}
		}
		during(before, s, add)
		during(gained, s, add)
		if n := len(after); n > 0 && slices.Equal(after[n-1].Persons, p.Persons) {
			after[n-1].End = p.End
			continue
		}
		after = append(after, p)
	}
	return after
}

// Meet reports whether two lists of persons have one in common.
func Meet(a, b []int64) bool {
	return slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(b, id) })
}
