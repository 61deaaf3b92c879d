package source

import (
	"slices"
	"strings"

	"tocsin/internal/core/event"
)

// severityWords maps the words that senders with severities of their own use, in lower case, to severities
// (docs/sources.md).
var severityWords = tableOf(map[string]string{
	event.Critical: "page critical crit fatal emergency emerg panic disaster blocker urgent p0 p1 p2 sev0 sev1 s1 error err high major",
	event.Warning:  "warning warn p3 sev2 sev3 moderate medium minor ticket average",
	event.Info:     "info p4 p5 sev4 sev5 low notice debug none informational acknowledged unknown unk",
	event.Ok:       "ok",
})

func tableOf(words map[string]string) map[string]string {
	table := map[string]string{}
	for severity, list := range words {
		for word := range strings.FieldsSeq(list) {
			table[word] = severity
		}
	}
	return table
}

// severityLabels are the labels that hold a severity, in the order of precedence.
var severityLabels = []string{"severity", "priority", logLevel}

// logLevel is the label of log lines. Most logged errors wake no person, so only the words of fatalLevels are Critical in
// this label.
const logLevel = "level"

var fatalLevels = []string{"critical", "fatal", "emerg", "panic"}

// SeverityMap maps words to severities for one integration. The map precedes the table of words. Its keys have the form that
// SeverityKey returns.
type SeverityMap map[string]string

// Rating is the severity of an alert with the word that it was read from.
type Rating struct {
	Severity string // Critical, Warning, Info or Ok
	Word     string // the word as it came; empty: the labels have none
	Unknown  bool   // neither the map nor the table has the word
}

// Rate returns the severity of labels. A label whose word is unknown hides no other label. Without a known word the
// severity is Warning.
func (m SeverityMap) Rate(labels map[string]string) Rating {
	r := Rating{Severity: event.Warning}
	for _, name := range severityLabels {
		word := SeverityWord(labels[name])
		if word == "" { // in Prometheus an empty label is the same as none
			continue
		}
		severity, known := m.of(name, word)
		switch {
		case !known && r.Word == "":
			r.Word, r.Unknown = word, true
		case !known || r.Unknown && severity == event.Ok: // an alert whose severity is unknown is not over
		case r.Unknown && name == logLevel:
			r.Severity = severity // a weak sign: the word stays unknown, so that a person can map it
			return r
		default:
			return Rating{Severity: severity, Word: word}
		}
	}
	return r
}

// of returns the severity of a word in a label. The map holds for every label.
func (m SeverityMap) of(label, word string) (severity string, known bool) {
	key := SeverityKey(word)
	severity, known = m[key]
	if known {
		return severity, true
	}
	severity, known = severityWords[key]
	if label == logLevel && severity == event.Critical && !slices.Contains(fatalLevels, key) {
		severity = event.Warning
	}
	return severity, known
}

// SeverityWord returns the word of a severity as an event keeps it: without spaces around and within the bound.
func SeverityWord(text string) string {
	return event.Cut(strings.TrimSpace(Clean(text)), event.MaxSeverityWord)
}

// SeverityKey returns a word as tables have it: without regard to case.
func SeverityKey(word string) string { return strings.ToLower(SeverityWord(word)) }
