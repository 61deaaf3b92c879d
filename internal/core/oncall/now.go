package oncall

import "slices"

// Horizon is how far ahead At looks for the start of the next piece, in
// seconds: 400 days (R22).
const Horizon = 400 * day

// At returns the piece that contains now and the piece that follows it, each
// with its true bounds, which no window has clipped (R22). Current is nil when
// no one is on call; next is then the first piece to begin after now. Next is
// nil when no piece begins within Horizon of the end of current (or of now).
func (s *Schedule) At(now int64) (current, next *Piece) {
	if now > lastInstant {
		return nil, nil
	}
	e := newEngine(s)
	from := max(now, 0)
	current = e.pieceAt(now)
	if current != nil {
		from = current.End
	}
	if start, ok := e.firstStart(from, from+Horizon); ok {
		next = e.pieceAt(start)
	}
	return current, next
}

// pieceAt returns the piece that contains t, with its true bounds, or nil.
//
// The bounds are found outwards from t: the piece lasts while nothing changes
// in the layers and covers that count. Where an override is on call, those are only the
// overrides that take precedence over it.
func (e *engine) pieceAt(t int64) *Piece {
	pieces := e.window(t, t+1).Final
	if len(pieces) == 0 {
		return nil
	}
	p := &pieces[0]
	bounds := stretch{0, lastInstant}
	for _, s := range p.Sources { // first, because a turn is short and spares the others a long search
		bounds = e.steady(s.Layer, t, bounds)
	}
	for i := range e.Layers {
		source := slices.ContainsFunc(p.Sources, func(s Source) bool { return s.Layer == i })
		if source || p.Rule == RuleOverride && e.precedence(i, p.Sources[0].Layer) > 0 {
			continue
		}
		bounds = e.steady(i, t, bounds)
	}
	bounds = e.coverEdges(p, t, bounds)
	p.Start, p.End = bounds.start, bounds.end
	return p
}

// steady narrows bounds, which contain t, to the stretch around t in which one
// layer stays as it is at t: on, in the same turn, or off. The search grows
// fourfold until it finds both ends, so that most answers look at two days only.
func (e *engine) steady(layer int, t int64, bounds stretch) stretch {
	for reach := day; ; reach *= 4 {
		seen := stretch{max(bounds.start, t-reach), min(bounds.end, t+reach)}
		s := seen
		for _, entry := range e.entries(layer, seen.start, seen.end) {
			if entry.Start > t {
				s.end = min(s.end, entry.Start)
				break
			}
			if entry.End > t {
				s = stretch{entry.Start, entry.End}
				break
			}
			s.start = entry.End
		}
		if (s.start > seen.start || s.start == bounds.start) && (s.end < seen.end || s.end == bounds.end) {
			return s
		}
	}
}

// firstStart returns the first instant in [from, limit) at which any layer is
// on.
func (e *engine) firstStart(from, limit int64) (start int64, found bool) {
	for i := range e.Layers {
		for reach := day; from < limit; reach *= 4 {
			if list := e.entries(i, from, min(from+reach, limit)); len(list) > 0 {
				limit, found = list[0].Start, true
				break
			}
			if from+reach >= limit {
				break
			}
		}
	}
	return limit, found
}
