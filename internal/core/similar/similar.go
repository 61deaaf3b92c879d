// Package similar compares incidents by their titles and labels, and returns how similar they are and why.
//
// It must never read more of an incident than its bounds, nor return a reason with text that is not in both incidents.
package similar

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"tocsin/internal/core/sentence"
)

// The bounds of one incident: what is beyond them is not compared.
const (
	maxTitle  = 512 // bytes of a title
	maxLabels = 100 // labels, by name
	maxShown  = 5   // words or labels in a reason
	maxText   = 60  // characters of a word or label in a reason
)

// Least is the least score of incidents that are similar.
const Least = 300

// The parts of a score, in thousandths: equal titles and equal labels together are 1000.
const (
	ofTitle  = 600
	ofLabels = 400
)

// Subject is an incident that others are compared with.
type Subject struct {
	title  string
	words  []string // of the title, sorted, each once
	labels map[string]string
	names  []string // of labels, sorted
}

// New returns the subject with this title and these labels.
func New(title string, labels map[string]string) *Subject {
	title = normal(title)
	return &Subject{title: title, words: words(title), labels: labels, names: names(labels)}
}

// Match is how similar an incident is.
type Match struct {
	Score   int              // thousandths: 1000 is the same title and the same labels
	Reasons []sentence.Value // in words; empty if nothing is shared
}

// Compare returns how similar an incident with this title and these labels is. The score of the titles is the share of
// their words that both have, that of the labels likewise. If neither has labels, the titles count alone.
func (s *Subject) Compare(title string, labels map[string]string) (m Match) {
	title = normal(title)
	other := words(title)
	shared := intersection(s.words, other)
	inTitle := share(len(shared), len(s.words)+len(other)-len(shared))
	switch {
	case title == s.title && title != "":
		inTitle = 1000
		m.Reasons = append(m.Reasons, sentence.New("same_title"))
	case len(shared) > 0:
		m.Reasons = append(m.Reasons, sentence.New("shared_words", list(shared)))
	}
	theirs := names(labels)
	var same []string
	for _, name := range intersection(s.names, theirs) {
		if s.labels[name] == labels[name] {
			same = append(same, name+"="+labels[name])
		}
	}
	if len(same) > 0 {
		m.Reasons = append(m.Reasons, sentence.New("shared_labels", list(same)))
	}
	// A label with another value is one label in which they differ, not two.
	all := len(s.names) + len(theirs) - len(intersection(s.names, theirs))
	if all == 0 {
		m.Score = inTitle
		return m
	}
	m.Score = (inTitle*ofTitle + share(len(same), all)*ofLabels) / 1000
	return m
}

// share returns part of all in thousandths.
func share(part, all int) int {
	if all == 0 {
		return 0
	}
	return 1000 * part / all
}

// normal returns a title as it is compared: without regard to case and surrounding space.
func normal(title string) string {
	if len(title) > maxTitle {
		title = title[:maxTitle]
	}
	return strings.ToLower(strings.TrimSpace(strings.ToValidUTF8(title, "")))
}

// words returns the words of a title, sorted, each once: letters and digits. Numbers alone are not compared, because
// measured values and counts differ each time.
func words(title string) []string {
	all := strings.FieldsFunc(title, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	all = slices.DeleteFunc(all, func(w string) bool {
		return !strings.ContainsFunc(w, unicode.IsLetter)
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// names returns the names of labels that are compared, sorted.
func names(labels map[string]string) []string {
	all := make([]string, 0, len(labels))
	for name := range labels {
		all = append(all, name)
	}
	slices.Sort(all)
	return all[:min(len(all), maxLabels)]
}

// intersection returns what two sorted lists have in common.
func intersection(a, b []string) (both []string) {
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c < 0:
			a = a[1:]
		case c > 0:
			b = b[1:]
		default:
			both = append(both, a[0])
			a, b = a[1:], b[1:]
		}
	}
	return both
}

// list returns words for a reason, the first ones if there are many.
func list(all []string) string {
	shown := make([]string, 0, maxShown)
	for _, text := range all[:min(len(all), maxShown)] {
		if runes := []rune(text); len(runes) > maxText {
			text = string(runes[:maxText]) + "..."
		}
		shown = append(shown, text)
	}
	if more := len(all) - maxShown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(shown, ", "), more)
	}
	return strings.Join(shown, ", ")
}
