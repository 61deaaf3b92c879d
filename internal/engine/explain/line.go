package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// line is the sentences about one moment.
type line struct {
	at   int64 // Unix milliseconds
	rank int   // of what happened in the same millisecond: what caused the other comes first
	of   string
	text string
}

// The ranks of lines.
const (
	ofRule = iota
	ofVerdict
	ofFeed
	ofNotice
)

// add adds the sentences about a moment.
func (x *Explanation) add(at int64, rank int, sentences ...string) {
	x.lines = append(x.lines, line{at, rank, "", strings.Join(sentences, " ")})
}

// addOf adds the sentences about a moment of an incident, which is named if there are several.
func (x *Explanation) addOf(s *Story, at int64, rank int, text string) {
	of := ""
	if len(x.Incidents) > 1 {
		of = ", incident " + s.named()
	}
	x.lines = append(x.lines, line{at, rank, of, text})
}

// nowf adds a sentence about the present state.
func (x *Explanation) nowf(format string, args ...any) {
	x.now = append(x.now, fmt.Sprintf(format, args...))
}

// write writes all sentences in the order in which things happened.
func (x *Explanation) write() {
	slices.SortStableFunc(x.lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
	for _, l := range x.lines {
		x.Words = append(x.Words, x.clock.Second(l.at/1000)+l.of+": "+l.text)
	}
	x.Words = append(x.Words, x.now...)
}

// ruleNamed names a rule: its name before its number.
func ruleNamed(name, id string) string {
	switch {
	case id == "":
		return name
	case name == "":
		return "without a name (" + id + ")"
	}
	return fmt.Sprintf("%s (%s)", name, id)
}

// and joins texts as a sentence does.
func and(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1]
}

// ended returns a text with a full stop at its end.
func ended(text string) string {
	return strings.TrimRight(text, ". ") + "."
}
