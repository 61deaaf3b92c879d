package lint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/core/sentence"
)

// maxNamed bounds how often all pieces together may name persons for the search for persons who are on call twice. Real
// schedules use a thousandth of it.
const maxNamed = 500_000

// twice returns problems of persons who are on call twice at once: in two roles, or because of two layers.
func (s *Schedule) twice(pieces []oncall.Piece) (all []problem) {
	type doubled struct {
		person int64
		names  []sentence.Value // of the roles, or of the layers
		layers bool
		spans  []Span
	}
	var order []*doubled
	known, left := map[string]*doubled{}, maxNamed
	for i := range pieces {
		p := &pieces[i]
		roles, layers := heldTwice(s.Timeline, p, &left)
		if left < 0 {
			return append(all, problem{ScheduleUnproven, sentence.New("l_groups_large")})
		}
		for _, held := range []struct {
			by     map[int64][]sentence.Value
			layers bool
		}{{roles, false}, {layers, true}} {
			for _, person := range slices.Sorted(maps.Keys(held.by)) {
				key := fmt.Sprint(person, held.by[person])
				if known[key] == nil {
					known[key] = &doubled{person: person, names: held.by[person], layers: held.layers}
					order = append(order, known[key])
				}
				known[key].spans = extend(known[key].spans, Span{p.Start, p.End})
			}
		}
	}
	for _, d := range order[:min(len(order), maxShown)] {
		who, when := nameOf(s.Names, d.person), firstOf(d.spans, zoneOf(s.Timeline))
		says := sentence.New("l_twice_as", who, d.names, when)
		if d.layers {
			says = sentence.New("l_twice_by", who, d.names, when)
		}
		all = append(all, problem{OnCallTwice, says})
	}
	if more := len(order) - maxShown; more > 0 {
		all = append(all, problem{OnCallTwice, sentence.New("l_more_cases", more)})
	}
	return all
}

// heldTwice returns the persons with two roles in a piece, and those in the groups of two of its layers, with the names of
// both. left is reduced by the number of persons looked at.
func heldTwice(s *oncall.Schedule, p *oncall.Piece, left *int) (roles, layers map[int64][]sentence.Value) {
	if len(p.Group.Members) == 1 && len(p.Sources) < 2 { // as nearly all: one role of one layer
		*left -= len(p.Group.Members[0].PersonIDs)
		return nil, nil
	}
	roles, layers = map[int64][]sentence.Value{}, map[int64][]sentence.Value{}
	for _, m := range p.Group.Members {
		*left -= len(m.PersonIDs)
		name := Role(m.RoleID)
		for _, person := range m.PersonIDs {
			if !slices.Contains(roles[person], name) {
				roles[person] = append(roles[person], name)
			}
		}
	}
	if len(p.Sources) > 1 {
		for _, source := range p.Sources {
			l := &s.Layers[source.Layer]
			name := sentence.New("l_layer", source.Layer, l.Name)
			for _, m := range l.Groups[source.Group].Members {
				*left -= len(m.PersonIDs)
				for _, person := range m.PersonIDs {
					if roles[person] != nil && !slices.Contains(layers[person], name) { // a person who is covered for is not on call
						layers[person] = append(layers[person], name)
					}
				}
			}
		}
	}
	once := func(_ int64, names []sentence.Value) bool { return len(names) < 2 }
	maps.DeleteFunc(roles, once)
	maps.DeleteFunc(layers, once)
	return roles, layers
}

// Role returns the name of an on-call role.
func Role(role int64) sentence.Value {
	switch role {
	case 0:
		return sentence.New("role_primary")
	case 1:
		return sentence.New("role_backup")
	}
	return sentence.New("role_numbered", role)
}

// extend appends a stretch to a list in order, or extends the last one if they touch.
func extend(list []Span, s Span) []Span {
	if n := len(list); n > 0 && s.From <= list[n-1].Until {
		list[n-1].Until = max(list[n-1].Until, s.Until)
		return list
	}
	return append(list, s)
}

// firstOf returns when stretches are: their first pattern, and how many more there are.
func firstOf(spans []Span, zone *time.Location) sentence.Value {
	first := patterns(spans, zone)[0]
	return first.words(zone, len(spans)-len(first.spans))
}

// nameOf returns the name of a person, or a sentence that stands for it where it is not known.
func nameOf(names map[int64]string, person int64) any {
	if name := names[person]; name != "" {
		return name
	}
	return sentence.New("l_person_id", person)
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
	who, when := nameOf(nil, person), firstOf(both, zone)
	for _, i := range in {
		names = append(names, strconv.Quote(schedules[i].Ref.Name))
		if schedules[i].Names[person] != "" {
			who = nameOf(schedules[i].Names, person)
		}
	}
	says := sentence.New("l_on_call_twice", who, names, when)
	if more := len(names) - maxShown; more > 0 {
		says = sentence.New("l_on_call_twice_more", who, names[:maxShown], more, when)
	}
	return finding(OnCallTwice, schedules[in[0]].Ref, says)
}
