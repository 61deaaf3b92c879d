package schedule

import (
	"errors"
	"fmt"
	"time"

	"tocsin/internal/fault"
	"tocsin/internal/timeline"
)

// room is how many more times persons may be named in the timelines of one answer. Real answers use a
// hundredth of maxNamed; it keeps a group of thousands with hourly turns from filling the memory.
type room int

const maxNamed room = 1_000_000

// take uses up as much of the room as one more naming of a group needs.
func (left *room) take(g *Group) {
	for i := range g.Members {
		*left -= room(len(g.Members[i].PersonIDs))
	}
}

// check lets the engine judge settled layers and reports what it objects to under the fields' names with
// prefix in front.
func check(timeZone *string, layers []LayerConfig, prefix string) error {
	s := stored{Layers: layers}
	set(&s.TimeZone, timeZone)
	e, err := s.engine(time.UTC, prefix)
	if err != nil {
		return err
	}
	var objection *timeline.ConfigError
	if errors.As(e.Check(), &objection) {
		return fault.Invalid(prefix+objection.Path, "%s", objection.Reason)
	}
	return nil
}

// engine is the schedule as the engine computes it. Everybody who wants to know who is on call gets it
// from here. Layers must be settled; account is the zone of schedules and layers without one
// (docs/timeline.md R1).
func (s *stored) engine(account *time.Location, prefix string) (*timeline.Schedule, error) {
	e := &timeline.Schedule{Zone: account, Layers: make([]timeline.Layer, len(s.Layers))}
	var err error
	if s.TimeZone != "" {
		if e.Zone, err = zone(prefix+"time_zone", s.TimeZone); err != nil {
			return nil, err
		}
	}
	for i := range s.Layers {
		if e.Layers[i], err = s.Layers[i].engine(); err != nil {
			var f *fault.Error
			if errors.As(err, &f) {
				f.Field = fmt.Sprintf("%slayers[%d].%s", prefix, i, f.Field)
			}
			return nil, err
		}
	}
	return e, nil
}

func (l *LayerConfig) engine() (e timeline.Layer, err error) {
	e = timeline.Layer{
		Name: l.LayerName, Mode: timeline.Mode(l.Mode), Weight: int(l.Weight),
		Start: l.LayerStart, End: l.ExpireTime,
		Value: int(l.RotationValue), Handoff: l.HandoffTime,
		RestrictMode: timeline.RestrictMode(l.RestrictMode),
		Continuous:   l.MaskContinuousEnabled, Fair: l.FairRotation,
		Groups: make([]timeline.Group, len(l.Groups)),
	}
	if l.RotationUnit != "" {
		if e.Unit, err = timeline.ParseUnit(l.RotationUnit); err != nil {
			return e, fault.Invalid("rotation_unit", "%v", err)
		}
	}
	for i, day := range l.DayMask.Repeat {
		if err := within(fmt.Sprintf("day_mask.repeat[%d]", i), day, 0, 6); err != nil {
			return e, err
		}
		e.Mask |= 1 << day
	}
	if l.TimeZone != "" {
		if e.Zone, err = zone("time_zone", l.TimeZone); err != nil {
			return e, err
		}
	}
	for _, p := range l.RestrictPeriods {
		e.Restrict = append(e.Restrict, timeline.Period{Start: p.RestrictStart, End: p.RestrictEnd})
	}
	if len(e.Restrict) == 0 && l.RestrictMode != 0 && (l.RestrictStart != 0 || l.RestrictEnd != 0) {
		e.Restrict = []timeline.Period{{Start: l.RestrictStart, End: l.RestrictEnd}} // docs/timeline.md R14
	}
	for i := range l.Groups {
		g := &l.Groups[i]
		members := make([]timeline.Member, len(g.Members))
		for j, m := range g.Members {
			members[j] = timeline.Member(m)
		}
		e.Groups[i] = timeline.Group{Name: g.GroupName, Members: members}
	}
	return e, nil
}

// timelines is what the engine says about one schedule and one window, in the shapes of the API.
type timelines struct {
	layers []ComputedLayer // rotations first
	final  ComputedLayer
}

// window computes the timelines in [w.from, w.to), as far as there is room for them.
func (s *stored) window(e *timeline.Schedule, w window, left *room) (timelines, error) {
	computed := e.Window(w.from, w.to)
	out := timelines{layers: make([]ComputedLayer, 0, len(s.Layers))}
	for _, i := range e.Order() {
		l := &s.Layers[i]
		entries := make([]Entry, len(computed.Layers[i]))
		for j, c := range computed.Layers[i] {
			entries[j] = Entry{Start: c.Start, End: c.End, Group: l.Groups[c.Group].during(c.Start, c.End), Index: c.Group}
			left.take(&entries[j].Group)
		}
		out.layers = append(out.layers, ComputedLayer{LayerName: l.LayerName, Name: l.LayerName, Mode: l.Mode, Schedules: &entries})
	}
	final := make([]Entry, len(computed.Final))
	for i := range computed.Final {
		p := &computed.Final[i]
		final[i] = Entry{Start: p.Start, End: p.End, Group: s.group(p), Index: p.Index}
		left.take(&final[i].Group)
	}
	out.final.Schedules = &final
	if *left < 0 {
		return out, fault.Invalid("end", "the timelines up to %d would name persons more than %d times: ask for a shorter window", w.to, maxNamed)
	}
	return out, nil
}

// oncall is a piece with its true bounds, or nil for none.
func (s *stored) oncall(p *timeline.Piece) *OncallEntry {
	if p == nil {
		return nil
	}
	return &OncallEntry{Start: p.Start, End: p.End, Group: s.group(p), Weight: int64(p.Weight), Index: p.Index}
}

// group is who is on call in a piece: a configured group, or the merged one where layers are stacked.
func (s *stored) group(p *timeline.Piece) Group {
	if source := p.Sources[0]; p.Rule != timeline.RuleStacked {
		return s.Layers[source.Layer].Groups[source.Group].during(p.Start, p.End)
	}
	members := make([]Member, len(p.Group.Members))
	for i, m := range p.Group.Members {
		members[i] = Member(m)
	}
	return Group{GroupName: p.Group.Name, Name: p.Group.Name, Members: members, Start: p.Start, End: p.End}
}

// during is the group with the bounds of a stretch in which it is on call.
func (g Group) during(start, end int64) Group {
	g.Start, g.End = start, end
	return g
}

// has tells whether a person is in the group.
func has(members []timeline.Member, person int64) bool {
	for _, m := range members {
		for _, p := range m.PersonIDs {
			if p == person {
				return true
			}
		}
	}
	return false
}
