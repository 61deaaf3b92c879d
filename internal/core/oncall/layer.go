package oncall

// entries returns the layer's entries in [from, to), clipped to it (R15, R16),
// before absences.
func (r *rotation) entries(from, to int64) []Entry {
	start, end := max(from, r.Start), to
	if r.End != 0 {
		end = min(end, r.End)
	}
	if start >= end {
		return nil
	}
	if r.Mode == Override { // one turn; no other field of the layer counts (R18)
		whole := []Entry{{Start: r.Start, End: r.End}}
		return clip(whole, stretch{from, to}, CauseWindow)
	}
	list := r.turns(start, end)
	if r.Mask.Active() && !r.byDuty() {
		list = cut(list, r.masked(start, end), CauseMask)
	}
	if r.dated() {
		list = cut(list, r.calendarDays(start, end), CauseCalendar)
	}
	if r.restricted() {
		list = cut(list, r.allowed(start, end), CauseRestrict)
	}
	life := stretch{r.Start, forever}
	if r.End != 0 {
		life.end = r.End
	}
	return clip(clip(list, life, CauseLayer), stretch{from, to}, CauseWindow)
}

// cut returns the parts of the entries that lie within the covered time. Both
// lists are sorted; covered stretches do not touch each other. An edge that was
// moved has by as its cause.
func cut(list []Entry, covered []stretch, by Cause) []Entry {
	out := make([]Entry, 0, len(list)+len(covered))
	for _, e := range list {
		for len(covered) > 0 && covered[0].end <= e.Start {
			covered = covered[1:]
		}
		for _, c := range covered {
			if c.start >= e.End {
				break
			}
			piece := e
			if c.start > e.Start {
				piece.Start, piece.StartBy = c.start, by
			}
			if c.end < e.End {
				piece.End, piece.EndBy = c.end, by
			}
			out = append(out, piece)
		}
	}
	return out
}

// clip cuts the entries, in place, to one stretch. An edge that lies on a bound
// of the stretch has by as its cause.
func clip(list []Entry, to stretch, by Cause) []Entry {
	out := list[:0]
	for _, e := range list {
		if e.Start <= to.start {
			e.Start, e.StartBy = to.start, by
		}
		if e.End >= to.end {
			e.End, e.EndBy = to.end, by
		}
		if e.Start < e.End {
			out = append(out, e)
		}
	}
	return out
}
