package oncall

import (
	"cmp"
	"time"
)

// Window returns the timeline in [from, to), clipped to it (R16). It is empty
// when to is not after from. The number of entries, and with it the cost, grows
// with the window and not with its distance from the layers' starts; the caller
// bounds the window's length.
func (s *Schedule) Window(from, to int64) Timeline {
	return newEngine(s).window(from, to)
}

// Order returns the indexes of Layers with the rotations first and the
// overrides after them, each in stored order: the order in which computed
// layers are shown (R16).
func (s *Schedule) Order() []int {
	order := make([]int, 0, len(s.Layers))
	for _, mode := range []Mode{Rotation, Override} {
		for i := range s.Layers {
			if s.Layers[i].Mode == mode {
				order = append(order, i)
			}
		}
	}
	return order
}

// engine holds what the steps of one computation share: the zones with the spans
// looked up so far, and the layers prepared for computing.
type engine struct {
	*Schedule
	zones     []*zone
	rotations []rotation // one per layer; no Layer where it does not pass its check

	away      map[int64][]stretch // when persons are absent
	presences []*Presence         // the changes by absences met so far
	known     map[string]int32    // their numbers, from 1, by their keys
}

func newEngine(s *Schedule) *engine {
	e := &engine{Schedule: s, rotations: make([]rotation, len(s.Layers)), away: awayTimes(s.Absences)}
	for i := range s.Layers {
		l := &s.Layers[i]
		switch field, _ := l.check(); {
		case field != "":
			// A layer that cannot be computed is treated as absent.
		case l.Mode == Override:
			e.rotations[i] = rotation{Layer: l}
		default:
			r := &e.rotations[i]
			*r = prepare(l, e.zone(l))
			r.index = i
			if len(e.away) > 0 {
				r.roster = e.roster(r)
			}
		}
	}
	return e
}

// zone returns the zone of a layer. Layers of the same zone share it.
func (e *engine) zone(l *Layer) *zone {
	loc := l.location(e.Schedule)
	for _, z := range e.zones {
		if z.loc == loc {
			return z
		}
	}
	z := &zone{loc: loc}
	e.zones = append(e.zones, z)
	return z
}

// location returns the zone in which the layer is computed: its own, else the
// schedule's, else UTC (R1).
func (l *Layer) location(s *Schedule) *time.Location {
	return cmp.Or(l.Zone, s.Zone, time.UTC)
}

func (e *engine) window(from, to int64) Timeline {
	layers := make([][]Entry, len(e.Layers))
	for i := range layers {
		layers[i] = e.entries(i, from, to)
	}
	return Timeline{Layers: layers, Final: e.final(layers, from, to), presences: e.presences}
}

// entries returns the entries of one layer in a window, after absences.
func (e *engine) entries(layer int, from, to int64) []Entry {
	r := &e.rotations[layer]
	if r.Layer == nil {
		return nil
	}
	list := r.entries(max(from, 0), min(to, lastInstant))
	for i := range list {
		list[i].Layer = layer
	}
	return e.attended(r, list)
}
