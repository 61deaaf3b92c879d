package oncall

// Timeline is the answer for one window.
type Timeline struct {
	Layers [][]Entry // for every layer, in the order of Schedule.Layers, its own entries
	Final  []Piece   // who is on call once layers, overrides and covers are combined

	presences []*Presence // by Entry.presence, from 1
}

// Presence returns what absences changed in an entry of the timeline; nil for nothing.
func (t *Timeline) Presence(e *Entry) *Presence {
	if e.presence == 0 {
		return nil
	}
	return t.presences[e.presence-1]
}

// Entry is one uninterrupted piece of one turn of one layer (R16). The entries
// of a layer are sorted, not empty, and do not overlap; two entries that touch
// belong to different turns.
type Entry struct {
	Start, End int64 // Unix seconds, [Start, End)
	Layer      int   // index in Schedule.Layers
	Turn       int64 // number of the turn since the layer began, from 0
	Group      int   // index in Layer.Groups of the group on call (R13, R17, R26)
	StartBy    Cause // what put Start where it is
	EndBy      Cause // what put End where it is
	presence   int32 // see Timeline.Presence; a number, because most entries are unchanged and there are many
}

// Source is where (part of) a piece comes from: one turn of one layer.
type Source struct {
	Layer int   // index in Schedule.Layers
	Turn  int64 // number of the turn since the layer began, from 0
	Group int   // index in Layer.Groups of the group on call
}

// Piece is a stretch of the final timeline in which the same turns of the same
// layers are on call and the same covers count (R19 to R21, R24). Pieces are sorted, not empty, and do not
// overlap; where there is no piece no one is on call.
//
// Group may share its slices with the schedule and with other pieces: read it,
// never change it.
type Piece struct {
	Start, End int64    // Unix seconds, [Start, End)
	Group      Group    // who is on call: merged when several layers stack (R20), without who is absent (R25), with who covers (R24)
	Index      int      // position in its layer's groups of the first source's group (R17, R20)
	Weight     int      // weight of the first source's layer
	Rule       Rule     // how the sources were chosen
	Sources    []Source // the turns that are on call, in order of precedence
	Changes    *Changes // what absences and covers changed in Group; nil for nothing

	// Preempted lists, for an override, the turns that it replaced, of weaker
	// overrides and of rotations, each turn once, in order of appearance: those met anywhere
	// in the piece (for Window), or those met at the moment asked about or at
	// the start of the next piece (for At). It is empty where the override
	// fills a gap.
	Preempted []Source
}

// Changes is what absences and covers changed in a piece.
type Changes struct {
	Presences []*Presence // for each source what absences changed, nil for nothing (R25, R26); empty where they changed none
	Covers    []int       // indexes in Schedule.Covers of those that changed the group, in order (R24)
}

// Covers returns the indexes in Schedule.Covers of those that changed the piece's group, in order.
func (p *Piece) Covers() []int {
	if p.Changes == nil {
		return nil
	}
	return p.Changes.Covers
}

// Presence returns what absences changed in the i-th source; nil for nothing.
func (p *Piece) Presence(i int) *Presence {
	if p.Changes == nil {
		return nil
	}
	return nth(p.Changes.Presences, i)
}

// Rule is the rule by which a piece's sources were chosen.
type Rule uint8

// The rules of the final timeline.
const (
	RuleSingle   Rule = iota // exactly one rotation layer covers the piece (R20)
	RuleStacked              // several rotation layers cover it and are merged (R20)
	RuleOverride             // an override replaces everything else (R19)
)

// String returns the rule in one word.
func (r Rule) String() string {
	return [...]string{"single", "stacked", "override"}[min(r, RuleOverride)]
}

// Cause is the reason that an edge of an entry lies where it does.
type Cause uint8

// The causes. When several coincide the first in this list is reported, except
// that an edge on the window's own bound is always CauseWindow, because what
// lies beyond was not examined.
const (
	CauseLayer    Cause = iota // the layer itself begins or ends (R4)
	CauseTurn                  // the turn begins or ends (R5 to R9, R11)
	CauseMask                  // the date mask (R10, R12)
	CauseCalendar              // the calendars (R27)
	CauseRestrict              // the restricted hours (R14)
	CauseAbsence               // absences (R25, R26)
	CauseWindow                // the requested window (R16)
)

// String returns the cause in one word.
func (c Cause) String() string {
	return [...]string{"layer", "turn", "mask", "calendar", "restriction", "absence", "window"}[min(c, CauseWindow)]
}
