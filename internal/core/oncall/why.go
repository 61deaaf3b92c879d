package oncall

import "slices"

// Why explains one instant: who is on call, what every layer contributes to
// that, and why the others do not.
type Why struct {
	At     int64      // the instant explained, Unix seconds
	Piece  *Piece     // who is on call, with true bounds; nil when no one is
	Layers []LayerWhy // one for every layer, in the order of Schedule.Layers
}

// LayerWhy is one layer's part in an explanation.
type LayerWhy struct {
	Reason Reason
	Turn   int64 // the turn in progress; -1 when there is none
	Group  int   // index of the group whose turn it is; -1 when there is none
	Entry  Entry // the entry in force, with true bounds; zero unless OnCall or Preempted
}

// Reason is whether a layer is on call at an instant, and if not, why not.
type Reason uint8

// The verdicts.
const (
	OnCall     Reason = iota // the layer's turn is the answer or part of it (R19, R20)
	Preempted                // the layer has a group on call, but an override counts instead (R19)
	NotStarted               // the layer begins later (R4)
	Ended                    // the layer is over (R4)
	Masked                   // the date mask excludes the moment (R10, R11)
	Restricted               // the moment is outside the restricted hours (R14)
	Invalid                  // the layer does not pass Check and is not computed
)

// String returns the verdict in one word.
func (v Reason) String() string {
	return [...]string{"on_call", "preempted", "not_started", "ended", "masked", "restricted", "invalid"}[min(v, Invalid)]
}

// Why explains who is on call at an instant. It agrees with At and Window,
// because it uses the same functions.
func (s *Schedule) Why(at int64) Why {
	e := newEngine(s)
	w := Why{At: at, Piece: e.pieceAt(at), Layers: make([]LayerWhy, len(s.Layers))}
	for i := range w.Layers {
		w.Layers[i] = e.why(i, at, w.Piece)
	}
	return w
}

// why explains one layer, given the piece that all layers make together.
func (e *engine) why(layer int, at int64, piece *Piece) LayerWhy {
	r := &e.rotations[layer]
	out := LayerWhy{Turn: -1, Group: -1}
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
		out.Turn, out.Group, out.Entry = entry.Turn, entry.Group, entry
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
	out.Reason = Restricted
	if out.Turn < 0 || r.Mask.Active() && len(r.masked(at, at+1)) == 0 {
		out.Reason = Masked
	}
	return out
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
