package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
)

// line is the sentences about one moment.
type line struct {
	at   int64  // Unix milliseconds
	rank int    // of what happened in the same millisecond: what caused the other comes first
	of   *Story // the incident that it names; nil: none
	text sentence.Value
}

// The ranks of lines.
const (
	ofRule = iota
	ofVerdict
	ofFeed
	ofNotice
)

// add adds the sentences about a moment.
func (x *Explanation) add(at int64, rank int, sentences ...sentence.Value) {
	x.lines = append(x.lines, line{at, rank, nil, sentence.Paragraph(sentences...)})
}

// addOf adds the sentences about a moment of an incident, which is named if there are several. None add nothing.
func (x *Explanation) addOf(s *Story, at int64, rank int, sentences ...sentence.Value) {
	if len(x.Incidents) < 2 {
		s = nil
	}
	if text := sentence.Paragraph(sentences...); text != "" {
		x.lines = append(x.lines, line{at, rank, s, text})
	}
}

// addNow adds sentences about the present state.
func (x *Explanation) addNow(sentences ...sentence.Value) {
	x.now = append(x.now, sentence.Paragraph(sentences...))
}

// addNowOf adds sentences about the present state of an incident, which is named if there are several.
func (x *Explanation) addNowOf(s *Story, sentences ...sentence.Value) {
	text := sentence.Paragraph(sentences...)
	if len(x.Incidents) > 1 {
		text = sentence.New("of_incident", s.Title, incident.Num(s.IncidentID), text)
	}
	x.now = append(x.now, text)
}

// write writes all sentences in the order in which things happened.
func (x *Explanation) write() {
	slices.SortStableFunc(x.lines, func(a, b line) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
	var all []sentence.Value
	for _, l := range x.lines {
		at := x.clock.Second(l.at / 1000)
		if l.of == nil {
			all = append(all, sentence.New("moment", at, l.text))
		} else {
			all = append(all, sentence.New("moment_of_incident", at, l.of.Title, incident.Num(l.of.IncidentID), l.text))
		}
	}
	x.Words, x.WordsData = sentence.Shown(append(all, x.now...))
}

// ruleNamed names a rule or an alert: its name before its id.
func ruleNamed(name, id string) sentence.Value {
	switch {
	case id == "":
		return sentence.Raw(name)
	case name == "":
		return sentence.New("rule_without_name", id)
	}
	return sentence.Raw(fmt.Sprintf("%s (%s)", name, id))
}

// quoted returns a title in quotes that a sentence shows in full.
func quoted(title string) sentence.Value { return sentence.Raw(strconv.Quote(title)) }

// by returns a sentence that names who did something, or the one without if that is not known.
func by(who, without, with sentence.Value) sentence.Value {
	if who == "" {
		return without
	}
	return with
}
