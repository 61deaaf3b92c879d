package oncall

// rotation is a layer prepared for computing: its start on the wall clock is
// found once, and every turn is computed from there by arithmetic, however long
// ago the layer began (R23).
type rotation struct {
	*Layer
	zone *zone

	wall   int64 // Start on the wall clock
	anchor int64 // wall clock of boundary 0: Start, or one week before the first handoff (R9)
	step   int64 // one turn: elapsed seconds, wall-clock seconds, calendar months or masked days, by Unit and byDuty

	firstDuty int64 // date (00:00 on the wall) of the first masked day to end after Start (R11)

	hours []stretch // the restricted periods, simplified

	index  int     // of the layer in the schedule
	roster *roster // what the schedule's absences mean for the layer; nil for nothing
}

// prepare returns a layer of mode Rotation with its start on the wall clock of its zone.
func prepare(l *Layer, z *zone) rotation {
	near := &zone{loc: z.loc} // z is kept for the window, which may be years away from Start
	r := rotation{Layer: l, zone: z, wall: near.local(l.Start)}
	r.anchor = r.wall
	n := int64(l.Value)
	switch l.Unit {
	case Hour:
		r.step = n * 3600
	case Day:
		r.step = n * day
	case Week:
		r.step = n * week
	case Month:
		r.step = n
	}
	if l.weekly() && l.Handoff > 0 {
		first := monday(r.wall) - week + l.Handoff
		for near.instant(first) <= l.Start {
			first += week
		}
		r.anchor = first - week
	}
	if l.byDuty() {
		r.step /= day
		r.firstDuty = r.duty(near, l.Start)
	}
	if l.restricted() {
		r.hours = l.simplified()
	}
	return r
}

// weekly reports whether a turn lasts exactly one week, so that it can have a
// handoff time (R9).
func (l *Layer) weekly() bool {
	return l.Unit == Week && l.Value == 1 || l.Unit == Day && l.Value == 7
}

// byDuty reports whether the layer's turns are counted in masked days (R11)
// instead of on the calendar, where a mask only cuts them (R12).
func (l *Layer) byDuty() bool {
	wholeDays := l.Unit == Day && !l.weekly() || l.Unit == Hour && l.Value%24 == 0
	return wholeDays && l.Mask.Active()
}

// boundary returns the instant at which turn k begins (R5 to R9). It never
// decreases as k grows.
func (r *rotation) boundary(k int64) int64 {
	switch {
	case k == 0:
		return r.Start
	case r.Unit == Hour:
		return r.Start + k*r.step
	case r.Unit == Month:
		return r.zone.instant(addMonths(r.anchor, k*r.step))
	default:
		return r.zone.instant(r.anchor + k*r.step)
	}
}

// turnAt returns the turn in progress at t, which must not be before Start.
func (r *rotation) turnAt(t int64) int64 {
	var k int64
	switch r.Unit {
	case Hour:
		k = (t - r.Start) / r.step
	case Month:
		k = monthsBetween(r.anchor, r.zone.local(t)) / r.step
	default:
		k = (r.zone.local(t) - r.anchor) / r.step
	}
	// The estimate is one off at most: near a change of the clock, or where a
	// month was cut short.
	k = max(k, 0)
	for r.boundary(k+1) <= t {
		k++
	}
	for k > 0 && r.boundary(k) > t {
		k--
	}
	return k
}

// turns returns the turns that meet [from, to), whole. From must not be before
// Start.
func (r *rotation) turns(from, to int64) []Entry {
	if r.byDuty() {
		return r.dutyTurns(from, to)
	}
	k := r.turnAt(from)
	start := r.boundary(k)
	out := make([]Entry, 0, r.estimate(to-from))
	for ; start < to; k++ {
		end := r.boundary(k + 1)
		if end > start { // a turn that lies within a skipped date is empty
			out = append(out, Entry{Start: start, End: end, Turn: k, Group: r.group(k), StartBy: CauseTurn, EndBy: CauseTurn})
		}
		start = end
	}
	return out
}

// dutyTurns is turns for a layer whose turns are counted in masked days (R11):
// the days that are not masked are neither covered nor counted. A turn of
// several days is returned in as many pieces as it has gaps.
func (r *rotation) dutyTurns(from, to int64) []Entry {
	out := make([]Entry, 0, r.estimate(to-from))
	date := r.duty(r.zone, from)
	n := r.dutiesBefore(date)
	for ; ; date += day {
		if !r.Mask.Has(weekday(date)) {
			continue
		}
		start, end := r.dutyBounds(r.zone, date)
		if start >= to {
			return out
		}
		k := n / r.step
		n++
		if start == end { // a skipped date
			continue
		}
		if last := len(out) - 1; last >= 0 && out[last].Turn == k && out[last].End == start {
			out[last].End = end
			continue
		}
		out = append(out, Entry{Start: start, End: end, Turn: k, Group: r.group(k), StartBy: CauseTurn, EndBy: CauseTurn})
	}
}

// group returns the index of the group that serves turn k (R13).
func (r *rotation) group(k int64) int {
	n := int64(len(r.Groups))
	if r.Fair {
		k += k / n
	}
	return int(k % n)
}

// estimate returns about how many turns meet a window of the given length, so
// that a list of them is allocated once.
func (r *rotation) estimate(length int64) int64 {
	turn := r.step
	switch {
	case r.byDuty():
		turn *= day
	case r.Unit == Month:
		turn *= 28 * day
	}
	return length/turn + 2
}
