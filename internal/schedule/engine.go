package schedule

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

// check returns fault.Invalid for the first normalised layer that the engine rejects. prefix precedes the field's name.
func check(timeZone *string, layers []LayerConfig, prefix string) error {
	var name string
	configstore.SetIfSent(&name, timeZone)
	e, err := compile(time.UTC, name, layers, nil)
	if err == nil {
		err = e.Check()
	}
	var invalid *oncall.ConfigError
	if errors.As(err, &invalid) {
		return fault.Invalid(prefix+invalid.Path, "%s", invalid.Reason)
	}
	return prefixField(prefix, err)
}

// engine returns the schedule as the engine computes it. It is the only source of who is on call. account is the time
// zone of schedules and layers without one (docs/timeline.md R1).
func (s *stored) engine(account *time.Location) (*oncall.Schedule, error) {
	if s.compiled == nil {
		return s.compile(account)
	}
	s.compiled.Lock()
	defer s.compiled.Unlock()
	if have := s.compiled.engine; have != nil && s.compiled.account.String() == account.String() {
		return have, nil
	}
	e, err := s.compile(account)
	if err == nil {
		s.compiled.engine, s.compiled.account = e, account
	}
	return e, err
}

// compiled caches the schedule as the engine computes it, after the first use. Readers share it.
type compiled struct {
	sync.Mutex
	account *time.Location
	engine  *oncall.Schedule
}

// compile translates the schedule for the engine.
func (s *stored) compile(account *time.Location) (*oncall.Schedule, error) {
	if s.calendars == nil && len(s.calendarIDs()) > 0 {
		return nil, fmt.Errorf("schedule %d: the calendars of its layers were not read", s.ScheduleID)
	}
	e, err := compile(account, s.TimeZone, s.Layers, s.calendars)
	if err != nil { // it was valid when it was stored, so this is an internal error and not the caller's
		return nil, fmt.Errorf("schedule %d cannot be computed: %s", s.ScheduleID, err.Error())
	}
	e.Covers, e.Absences = s.covers(), s.absences
	e.WhenAbsent = oncall.WhenAbsent(s.WhenAbsent)
	return e, nil
}

// compile translates normalised layers for the engine. An error is a fault that names the field.
func compile(account *time.Location, timeZone string, layers []LayerConfig, known calendars) (e *oncall.Schedule, err error) {
	e = &oncall.Schedule{Zone: account, Layers: make([]oncall.Layer, len(layers))}
	if timeZone != "" {
		e.Zone, err = zone("time_zone", timeZone)
		if err != nil {
			return nil, err
		}
	}
	for i := range layers {
		e.Layers[i], err = layers[i].compile()
		if err != nil {
			return nil, prefixField(fmt.Sprintf("layers[%d].", i), err)
		}
		e.Layers[i].Skip, e.Layers[i].Only = known.of(layers[i].SkipCalIDs), known.of(layers[i].OnlyCalIDs)
	}
	return e, nil
}

// prefixField puts a path in front of the field that a fault names.
func prefixField(prefix string, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		f.Field = prefix + f.Field
	}
	return err
}

// compile translates one normalised layer for the engine.
func (l *LayerConfig) compile() (e oncall.Layer, err error) {
	e = oncall.Layer{
		Name: l.LayerName, Mode: oncall.Mode(l.Mode), Weight: int(l.Weight),
		Start: l.LayerStart, End: l.ExpireTime,
		Value: int(l.RotationValue), Handoff: l.HandoffTime,
		RestrictMode: oncall.RestrictMode(l.RestrictMode),
		Continuous:   l.MaskContinuousEnabled, Fair: l.FairRotation,
		Groups: make([]oncall.Group, len(l.Groups)),
	}
	if l.RotationUnit != "" {
		e.Unit, err = oncall.ParseUnit(l.RotationUnit)
		if err != nil {
			return e, fault.Invalid("rotation_unit", "%v", err)
		}
	}
	for _, day := range l.DayMask.Repeat {
		e.Mask |= 1 << uint64(day)
	}
	if l.TimeZone != "" {
		e.Zone, err = zone("time_zone", l.TimeZone)
		if err != nil {
			return e, err
		}
	}
	for _, p := range l.RestrictPeriods {
		e.Restrict = append(e.Restrict, oncall.Period{Start: p.RestrictStart, End: p.RestrictEnd})
	}
	if len(e.Restrict) == 0 && (l.RestrictStart != 0 || l.RestrictEnd != 0) {
		e.Restrict = []oncall.Period{{Start: l.RestrictStart, End: l.RestrictEnd}} // docs/timeline.md R14
	}
	for i := range l.Groups {
		g := &l.Groups[i]
		members := make([]oncall.Member, len(g.Members))
		for j, m := range g.Members {
			members[j] = oncall.Member(m)
		}
		e.Groups[i] = oncall.Group{Name: g.GroupName, Members: members}
	}
	return e, nil
}

// budget is how many more times the timelines of one reply may name persons. Real replies use a hundredth of it. Without
// it a group of thousands with hourly shifts would fill the memory.
type budget int

const maxNamed budget = 1_000_000

// spend subtracts the persons of a group from the budget.
func (b *budget) spend(g *Group) {
	for i := range g.Members {
		*b -= budget(len(g.Members[i].PersonIDs))
	}
}

// spendAll subtracts the persons of pieces from the budget.
func (b *budget) spendAll(pieces []oncall.Piece) {
	for i := range pieces {
		for _, m := range pieces[i].Group.Members {
			*b -= budget(len(m.PersonIDs))
		}
	}
}

// timelines returns who is on call in [w.from, w.to): by each layer alone, rotations first, and in the final schedule.
// It returns fault.Invalid when the budget is used up.
func (s *stored) timelines(e *oncall.Schedule, w window, left *budget) (layers []ComputedLayer, final ComputedLayer, err error) {
	computed := e.Window(w.seen())
	layers = make([]ComputedLayer, 0, len(s.Layers))
	for _, i := range e.Order() {
		l := &s.Layers[i]
		entries := make([]Entry, 0, len(computed.Layers[i]))
		for _, c := range computed.Layers[i] {
			if t, ok := w.clip(c.Start, c.End); ok {
				g := l.Groups[c.Group]
				if p := computed.Presence(&c); p != nil {
					g = shown(&p.Group, c.Start, c.End)
				}
				entries = append(entries, t.entry(g, c.Group, left))
			}
		}
		layers = append(layers, ComputedLayer{LayerName: l.LayerName, Name: l.LayerName, Mode: l.Mode, Schedules: &entries})
	}
	pieces := make([]Entry, 0, len(computed.Final))
	for i := range computed.Final {
		p := &computed.Final[i]
		if t, ok := w.clip(p.Start, p.End); ok {
			pieces = append(pieces, t.entry(s.group(p), p.Index, left))
		}
	}
	if *left < 0 {
		return nil, final, fault.Invalid("end", "the timelines up to %d would name persons more than %d times: ask for a shorter window", w.to,
			maxNamed)
	}
	return layers, ComputedLayer{Schedules: &pieces}, nil
}

// entry returns the period as an entry of a timeline.
func (t clipped) entry(g Group, index int, left *budget) Entry {
	left.spend(&g)
	return Entry{Start: t.start, End: t.end, Group: g.during(t.start, t.end), Index: index, CutStart: t.cutStart, CutEnd: t.cutEnd}
}

// oncall returns a piece with its bounds as the API shows it; nil for none.
func (s *stored) oncall(p *oncall.Piece) *OncallEntry {
	if p == nil {
		return nil
	}
	return &OncallEntry{Start: p.Start, End: p.End, Group: s.group(p), Weight: int64(p.Weight), Index: p.Index}
}

// group returns who is on call in a piece: a configured group, or the piece's own where layers are stacked, or absences
// or covers changed it.
func (s *stored) group(p *oncall.Piece) Group {
	if source := p.Sources[0]; p.Rule != oncall.RuleStacked && p.Changes == nil {
		return s.Layers[source.Layer].Groups[source.Group].during(p.Start, p.End)
	}
	return shown(&p.Group, p.Start, p.End)
}

// shown returns a group of the engine with the bounds of a period in which it is on call.
func shown(g *oncall.Group, start, end int64) Group {
	members := make([]Member, len(g.Members))
	for i, m := range g.Members {
		members[i] = Member(m)
	}
	return Group{GroupName: g.Name, Name: g.Name, Members: members, Start: start, End: end}
}

// during returns the group with the bounds of a period in which it is on call.
func (g Group) during(start, end int64) Group {
	g.Start, g.End = start, end
	return g
}

// hasPerson reports whether a person is among the members.
func hasPerson(members []oncall.Member, person int64) bool {
	for _, m := range members {
		for _, p := range m.PersonIDs {
			if p == person {
				return true
			}
		}
	}
	return false
}
