package oncall

import "slices"

// Why explains one instant: who is on call, what every layer contributes to
// that, and why the others do not.
type Why struct {
	At     int64      // the instant explained, Unix seconds
	Piece  *Piece     // who is on call, with true bounds; nil when no one is
	Layers []LayerWhy // one for every layer, in the order of Schedule.Layers
	Covers []Replaced // what the covers in force do, in their order (R24)
}

// LayerWhy is one layer's part in an explanation.
type LayerWhy struct {
	Reason Reason
	Turn   int64 // the turn in progress; -1 when there is none
	Group  int   // index of the group whose turn it is; -1 when there is none
	Entry  Entry // the entry in force, with true bounds; zero unless OnCall or Preempted. Its Group may stand in (R26)

	Presence *Presence // what absences changed in Entry; nil for nothing (R25, R26)

	Skip     int   // with NotACalendarDay: index in Layer.Skip of the calendar of which it is a day off; -1: Layer.Only excludes it
	Absences []int // indexes in Schedule.Absences of those in force, of the group whose turn it is and of the one on call
}

// Reason is whether a layer is on call at an instant, and if not, why not.
type Reason uint8

// The verdicts.
const (
	OnCall          Reason = iota // the layer's turn is the answer or part of it (R19, R20)
	Preempted                     // the layer has a group on call, but an override counts instead (R19)
	NotStarted                    // the layer begins later (R4)
	Ended                         // the layer is over (R4)
	Masked                        // the date mask excludes the moment (R10, R11)
	NotACalendarDay               // the layer's calendars exclude the moment (R27)
	Restricted                    // the moment is outside the restricted hours (R14)
	Absent                        // no one of the group whose turn it is is present, and no group stands in (R25, R26)
	Invalid                       // the layer does not pass Check and is not computed
)

// String returns the verdict in one word.
func (v Reason) String() string {
	names := [...]string{"on_call", "preempted", "not_started", "ended", "masked", "not_a_calendar_day", "restricted", "absent", "invalid"}
	return names[min(v, Invalid)]
}

// Why explains who is on call at an instant. It agrees with At and Window,
// because it uses the same functions.
func (s *Schedule) Why(at int64) Why {
	e := newEngine(s)
	w := Why{At: at, Piece: e.pieceAt(at), Layers: make([]LayerWhy, len(s.Layers))}
	for i := range w.Layers {
		w.Layers[i] = e.why(i, at, w.Piece)
	}
	var base Group
	if w.Piece != nil {
		base = e.base(w.Piece)
	}
	w.Covers = e.replaced(&base, at)
	return w
}

// why explains one layer, given the piece that all layers make together.
func (e *engine) why(layer int, at int64, piece *Piece) LayerWhy {
	r := &e.rotations[layer]
	out := LayerWhy{Turn: -1, Group: -1, Skip: -1}
	switch {
	case r.Layer == nil:
		out.Reason = Invalid
		return out
	case at < r.Start:
		out.Reason = NotStarted
		return out
	case r.End != 0 && at >= r.End:
		out.Reason = Ended
		return out
	}
	if entry, ok := e.entryAt(layer, at); ok {
		out.Turn = entry.Turn
		out.Group = entry.Group
		out.Entry = entry
		out.Presence = e.presenceOf(entry.presence)
		if out.Presence != nil {
			out.Group = out.Presence.TurnOf
			out.Absences = e.absencesOf(r, at, out.Group, entry.Group)
		}
		if piece.Rule == RuleOverride && piece.Sources[0].Layer != layer {
			out.Reason = Preempted
		}
		return out
	}
	// The layer has no entry. A layer counted in masked days has no turn then;
	// in any other layer the turn goes on.
	if turns := r.turns(at, at+1); len(turns) > 0 {
		out.Turn, out.Group = turns[0].Turn, turns[0].Group
	}
	switch {
	case out.Turn < 0 || r.Mask.Active() && len(r.masked(at, at+1)) == 0:
		out.Reason = Masked
	case r.dated() && len(r.calendarDays(at, at+1)) == 0:
		out.Reason, out.Skip = NotACalendarDay, r.skippedBy(at)
	case r.restricted() && len(r.allowed(at, at+1)) == 0:
		out.Reason = Restricted
	default:
		out.Reason, out.Absences = Absent, e.absencesOf(r, at, out.Group, out.Group)
	}
	return out
}

// absencesOf returns the absences in force at an instant of the persons in either of two groups.
func (e *engine) absencesOf(r *rotation, at int64, either, or int) (found []int) {
	in := func(g int, person int64) bool {
		return slices.ContainsFunc(r.Groups[g].Members, func(m Member) bool { return slices.Contains(m.PersonIDs, person) })
	}
	for i, a := range e.Absences {
		if a.Start <= at && at < a.End && (in(either, a.PersonID) || in(or, a.PersonID)) {
			found = append(found, i)
		}
	}
	return found
}

// skippedBy returns the index in Skip of the first calendar of which an instant's date is a day off, or -1.
func (r *rotation) skippedBy(at int64) int {
	for date := floor(r.zone.local(at), day) - slack; ; date += day {
		if start, end := r.dutyBounds(r.zone, date); start <= at && at < end {
			return slices.IndexFunc(r.Skip, func(c *Calendar) bool { return c.off(date) })
		}
	}
}

// entryAt returns the layer's entry that contains t, with its true bounds. The
// window grows fourfold until it clips neither end.
func (e *engine) entryAt(layer int, t int64) (Entry, bool) {
	for reach := day; ; reach *= 4 {
		list := e.entries(layer, t-reach, t+reach)
		i := slices.IndexFunc(list, func(x Entry) bool { return x.Start <= t && t < x.End })
		if i < 0 {
			return Entry{}, false
		}
		if whole := list[i].StartBy != CauseWindow && list[i].EndBy != CauseWindow; whole || reach > lastInstant {
			return list[i], true
		}
	}
}
