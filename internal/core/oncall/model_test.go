package oncall

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

// The model is a second, deliberately naive reading of docs/timeline.md. It
// shares nothing with the engine but the configuration types: it counts turns
// one by one from the start of the layer, finds instants by looking at the
// clock every three hours, and is asked about one instant at a time.

const off int64 = -1 // in the model: the layer has no one on call

// modelLayer is one layer with everything that follows from the rules near a window
// written out as lists.
type modelLayer struct {
	*Layer
	loc      *time.Location
	turns    []modelTurn
	masked   []stretch // nil: no mask, or counted in the turns
	allowed  []stretch
	dated    []stretch
	hasMask  bool
	hasHours bool
	hasDates bool
	instants map[time.Time]int64
}

type modelTurn struct {
	number     int64
	start, end int64
}

// wallClock returns what the wall shows at an instant, as a time in UTC.
func wallClock(loc *time.Location, t int64) time.Time {
	at := time.Unix(t, 0).In(loc)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
}

// naiveInstant is R2: the first instant at which the wall shows w, or, when the
// clock jumps over it, the instant by the offset before the jump.
func naiveInstant(loc *time.Location, w time.Time) int64 {
	var found []int64
	for h := int64(-36); h <= 36; h += 3 {
		t := w.Unix() - offset(loc, w.Unix()+h*3600)
		if wallClock(loc, t).Equal(w) {
			found = append(found, t)
		}
	}
	if len(found) > 0 {
		return slices.Min(found)
	}
	t := w.Unix() - 36*3600
	for !wallClock(loc, t+3600).After(w) {
		t += 3600
	}
	for !wallClock(loc, t+1).After(w) {
		t++
	}
	return w.Unix() - offset(loc, t)
}

func (m *modelLayer) instant(w time.Time) int64 {
	t, ok := m.instants[w]
	if !ok {
		t = naiveInstant(m.loc, w)
		m.instants[w] = t
	}
	return t
}

func midnight(w time.Time) time.Time {
	return time.Date(w.Year(), w.Month(), w.Day(), 0, 0, 0, 0, time.UTC)
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

// newModel writes out what follows from the rules for a layer in [from, to).
func newModel(l *Layer, zone *time.Location, from, to int64) *modelLayer {
	m := &modelLayer{Layer: l, loc: zone, instants: map[time.Time]int64{}}
	if l.Zone != nil {
		m.loc = l.Zone
	}
	if l.Mode == Override {
		m.turns = []modelTurn{{0, l.Start, l.End}}
		return m
	}
	begin := wallClock(m.loc, l.Start)
	weekdays := 0
	for d := range 7 {
		weekdays += int(l.Mask>>d) & 1
	}
	maskActive := weekdays > 0 && weekdays < 7
	byDuty := maskActive && (l.Unit == Day && l.Value != 7 || l.Unit == Hour && l.Value%24 == 0)
	m.hasMask = maskActive && !byDuty
	m.hasDates = len(l.Skip)+len(l.Only) > 0
	m.hasHours = len(l.Restrict) > 0 && (l.RestrictMode == RestrictDay || l.RestrictMode == RestrictWeek && !maskActive)

	// The dates that can matter to the window; zones are at most a day away.
	early, late := midnight(wallClock(m.loc, from)).AddDate(0, 0, -4), midnight(wallClock(m.loc, to)).AddDate(0, 0, 4)

	switch {
	case byDuty:
		m.dutyTurns(begin, early, late)
	case l.Unit == Hour:
		for k, start := int64(0), l.Start; start < to; k++ {
			end := start + int64(l.Value)*3600
			if end > from {
				m.turns = append(m.turns, modelTurn{k, start, end})
			}
			start = end
		}
	default:
		m.wallTurns(begin, early, late)
	}
	if m.hasMask {
		for d := early; d.Before(late); d = d.AddDate(0, 0, 1) {
			if l.Mask.Has(d.Weekday()) {
				m.masked = append(m.masked, m.dutyDay(d, begin))
			}
		}
	}
	if m.hasDates {
		for d := early; d.Before(late); d = d.AddDate(0, 0, 1) {
			if m.dateCounts(d) {
				m.dated = append(m.dated, m.dutyDay(d, begin))
			}
		}
	}
	if m.hasHours {
		m.hours(early, late)
	}
	return m
}

// dateCounts is R27.
func (m *modelLayer) dateCounts(date time.Time) bool {
	for _, c := range m.Skip {
		if naiveOff(c, date) {
			return false
		}
	}
	for _, c := range m.Only {
		if naiveOff(c, date) {
			return true
		}
	}
	return len(m.Only) == 0
}

// naiveOff asks what a calendar was made of: the first exception that contains the date, else the weekday.
func naiveOff(c *Calendar, date time.Time) bool {
	raw, _ := rawCalendars.Load(c)
	for _, x := range raw.(rawCalendar).exceptions {
		if x.Start <= date.Unix() && date.Unix() < x.End {
			return x.Off
		}
	}
	return raw.(rawCalendar).workdays>>date.Weekday()&1 == 0
}

// rawCalendars has what the calendars of the tests were made of, by their addresses.
var rawCalendars sync.Map

type rawCalendar struct {
	workdays   Weekdays
	exceptions []Exception
}

// calendarOf makes a calendar that the model knows.
func calendarOf(workdays Weekdays, exceptions ...Exception) *Calendar {
	c := NewCalendar(workdays, exceptions)
	rawCalendars.Store(c, rawCalendar{workdays, exceptions})
	return c
}

// dutyDay is R10.
func (m *modelLayer) dutyDay(date, begin time.Time) stretch {
	var since time.Duration
	if m.Continuous {
		since = begin.Sub(midnight(begin))
	}
	return stretch{m.instant(date.Add(since)), m.instant(date.AddDate(0, 0, 1).Add(since))}
}

// dutyTurns is R11, counted day by day from the start.
func (m *modelLayer) dutyTurns(begin, early, late time.Time) {
	days := int64(m.Value)
	if m.Unit == Hour {
		days /= 24
	}
	n := int64(0)
	for d := midnight(begin).AddDate(0, 0, -3); d.Before(late); d = d.AddDate(0, 0, 1) {
		if !m.Mask.Has(d.Weekday()) {
			continue
		}
		nearStart := d.Before(begin.AddDate(0, 0, 3))
		if nearStart && m.dutyDay(d, begin).end <= m.Start {
			continue
		}
		if !d.Before(early) {
			duty := m.dutyDay(d, begin)
			m.turns = append(m.turns, modelTurn{n / days, duty.start, duty.end})
		}
		n++
	}
}

// wallTurns is R6 to R9, boundary by boundary from the start.
func (m *modelLayer) wallTurns(begin, early, late time.Time) {
	boundary := func(k int) time.Time { return begin.AddDate(0, 0, k*m.Value) }
	switch {
	case m.Unit == Month:
		boundary = func(k int) time.Time {
			first := time.Date(begin.Year(), begin.Month()+time.Month(k*m.Value), 1, 0, 0, 0, 0, time.UTC)
			date := begin.Day()
			for first.AddDate(0, 0, date-1).Month() != first.Month() {
				date--
			}
			return first.AddDate(0, 0, date-1).Add(begin.Sub(midnight(begin)))
		}
	case (m.Unit == Week && m.Value == 1 || m.Unit == Day && m.Value == 7) && m.Handoff > 0:
		monday := midnight(begin)
		for monday.Weekday() != time.Monday {
			monday = monday.AddDate(0, 0, -1)
		}
		monday = monday.AddDate(0, 0, -7)
		for m.instant(monday.Add(seconds(m.Handoff))) <= m.Start {
			monday = monday.AddDate(0, 0, 7)
		}
		boundary = func(k int) time.Time { return monday.AddDate(0, 0, 7*(k-1)).Add(seconds(m.Handoff)) }
	case m.Unit == Week:
		boundary = func(k int) time.Time { return begin.AddDate(0, 0, 7*k*m.Value) }
	}
	for k := 0; k == 0 || boundary(k).Before(late); k++ {
		next := boundary(k + 1)
		if next.Before(early) {
			continue
		}
		start := m.Start
		if k > 0 {
			start = m.instant(boundary(k))
		}
		m.turns = append(m.turns, modelTurn{int64(k), start, m.instant(next)})
	}
}

// hours is R14, for every date or every Monday.
func (m *modelLayer) hours(early, late time.Time) {
	days := 1
	if m.RestrictMode == RestrictWeek {
		days = 7
		early = early.AddDate(0, 0, -21)
	}
	for d := early; d.Before(late); d = d.AddDate(0, 0, 1) {
		if days == 7 && d.Weekday() != time.Monday {
			continue
		}
		for _, p := range m.Restrict {
			end := d.Add(seconds(p.End))
			if p.End <= p.Start {
				end = end.AddDate(0, 0, days)
			}
			m.allowed = append(m.allowed, stretch{m.instant(d.Add(seconds(p.Start))), m.instant(end)})
		}
	}
}

func within(list []stretch, t int64) bool {
	for _, s := range list {
		if s.start <= t && t < s.end {
			return true
		}
	}
	return false
}

// alive is R4.
func (m *modelLayer) alive(t int64) bool { return t >= m.Start && (m.End == 0 || t < m.End) }

// turnAt returns the turn that the layer has on call at t, or off (R15).
func (m *modelLayer) turnAt(t int64) int64 {
	if !m.alive(t) || m.hasMask && !within(m.masked, t) || m.hasDates && !within(m.dated, t) || m.hasHours && !within(m.allowed, t) {
		return off
	}
	for _, turn := range m.turns {
		if turn.start <= t && t < turn.end {
			return turn.number
		}
	}
	return off
}

// groupOf is R13: the groups in a row, the first put last after each round.
func (m *modelLayer) groupOf(turn int64) int {
	n := int64(len(m.Groups))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if m.Fair {
		for range turn / n % n {
			order = append(order[1:], order[0])
		}
	}
	return order[turn%n]
}

// modelState is what one layer has on call at one instant, after absences.
type modelState struct {
	turn   int64 // or off
	group  int   // that serves it
	absent string
}

// answer is the state of every layer at one instant, and the covers that change who is on call then.
type answer struct {
	layers []modelState
	covers []int
}

func (a answer) equal(b answer) bool {
	return slices.Equal(a.layers, b.layers) && slices.Equal(a.covers, b.covers)
}

// isAbsent is the first half of R25.
func isAbsent(s *Schedule, person, t int64) bool {
	return slices.ContainsFunc(s.Absences, func(a Absence) bool { return a.PersonID == person && a.Start <= t && t < a.End })
}

// remaining returns a group without those who are absent, and these.
func remaining(s *Schedule, g Group, t int64) (left Group, absent []int64) {
	left.Name = g.Name
	for _, m := range g.Members {
		var persons []int64
		for _, p := range m.PersonIDs {
			if !isAbsent(s, p, t) {
				persons = append(persons, p)
			} else if !slices.Contains(absent, p) {
				absent = append(absent, p)
			}
		}
		if len(persons) > 0 || len(m.PersonIDs) == 0 {
			left.Members = append(left.Members, Member{m.RoleID, persons})
		}
	}
	slices.Sort(absent)
	if absent == nil {
		left = g
	}
	return left, absent
}

// stateAt is R25 and R26.
func (m *modelLayer) stateAt(s *Schedule, t int64) modelState {
	turn := m.turnAt(t)
	if turn == off || m.Mode == Override {
		return modelState{turn: turn}
	}
	state := func(g int) (modelState, bool) {
		left, absent := remaining(s, m.Groups[g], t)
		return modelState{turn, g, fmt.Sprint(absent)}, left.persons() > 0
	}
	own := m.groupOf(turn)
	if st, anyone := state(own); anyone || m.Groups[own].persons() == 0 {
		return st
	}
	if s.WhenAbsent == AbsentNext {
		for k := turn + 1; k <= turn+2*int64(len(m.Groups)); k++ {
			if st, anyone := state(m.groupOf(k)); anyone {
				return st
			}
		}
	}
	return modelState{turn: off}
}

// presence returns what absences change in a state, as the engine writes it.
func (m *modelLayer) presence(s *Schedule, st modelState, t int64) *Presence {
	if m.Mode == Override {
		return nil
	}
	left, absent := remaining(s, m.Groups[st.group], t)
	if own := m.groupOf(st.turn); len(absent) > 0 || own != st.group {
		return &Presence{TurnOf: own, Absent: absent, Group: left}
	}
	return nil
}

// naiveCovers is R24: one cover after the other, on everyone.
func naiveCovers(s *Schedule, g Group, t int64) (Group, []int) {
	type place struct{ role, person int64 }
	var places []place
	for _, m := range g.Members {
		for _, p := range m.PersonIDs {
			places = append(places, place{m.RoleID, p})
		}
	}
	var used []int
	for i, c := range s.Covers {
		if t < c.Start || t >= c.End {
			continue
		}
		for j, x := range places {
			personal := c.PersonID != 0 && x.person == c.PersonID && (c.RoleID == -1 || c.RoleID == x.role)
			if whole := c.PersonID == 0 && c.RoleID == x.role; (personal || whole) && x.person != c.By {
				places[j].person = c.By
				if !slices.Contains(used, i) {
					used = append(used, i)
				}
			}
		}
	}
	if len(used) == 0 {
		return g, nil
	}
	out, n := Group{Name: g.Name}, 0
	for _, m := range g.Members {
		persons := []int64{}
		for range m.PersonIDs {
			if slices.Index(places, places[n]) == n {
				persons = append(persons, places[n].person)
			}
			n++
		}
		if len(persons) > 0 || len(m.PersonIDs) == 0 {
			out.Members = append(out.Members, Member{m.RoleID, persons})
		}
	}
	return out, used
}

// finalOf is R19 and R20: which layers count, in order, and by which rule.
func finalOf(s *Schedule, a answer) (Rule, []Source) {
	winner := -1
	var normal []int
	for i, state := range a.layers {
		switch {
		case state.turn == off:
		case s.Layers[i].Mode == Override:
			if winner < 0 || s.Layers[i].Weight >= s.Layers[winner].Weight {
				winner = i
			}
		default:
			at := len(normal)
			for at > 0 && s.Layers[normal[at-1]].Weight < s.Layers[i].Weight {
				at--
			}
			normal = slices.Insert(normal, at, i)
		}
	}
	if winner >= 0 {
		return RuleOverride, []Source{{Layer: winner}}
	}
	var out []Source
	for _, i := range normal {
		out = append(out, Source{Layer: i, Turn: a.layers[i].turn, Group: a.layers[i].group})
	}
	if len(out) > 1 {
		return RuleStacked, out
	}
	return RuleSingle, out
}

// walk asks the model about the window in steps of grain seconds, and second by
// second within a quarter of an hour of a change of any layer's clock and in every
// step in which an answer changes. It returns the instants at which an answer
// changes (the window's start is one) and the answers from there on.
func walk(t testing.TB, s *Schedule, from, to, grain int64) (at []int64, answers []answer) {
	t.Helper()
	models := make([]*modelLayer, len(s.Layers))
	var near []int64
	for i := range s.Layers {
		models[i] = newModel(&s.Layers[i], s.Zone, from, to)
		for _, c := range changes(t, models[i].loc.String()) {
			if c > from-900 && c < to+900 {
				near = append(near, c)
			}
		}
	}
	now := answer{layers: make([]modelState, len(s.Layers))}
	ask := func(t int64) bool {
		for i, m := range models {
			now.layers[i] = m.stateAt(s, t)
		}
		now.covers = nil
		if slices.ContainsFunc(s.Covers, func(c Cover) bool { return c.Start <= t && t < c.End }) {
			if _, sources := finalOf(s, now); len(sources) > 0 {
				_, now.covers = naiveCovers(s, naiveGroup(s, sources, naivePresences(s, sources, t)), t)
			}
		}
		return len(at) == 0 || !now.equal(answers[len(answers)-1])
	}
	note := func(t int64) {
		if ask(t) {
			at, answers = append(at, t), append(answers, answer{slices.Clone(now.layers), now.covers})
		}
	}
	note(from)
	for last := from; last < to-1; {
		next := min(last+grain, to-1)
		fine := slices.ContainsFunc(near, func(c int64) bool { return c > last-900 && c < next+900 })
		if fine || ask(next) {
			for u := last + 1; u <= next; u++ {
				note(u)
			}
		}
		last = next
	}
	return at, answers
}

// naive returns the timeline of a window as the model sees it. Causes and what
// overrides preempt are left out.
func naive(t testing.TB, s *Schedule, from, to, grain int64) modelTimeline {
	t.Helper()
	out := modelTimeline{Layers: make([][]modelEntry, len(s.Layers))}
	at, answers := walk(t, s, from, to, grain)
	for i, a := range answers {
		start, end := at[i], to
		if i+1 < len(at) {
			end = at[i+1]
		}
		for j, st := range a.layers {
			if st.turn == off {
				continue
			}
			list := out.Layers[j]
			next := modelEntry{
				Entry:    Entry{Start: start, End: end, Layer: j, Turn: st.turn, Group: st.group},
				Presence: (&modelLayer{Layer: &s.Layers[j]}).presence(s, st, start),
			}
			if n := len(list); n > 0 && list[n-1].continues(next) {
				list[n-1].End = end
				continue
			}
			out.Layers[j] = append(list, next)
		}
		rule, sources := finalOf(s, a)
		if len(sources) == 0 {
			continue
		}
		presences := naivePresences(s, sources, start)
		group, covers := naiveCovers(s, naiveGroup(s, sources, presences), start)
		next := Piece{
			Start: start, End: end, Group: group, Index: sources[0].Group, Weight: s.Layers[sources[0].Layer].Weight,
			Rule: rule, Sources: sources, Changes: naiveChanges(presences, covers),
		}
		if n := len(out.Final); n > 0 && out.Final[n-1].End == start && samePiece(out.Final[n-1], next) {
			out.Final[n-1].End = end
		} else {
			out.Final = append(out.Final, next)
		}
	}
	return out
}

// modelTimeline is a Timeline in which entries have their changes beside them.
type modelTimeline struct {
	Layers [][]modelEntry
	Final  []Piece
}

type modelEntry struct {
	Entry
	Presence *Presence
}

// continues reports whether the next entry is of the same turn, and the same persons are there.
func (x modelEntry) continues(next modelEntry) bool {
	return x.End == next.Start && x.Turn == next.Turn && x.Group == next.Group && reflect.DeepEqual(x.Presence, next.Presence)
}

// samePiece reports whether two pieces have the same sources and changes.
func samePiece(a, b Piece) bool {
	return reflect.DeepEqual(a.Sources, b.Sources) && reflect.DeepEqual(a.Changes, b.Changes)
}

// naiveChanges returns no changes at all where nothing is changed.
func naiveChanges(presences []*Presence, covers []int) *Changes {
	for _, p := range presences {
		if p != nil {
			return &Changes{presences, covers}
		}
	}
	if covers == nil {
		return nil
	}
	return &Changes{nil, covers}
}

// naivePresences returns what absences change in each source at an instant.
func naivePresences(s *Schedule, sources []Source, t int64) (out []*Presence) {
	for _, src := range sources {
		m := &modelLayer{Layer: &s.Layers[src.Layer]}
		out = append(out, m.presence(s, modelState{turn: src.Turn, group: src.Group}, t))
	}
	return out
}

// naiveGroup is R20's merging.
func naiveGroup(s *Schedule, sources []Source, presences []*Presence) Group {
	serving := func(i int) Group {
		if presences[i] != nil {
			return presences[i].Group
		}
		return s.Layers[sources[i].Layer].Groups[sources[i].Group]
	}
	first := serving(0)
	if len(sources) == 1 {
		return first
	}
	out := Group{Name: first.Name}
	names := []string{first.Name}
	var roles []int64
	people := map[int64][]int64{}
	for i := range sources {
		g := serving(i)
		if !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
			out.Name += "+" + g.Name
		}
		for _, m := range g.Members {
			if !slices.Contains(roles, m.RoleID) {
				roles = append(roles, m.RoleID)
			}
			for _, p := range m.PersonIDs {
				if !slices.Contains(people[m.RoleID], p) {
					people[m.RoleID] = append(people[m.RoleID], p)
				}
			}
		}
	}
	for _, r := range roles {
		out.Members = append(out.Members, Member{RoleID: r, PersonIDs: people[r]})
	}
	return out
}
