package oncall

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Words returns the explanation as sentences for people: first the answer, then
// one sentence for every layer, each with the number of the rule that decided.
// The schedule must be the one that was explained. Times are on the wall clock
// of the schedule's zone, or of the layer's.
func (w Why) Words(s *Schedule) []string {
	out := []string{w.answer(s)}
	for i := range w.Layers {
		out = append(out, title(s, i)+" "+w.Layers[i].words(s, i)+".")
	}
	for _, r := range w.Covers {
		out = append(out, r.words(s))
	}
	return out
}

// answer returns the sentence that names who is on call and by which rule.
func (w Why) answer(s *Schedule) string {
	p := w.Piece
	if p == nil {
		return fmt.Sprintf("No one is on call at %s.", clock(w.At, s.Zone))
	}
	var by []string
	for _, src := range p.Sources {
		by = append(by, title(s, src.Layer))
	}
	reason := map[Rule]string{
		RuleSingle:   "it is the only layer that covers this moment (R20)",
		RuleStacked:  "they all cover this moment, so their groups are merged (R20)",
		RuleOverride: "an override replaces everything else (R19)",
	}[p.Rule]
	return fmt.Sprintf("%q is on call at %s, from %s to %s, by %s: %s.", p.Group.Name,
		clock(w.At, s.Zone), clock(p.Start, s.Zone), clock(p.End, s.Zone), strings.Join(by, ", "), reason)
}

// words returns what the layer does at the instant, as the rest of a sentence.
func (w LayerWhy) words(s *Schedule, i int) string {
	l := &s.Layers[i]
	loc := l.location(s)
	turn := "has no turn in progress"
	if w.Turn >= 0 {
		turn = fmt.Sprintf("is in turn %d, of group %q", w.Turn, l.Groups[w.Group].Name)
	}
	switch w.Reason {
	case OnCall, Preempted:
		text := fmt.Sprintf("%s, on from %s (%s) to %s (%s)", turn,
			clock(w.Entry.Start, loc), l.because(w.Entry.StartBy), clock(w.Entry.End, loc), l.because(w.Entry.EndBy))
		if p := w.Presence; p != nil {
			text += p.words(l, w.Entry.Group)
		}
		if w.Reason == Preempted {
			text += ", but an override counts instead (R19)"
		}
		return text
	case NotStarted:
		return fmt.Sprintf("begins at %s (R4)", clock(l.Start, loc))
	case Ended:
		return fmt.Sprintf("ended at %s (R4)", clock(l.End, loc))
	case Masked:
		return turn + ", and the date mask excludes this moment (R10)"
	case Restricted:
		return turn + ", and the restricted hours exclude this moment (R14)"
	case NotACalendarDay:
		return turn + ", and the calendars exclude this moment (R27)"
	case Absent:
		return turn + ", whose persons are absent, and no group stands in (R25, R26)"
	default:
		field, reason := l.check()
		return fmt.Sprintf("is not computed: %s %s", field, reason)
	}
}

// words returns what absences changed in an entry of a group, as the rest of a sentence.
func (p *Presence) words(l *Layer, group int) string {
	text := ""
	if group != p.TurnOf {
		text = fmt.Sprintf("; no one in it is present, and group %q stands in (R26)", l.Groups[group].Name)
	}
	if len(p.Absent) > 0 {
		text += fmt.Sprintf("; without %s (R25)", persons(p.Absent))
	}
	return text
}

// words returns what a cover in force does, as a sentence.
func (r Replaced) words(s *Schedule) string {
	c := &s.Covers[r.Cover]
	if len(r.Holders) == 0 {
		return fmt.Sprintf("cover %d by person %d has no effect: no one whom it covers is on call (R24).", c.ID, c.By)
	}
	var replaced []int64
	for _, h := range r.Holders {
		if !slices.Contains(replaced, h.PersonID) {
			replaced = append(replaced, h.PersonID)
		}
	}
	return fmt.Sprintf("cover %d puts person %d on call in place of %s (R24).", c.ID, c.By, persons(replaced))
}

// persons lists persons in a sentence.
func persons(ids []int64) string {
	var list []string
	for _, id := range ids {
		list = append(list, fmt.Sprintf("person %d", id))
	}
	return strings.Join(list, ", ")
}

// because returns the cause of an entry's edge in words, with its rule.
func (l *Layer) because(c Cause) string {
	switch c {
	case CauseLayer:
		return "the layer's own bound, R4"
	case CauseTurn:
		return "the turn's bound, " + l.turnRule()
	case CauseMask:
		return "the date mask, R12"
	case CauseCalendar:
		return "the calendars, R27"
	case CauseAbsence:
		return "an absence, R25"
	case CauseRestrict:
		return "the restricted hours, R14"
	default:
		return "the window's bound, R16"
	}
}

// turnRule returns the rule by which the layer's turns are bounded.
func (l *Layer) turnRule() string {
	switch {
	case l.byDuty():
		return "R11"
	case l.weekly() && l.Handoff > 0:
		return "R9"
	default:
		return [...]string{Hour: "R5", Day: "R6", Week: "R7", Month: "R8"}[l.Unit]
	}
}

// title names a layer in a sentence.
func title(s *Schedule, i int) string {
	kind := "layer"
	if s.Layers[i].Mode == Override {
		kind = "override"
	}
	return fmt.Sprintf("%s %d %q", kind, i, s.Layers[i].Name)
}

// clock formats an instant for people, with the offset from UTC.
func clock(t int64, loc *time.Location) string {
	if loc == nil {
		loc = time.UTC
	}
	return time.Unix(t, 0).In(loc).Format("Mon 2006-01-02 15:04:05 -0700")
}
