package lint

import (
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// Schedule is an on-call schedule as it is checked.
type Schedule struct {
	Ref      fault.Ref
	Pages    bool // it is enabled, and an escalation rule uses it
	Timeline *oncall.Schedule
	Names    map[int64]string // of its persons
}

// maxShown is how many holes, layers or persons of one kind are named.
const maxShown = 20

// problem is a finding about a schedule without the schedule's name.
type problem struct {
	code Code
	says sentence.Value
}

// OfSchedule returns what is wrong with a schedule: when no one is on call although it pages, layers that are never on
// call, values without effect, and persons who are on call twice at once.
func OfSchedule(s *Schedule, now int64) []Finding {
	all := layerProblems(s.Timeline, now)
	for _, warning := range s.Timeline.Warnings() {
		all = append(all, problem{ValueWithoutEffect, warning})
	}
	return findings(s.Ref, append(s.timelineProblems(now, now, s.Pages), all...))
}

// findings returns problems of a schedule as findings.
func findings(schedule fault.Ref, problems []problem) (found []Finding) {
	for _, p := range problems {
		found = append(found, finding(p.code, schedule, sentence.New("l_schedule", schedule.Name, p.says)))
	}
	return found
}

// Warnings returns what a caller who writes a schedule should know, besides the engine's warnings: holes after its first
// layer begins if it is enabled, layers that are never on call, hours that are cut or drift, and persons who are on call
// twice at once.
func (s *Schedule) Warnings(now int64, enabled bool) (sentences []sentence.Value) {
	begins := now + ScheduleHorizon
	for i := range s.Timeline.Layers {
		if l := &s.Timeline.Layers[i]; l.Mode == oncall.Rotation && (l.End == 0 || l.End > now) {
			begins = min(begins, max(now, l.Start))
		}
	}
	all := s.timelineProblems(begins, now, enabled && begins < now+ScheduleHorizon)
	for _, p := range append(all, layerProblems(s.Timeline, now)...) {
		sentences = append(sentences, sentence.New("l_layers", p.says))
	}
	return sentences
}

// timelineProblems returns the problems of the next 90 days: holes from a moment on, and persons on call twice at once.
func (s *Schedule) timelineProblems(from, now int64, holes bool) (all []problem) {
	if dense(s.Timeline) {
		return []problem{{ScheduleUnproven, sentence.New("l_many_shifts")}}
	}
	pieces := s.Timeline.Window(now, now+seen).Final
	if holes {
		all = gapProblems(s.Timeline, nil, nextHoles(pieces, nil, from, now), now)
	}
	return append(all, s.twice(pieces)...)
}

// gapProblems returns a problem for each pattern of the next holes of a schedule.
func gapProblems(s *oncall.Schedule, roles []int64, holes []Span, now int64) (all []problem) {
	zone := zoneOf(s)
	list := patterns(holes, zone)
	for _, p := range list[:min(len(list), maxShown)] {
		says := sentence.New("l_gap_when", p.words(zone, 0))
		if last := p.spans[0]; last.Until == now+seen {
			says = sentence.New("l_gap_open", time.Unix(last.From, 0).In(zone).Format(minute), zone)
		}
		change, comes, found := clockHole(s, roles, p.spans[0])
		if !found {
			all = append(all, problem{OnCallGap, says})
			continue
		}
		on := time.Unix(change.at, 0).In(change.zone).Format(time.DateOnly)
		why := sentence.New("l_gap_ends", change.zone, on)
		if comes {
			why = sentence.New("l_gap_comes", change.zone, on)
		}
		all = append(all, problem{ClockChangeGap, sentence.Join(says, why)})
	}
	if more := len(list) - maxShown; more > 0 {
		var seconds int64
		for _, p := range list[maxShown:] {
			for _, h := range p.spans {
				seconds += h.Until - h.From
			}
		}
		all = append(all, problem{OnCallGap, sentence.New("l_more_holes", more, length(seconds))})
	}
	return all
}

// layerProblems returns problems of layers that have ended, are never on call, or whose hours are cut or drift.
func layerProblems(s *oncall.Schedule, now int64) (all []problem) {
	var over []sentence.Value
	for i := range s.Layers {
		l := &s.Layers[i]
		name := sentence.New("l_layer", i, l.Name)
		if l.Mode == oncall.Rotation && (l.End == 0 || l.End > now) {
			all = append(all, hourProblems(l, name, zoneOf(s), now)...)
		}
		switch {
		case l.End != 0 && l.End <= now:
			over = append(over, name)
		case l.Start > now+oncall.Horizon:
			all = append(all, problem{LayerNeverOnCall, sentence.New("l_begins_only", name,
				time.Unix(l.Start, 0).In(zoneOf(s)).Format(time.DateOnly))})
		case l.End != 0 && l.Mode == oncall.Rotation && l.End-l.Start <= oncall.Horizon:
			alone := oncall.Schedule{Zone: s.Zone, Layers: s.Layers[i : i+1 : i+1]}
			if len(alone.Window(l.Start, l.End).Layers[0]) == 0 {
				all = append(all, problem{LayerNeverOnCall, sentence.New("l_never_on", name)})
			}
		}
	}
	switch n := len(over); {
	case n == 0:
	case n == 1:
		all = append(all, problem{LayerOver, sentence.New("l_over", over[0])})
	case n <= maxShown:
		all = append(all, problem{LayerOver, sentence.New("l_over_all", over)})
	default:
		all = append(all, problem{LayerOver, sentence.New("l_over_more", over[:maxShown], n-maxShown)})
	}
	return all
}
