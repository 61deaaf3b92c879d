package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"tocsin/internal/core/oncall"
)

// maxNamed bounds how often all pieces together may name persons for the search for persons who are on call twice. Real
// schedules use a thousandth of it.
const maxNamed = 500_000

// twice returns problems of persons who are on call twice at once: in two roles, or because of two layers.
func (s *Schedule) twice(pieces []oncall.Piece) (all []problem) {
	type how struct {
		person int64
		words  string
	}
	var order []how
	spans, left := map[how][]Span{}, maxNamed
	for i := range pieces {
		p := &pieces[i]
		roles, layers := heldTwice(s.Timeline, p, &left)
		if left < 0 {
			return append(all, problem{ScheduleUnproven, "the groups are too large to find all persons who are on call twice at once"})
		}
		for _, held := range []struct {
			by    map[int64][]string
			words string
		}{{roles, "as"}, {layers, "by"}} {
			for _, person := range slices.Sorted(maps.Keys(held.by)) {
				key := how{person, held.words + " " + listed(held.by[person])}
				if spans[key] == nil {
					order = append(order, key)
				}
				spans[key] = extend(spans[key], Span{p.Start, p.End})
			}
		}
	}
	for _, key := range order[:min(len(order), maxShown)] {
		all = append(all, problem{OnCallTwice, fmt.Sprintf("%s is on call twice at once, %s: %s", s.name(key.person), key.words,
			firstOf(spans[key], zoneOf(s.Timeline)))})
	}
	if more := len(order) - maxShown; more > 0 {
		all = append(all, problem{OnCallTwice, fmt.Sprintf("and %d more such cases", more)})
	}
	return all
}

// heldTwice returns the persons with two roles in a piece, and those in the groups of two of its layers, with the names of
// both. left is reduced by the number of persons looked at.
func heldTwice(s *oncall.Schedule, p *oncall.Piece, left *int) (roles, layers map[int64][]string) {
	if len(p.Group.Members) == 1 && len(p.Sources) < 2 { // as nearly all: one role of one layer
		*left -= len(p.Group.Members[0].PersonIDs)
		return nil, nil
	}
	roles, layers = map[int64][]string{}, map[int64][]string{}
	for _, m := range p.Group.Members {
		*left -= len(m.PersonIDs)
		for _, person := range m.PersonIDs {
			if name := RoleName(m.RoleID); !slices.Contains(roles[person], name) {
				roles[person] = append(roles[person], name)
			}
		}
	}
	if len(p.Sources) > 1 {
		for _, source := range p.Sources {
			l := &s.Layers[source.Layer]
			for _, m := range l.Groups[source.Group].Members {
				*left -= len(m.PersonIDs)
				for _, person := range m.PersonIDs {
					name := fmt.Sprintf("layers[%d] %q", source.Layer, l.Name)
					if roles[person] != nil && !slices.Contains(layers[person], name) { // a person who is covered for is not on call
						layers[person] = append(layers[person], name)
					}
				}
			}
		}
	}
	once := func(_ int64, names []string) bool { return len(names) < 2 }
	maps.DeleteFunc(roles, once)
	maps.DeleteFunc(layers, once)
	return roles, layers
}

// RoleName returns the name of an on-call role.
func RoleName(role int64) string {
	switch role {
	case 0:
		return "primary"
	case 1:
		return "backup"
	}
	return fmt.Sprintf("role %d", role)
}

// extend appends a stretch to a list in order, or extends the last one if they touch.
func extend(list []Span, s Span) []Span {
	if n := len(list); n > 0 && s.From <= list[n-1].Until {
		list[n-1].Until = max(list[n-1].Until, s.Until)
		return list
	}
	return append(list, s)
}

// firstOf returns when stretches are, in words: their first pattern, and how many more there are.
func firstOf(spans []Span, zone *time.Location) string {
	list := patterns(spans, zone)
	text := list[0].words(zone)
	if more := len(list) - 1; more > 0 {
		text += fmt.Sprintf(", and %d times more", len(spans)-len(list[0].spans))
	}
	return fmt.Sprintf("%s (%s)", text, zone)
}

func (s *Schedule) name(person int64) string {
	if name := s.Names[person]; name != "" {
		return name
	}
	return fmt.Sprintf("person %d", person)
}

// Across returns findings about persons who are on call in several schedules at once. It looks at no more than a bounded
// number of shifts; complete is whether these were all.
func Across(schedules []Schedule, now int64, zone *time.Location) (found []Finding, complete bool) {
	shifts, complete := shiftsOf(schedules, now)
	steps := maxNamed
	for _, person := range slices.Sorted(maps.Keys(shifts)) {
		both, in := atOnce(shifts[person], &steps)
		if steps < 0 {
			return found, false
		}
		if len(both) > 0 {
			found = append(found, overlap(schedules, person, in, united(both), zone))
		}
	}
	return found, complete
}

// shift is a person's time in one of some schedules.
type shift struct {
	Span
	schedule int
	overlaps bool // with a shift of another schedule, as far as is known
}

// shiftsOf returns the shifts of the next 90 days by person. complete is false if schedules with too many were left out.
func shiftsOf(schedules []Schedule, now int64) (shifts map[int64][]shift, complete bool) {
	shifts, complete = map[int64][]shift{}, true
	left := maxNamed
	for i := range schedules {
		if dense(schedules[i].Timeline) || left < 0 {
			complete = false
			continue
		}
		for _, p := range schedules[i].Timeline.Window(now, now+ScheduleHorizon).Final {
			for _, m := range p.Group.Members {
				if left -= len(m.PersonIDs); left < 0 {
					complete = false
					break
				}
				for _, person := range m.PersonIDs {
					shifts[person] = append(shifts[person], shift{Span: Span{p.Start, p.End}, schedule: i})
				}
			}
		}
	}
	return shifts, complete
}

// atOnce returns when a person's shifts in different schedules overlap, and in which schedules. steps is reduced by the
// work; the result is of no use once it is below 0.
func atOnce(list []shift, steps *int) (both []Span, in []int) {
	slices.SortStableFunc(list, func(a, b shift) int { return cmp.Compare(a.From, b.From) })
	var going []shift // of each schedule the one that began and is over last
	overlapping := map[int]bool{}
	for _, s := range list {
		if *steps -= len(going); *steps < 0 {
			return nil, nil
		}
		going = slices.DeleteFunc(going, func(other shift) bool { return other.Until <= s.From })
		until, same := s.From, -1
		for i := range going {
			other := &going[i]
			if other.schedule == s.schedule {
				same = i
				continue
			}
			until = max(until, other.Until)
			if !other.overlaps {
				other.overlaps, overlapping[other.schedule] = true, true
			}
		}
		if until > s.From && s.Until > s.From {
			both = append(both, Span{s.From, min(until, s.Until)})
			s.overlaps, overlapping[s.schedule] = true, true
		}
		if same >= 0 {
			going[same].Until = max(going[same].Until, s.Until)
		} else {
			going = append(going, s)
		}
	}
	return both, slices.Sorted(maps.Keys(overlapping))
}

// united returns stretches in order, those that touch as one.
func united(spans []Span) (list []Span) {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From, b.From) })
	for _, s := range spans {
		list = extend(list, s)
	}
	return list
}

// overlap returns the finding about a person who is on call in several schedules at once.
func overlap(schedules []Schedule, person int64, in []int, both []Span, zone *time.Location) Finding {
	var names []string
	who := fmt.Sprintf("person %d", person)
	for _, i := range in {
		names = append(names, fmt.Sprintf("%q", schedules[i].Ref.Name))
		if name := schedules[i].Names[person]; name != "" {
			who = name
		}
	}
	k := kindOf(OnCallTwice)
	return Finding{Code: k.Code, Severity: k.Severity, Object: schedules[in[0]].Ref, Fix: k.Fix,
		Sentence: fmt.Sprintf("%s is on call in schedules %s at once: %s", who, atMost(names), firstOf(both, zone))}
}
