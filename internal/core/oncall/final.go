package oncall

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// queue is one layer's entries that are not yet in the final timeline. Entries
// that have ended are removed from its front.
type queue struct {
	entries  []Entry
	override bool
}

// final combines the layers' entries in [from, to) (R19 to R21), and replaces
// those who are covered (R24). It walks from one bound of an entry or cover to
// the next and determines at each which layers are on call.
func (e *engine) final(layers [][]Entry, from, to int64) []Piece {
	queues, total := e.queues(layers)
	b := builder{engine: e, pieces: make([]Piece, 0, total), sources: make([]Source, 0, total)}
	active := make([]Source, 0, len(queues))
	var presences []*Presence // of the active sources; empty in a schedule without absences
	var covers coverSteps
	if len(e.Covers) > 0 {
		covers = coverSteps{engine: e, bounds: e.coverBounds(from, to)}
	}
	at := int64(math.MinInt64)
	for {
		next, override := covers.next(at), false
		active, presences = active[:0], presences[:0]
		for i := range queues {
			q := &queues[i]
			for len(q.entries) > 0 && q.entries[0].End <= at {
				q.entries = q.entries[1:]
			}
			if len(q.entries) == 0 {
				continue
			}
			first := q.entries[0]
			if first.Start > at {
				next = min(next, first.Start)
				continue
			}
			next = min(next, first.End)
			override = override || q.override
			active = append(active, Source{first.Layer, first.Turn, first.Group})
			if e.away != nil {
				presences = append(presences, e.presenceOf(first.presence))
			}
		}
		b.covering = covers.at(at, len(active) > 0)
		switch {
		case override: // queues are in order of precedence, so the override is first
			b.add(at, next, RuleOverride, active[:1], nil, active[1:])
		case len(active) > 1:
			b.add(at, next, RuleStacked, active, presences, nil)
		case len(active) == 1:
			b.add(at, next, RuleSingle, active, presences, nil)
		case next == math.MaxInt64:
			return b.pieces
		}
		at = next
	}
}

// queues returns the layers that have entries, in order of precedence, and the
// number of their entries.
func (e *engine) queues(layers [][]Entry) (queues []queue, total int) {
	queues = make([]queue, 0, len(layers))
	for i, entries := range layers {
		if len(entries) > 0 {
			queues = append(queues, queue{entries, e.Layers[i].Mode == Override})
			total += len(entries)
		}
	}
	slices.SortFunc(queues, func(a, b queue) int {
		return e.precedence(a.entries[0].Layer, b.entries[0].Layer)
	})
	return queues, total
}

// precedence compares two layers by their indexes; it is negative when i comes
// before j. Overrides come first, the heaviest first and of equal ones the later
// first (R19); then rotations, the heaviest first and of equal ones the earlier
// first (R20).
func (e *engine) precedence(i, j int) int {
	a, b := &e.Layers[i], &e.Layers[j]
	tie := cmp.Compare(i, j)
	if b.Mode == Override {
		tie = -tie
	}
	return cmp.Or(cmp.Compare(b.Mode, a.Mode), cmp.Compare(b.Weight, a.Weight), tie)
}

// builder collects the pieces of a final timeline.
type builder struct {
	*engine
	pieces  []Piece
	sources []Source         // backs the Sources of the newest pieces
	merged  map[string]Group // groups merged so far, by the layers and groups they come from

	named []int64 // per layer, the last turn named in the last piece's Preempted, or -1

	covering  *covering   // the covers in force; nil for none
	presences []*Presence // of the last piece

	// Scratch space of merge.
	seen  map[Holder]bool
	index map[int64]int // index in Members, by role
}

// sourcesAtOnce is for how many sources of pieces memory is allocated at a time.
const sourcesAtOnce = 4096

// add appends a piece, or extends the last one if it touches, has the same
// sources and is changed by the same absences and covers (R21, R24, R25).
func (b *builder) add(start, end int64, rule Rule, sources []Source, presences []*Presence, preempted []Source) {
	n := len(b.pieces)
	same := n > 0 && b.pieces[n-1].End == start && slices.Equal(b.pieces[n-1].Sources, sources) && slices.Equal(b.presences, presences)
	var group Group
	var covers []int
	if b.covering != nil {
		group = b.group(sources, presences)
		group, covers = b.covering.apply(&group)
		same = same && slices.Equal(b.pieces[n-1].Covers(), covers)
	} else {
		same = same && len(b.pieces[n-1].Covers()) == 0
	}
	if same {
		b.pieces[n-1].End = end
	} else {
		if cap(b.sources)-len(b.sources) < len(sources) { // a longer copy would keep the old one too: its pieces refer to it
			b.sources = make([]Source, 0, max(len(sources), sourcesAtOnce))
		}
		from := len(b.sources)
		b.sources = append(b.sources, sources...)
		first := &b.Layers[sources[0].Layer]
		if b.covering == nil {
			group = b.group(sources, presences)
		}
		b.presences = append(b.presences[:0], presences...)
		b.pieces = append(b.pieces, Piece{
			Start: start, End: end,
			Group:   group,
			Changes: changesOf(presences, covers),
			Index:   sources[0].Group,
			Weight:  first.Weight,
			Rule:    rule,
			Sources: b.sources[from:len(b.sources):len(b.sources)],
		})
		if rule == RuleOverride {
			b.named = slices.Repeat([]int64{-1}, len(b.Layers))
		}
	}
	last := &b.pieces[len(b.pieces)-1]
	for _, p := range preempted {
		if b.named[p.Layer] != p.Turn { // a layer's turns never come back
			b.named[p.Layer] = p.Turn
			last.Preempted = append(last.Preempted, p)
		}
	}
}

// changesOf returns what was changed in a piece; nil for nothing.
func changesOf(presences []*Presence, covers []int) *Changes {
	if !slices.ContainsFunc(presences, func(p *Presence) bool { return p != nil }) {
		presences = nil
		if len(covers) == 0 {
			return nil
		}
	}
	return &Changes{slices.Clone(presences), covers}
}

// nth returns the change of a source; nil for nothing. In a schedule without absences the list is empty.
func nth(presences []*Presence, i int) *Presence {
	if len(presences) == 0 {
		return nil
	}
	return presences[i]
}

// serving returns the group that a source has on call, without absent persons.
func (s *Schedule) serving(from Source, p *Presence) *Group {
	if p != nil {
		return &p.Group
	}
	return &s.Layers[from.Layer].Groups[from.Group]
}

// base returns the group of a piece before covers.
func (e *engine) base(p *Piece) Group {
	var presences []*Presence
	if p.Changes != nil {
		presences = p.Changes.Presences
	}
	return (&builder{engine: e}).group(p.Sources, presences)
}

// group returns the group of a piece before covers: that of its only source, or the
// sources' groups merged (R20). Merged groups are cached, because the same few
// groups occur together again and again.
func (b *builder) group(sources []Source, presences []*Presence) Group {
	if len(sources) == 1 {
		return *b.serving(sources[0], nth(presences, 0))
	}
	key := make([]byte, 0, 64)
	for i, s := range sources {
		key = binary.AppendUvarint(binary.AppendUvarint(key, uint64(s.Layer)), uint64(s.Group))
		if len(presences) == 0 {
			continue
		}
		change := ""
		if p := nth(presences, i); p != nil {
			change = p.key
		}
		key = append(binary.AppendUvarint(key, uint64(len(change))), change...)
	}
	g, ok := b.merged[string(key)]
	if !ok {
		g = b.merge(sources, presences)
		if b.merged == nil {
			b.merged = make(map[string]Group)
		}
		b.merged[string(key)] = g
	}
	return g
}

// merge unites the sources' groups in their order: people per role, each person
// once in a role, and the distinct names joined by "+" (R20).
func (b *builder) merge(sources []Source, presences []*Presence) Group {
	if b.seen == nil {
		b.seen, b.index = make(map[Holder]bool), make(map[int64]int)
	}
	clear(b.seen)
	clear(b.index)
	var out Group
	names := make([]string, 0, len(sources))
	for i, s := range sources {
		g := b.serving(s, nth(presences, i))
		if !slices.Contains(names, g.Name) {
			names = append(names, g.Name)
		}
		for _, m := range g.Members {
			at, ok := b.index[m.RoleID]
			if !ok {
				at = len(out.Members)
				b.index[m.RoleID] = at
				out.Members = append(out.Members, Member{RoleID: m.RoleID})
			}
			for _, person := range m.PersonIDs {
				if h := (Holder{m.RoleID, person}); !b.seen[h] {
					b.seen[h] = true
					out.Members[at].PersonIDs = append(out.Members[at].PersonIDs, person)
				}
			}
		}
	}
	out.Name = strings.Join(names, "+")
	return out
}
