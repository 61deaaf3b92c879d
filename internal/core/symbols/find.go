package symbols

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Position is a place in generated code, as stacks state it: line and column from 1.
type Position struct{ Line, Column int }

// Place is a place in original code. The line is from 1; the column is from 0, as source maps count.
type Place struct {
	File         string
	Line, Column int
	Name         string // the name that the map states for this place; may be empty
	Library      bool   // the map states that debuggers should skip the file
	code         string
}

// Found reports whether there is a place.
func (p Place) Found() bool { return p.Line > 0 }

// wanted is a position of one section, from 0, and the segment that is nearest before it.
type wanted struct {
	line, column int
	index        int // among the positions that were asked for
	segment      segment
	found        bool
}

// Find returns the original places of positions, in their order. A place is that of the last mapping at or before the
// position in its line; there is none if the line has no such mapping, or if the mapping names no source. The mappings
// are decoded once for all positions.
func (m *Map) Find(positions []Position) []Place {
	places := make([]Place, len(positions))
	bySection := map[int][]wanted{}
	for i, p := range positions {
		line, column := p.Line-1, max(p.Column-1, 0)
		n := sort.Search(len(m.sections), func(n int) bool {
			s := m.sections[n]
			return s.Line > line || s.Line == line && s.Column > column
		}) - 1
		if n < 0 || line < 0 {
			continue
		}
		if line == m.sections[n].Line {
			column -= m.sections[n].Column
		}
		bySection[n] = append(bySection[n], wanted{line: line - m.sections[n].Line, column: column, index: i})
	}
	for n, list := range bySection {
		s := &m.sections[n]
		s.nearest(list)
		for _, w := range list {
			places[w.index] = s.place(w)
		}
	}
	return places
}

// nearest sets the segment of each wanted position. Columns of segments may decrease, so each segment is noted at the
// first position at or after it, and passed on to the later ones of its line afterwards.
func (s *section) nearest(list []wanted) {
	slices.SortFunc(list, func(a, b wanted) int { return cmp.Or(a.line-b.line, a.column-b.column) })
	last := list[len(list)-1].line
	from := 0
	to := 0
	at := -1 // the positions of line at are list[from:to]
	_ = walk(s.mappings, func(line int, seg segment) bool {
		if line > last {
			return false
		}
		if line != at {
			from = to
			for from < len(list) && list[from].line < line {
				from++
			}
			to, at = from, line
			for to < len(list) && list[to].line == line {
				to++
			}
		}
		i := from + sort.Search(to-from, func(i int) bool { return list[from+i].column >= seg.column })
		if i < to && seg.column >= 0 && (!list[i].found || seg.column >= list[i].segment.column) {
			list[i].segment, list[i].found = seg, true
		}
		return true
	})
	for i := 1; i < len(list); i++ {
		before, w := &list[i-1], &list[i]
		if before.found && before.line == w.line && (!w.found || w.segment.column < before.segment.column) {
			w.segment, w.found = before.segment, true
		}
	}
}

// place returns the place of a position whose segment is known. Numbers that are out of range are those of a defective
// map, of which the rest may still be of use.
func (s *section) place(w wanted) Place {
	g := w.segment
	if !w.found || g.source < 0 || g.source >= len(s.sources) || g.line < 0 || g.from < 0 {
		return Place{}
	}
	from := s.sources[g.source]
	p := Place{File: from.path, Line: g.line + 1, Column: g.from, Library: from.library, code: from.code}
	if g.name >= 0 && g.name < len(s.names) {
		p.Name = s.names[g.name]
	}
	return p
}

// CodeLine is a line of original code.
type CodeLine struct {
	Line int    `json:"line" doc:"The line's number, from 1."`
	Code string `json:"code" doc:"The line, cut after 500 bytes."`
}

// maxCode is the largest part of a line of code that is returned, in bytes.
const maxCode = 500

// Code returns the line of the place, with so many lines before and after it that are not blank; none if the map does
// not have the code.
func (p Place) Code(near int) []CodeLine {
	var lines []CodeLine
	number, after := 0, 0
	for text := range strings.Lines(p.code) {
		number++
		text = strings.TrimRight(text, "\r\n")
		blank := strings.TrimSpace(text) == ""
		switch {
		case number < p.Line && !blank:
			if len(lines) == near {
				lines = slices.Delete(lines, 0, 1)
			}
			lines = append(lines, CodeLine{number, text})
		case number == p.Line:
			lines = append(lines, CodeLine{number, text})
		case number > p.Line && !blank:
			after++
			lines = append(lines, CodeLine{number, text})
		}
		if number >= p.Line && after == near {
			break
		}
	}
	if number < p.Line {
		return nil // the map is of other code
	}
	for i := range lines {
		lines[i].Code = cut(lines[i].Code)
	}
	return lines
}

func cut(text string) string {
	if len(text) <= maxCode {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	end := maxCode
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.ToValidUTF8(text[:end], "\uFFFD") + "…"
}
