// Package source is what the readers of all sources have in common: a request's events, those of its alerts
// that are malformed, and the bounds that every event is held to. There is one package below it for each
// source.
//
// A reader is pure: it must never ask who sends, and one malformed alert must never cost its neighbours.
package source

import (
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
)

// Batch is what one request holds.
type Batch struct {
	Events  []event.Event // without ID, Integration and Received
	Refused []Refused
}

// Refused is a malformed alert of a batch.
type Refused struct {
	Index   int    `json:"index" doc:"Its place in the batch, from 0."`
	Field   string `json:"field" doc:"What is wrong, such as alerts[3].labels."`
	Message string `json:"message" doc:"Why, in words."`
}

// Parser reads a request's body, which came at a moment. An error, a fault, is about the whole of it.
type Parser func(body []byte, at time.Time, query url.Values) (Batch, error)

// Refuse adds a malformed alert. err is a fault of it alone.
func (b *Batch) Refuse(index int, field string, err error) {
	refused := Refused{Index: index, Field: field, Message: err.Error()}
	if f, ok := err.(*fault.Error); ok {
		refused.Message = f.Message
		if f.Field != "" {
			refused.Field = strings.TrimSuffix(field+"."+f.Field, ".")
		}
	}
	b.Refused = append(b.Refused, refused)
}

// MaxAlerts is how many alerts one request may hold.
const MaxAlerts = 1000

// LabelName is how Prometheus names labels, with the dots that others use.
var LabelName = regexp.MustCompile(`\A[a-zA-Z_][a-zA-Z0-9_.]*\z`)

// Labels holds labels to the bounds of events, where cutting them is what the sender would want: values are
// cut, names that are too long and the last names beyond the number allowed, in order, are left out. Of
// several sets the first goes first: it keeps its values, and its places among those allowed.
func Labels(sets ...map[string]string) map[string]string {
	kept := map[string]string{}
	for _, labels := range sets {
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			clean := Clean(name)
			if _, there := kept[clean]; there || clean == "" || utf8.RuneCountInString(clean) > event.MaxLabelKey {
				continue
			}
			if len(kept) == event.MaxLabels {
				return kept
			}
			kept[clean] = event.Cut(Clean(labels[name]), event.MaxLabelValue)
		}
	}
	return kept
}

// Said leaves out of the labels that a reader names itself those of which the source says nothing.
func Said(labels map[string]string) map[string]string {
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	return labels
}

// Clean takes out of a text what no database or reader wants: NUL and broken UTF-8.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// Severity looks a word of the source up in its table, without regard to case.
func Severity(word string, table map[string]string) (string, bool) {
	severity, ok := table[strings.ToLower(strings.TrimSpace(word))]
	return severity, ok
}

// Title fills a title rule in. One of which nothing is left stays as it is: somebody is to read it at night.
func Title(rule string, labels map[string]string) string {
	if title := event.Title(rule, labels); strings.TrimSpace(title) != "" {
		return title
	}
	return rule
}

// At is the Unix seconds of a time, or of the moment it came when the time is zero, long gone or to come.
func At(t, came time.Time) int64 {
	if t.Before(came.AddDate(0, 0, -31)) || t.After(came.Add(time.Hour)) {
		return came.Unix()
	}
	return t.Unix()
}

// Unreadable is the fault of a body that is not the JSON it should be: it names the member, or the place. What
// stood there is not repeated: it may be a secret.
func Unreadable(err error) error {
	var typed *json.SemanticError
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &typed):
		return fault.Invalid(member(typed.JSONPointer), "cannot be read: it must not be %s", kinds[typed.JSONKind])
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fault.Invalid("", "the body cannot be read: a name is given twice")
	case errors.As(err, &syntax):
		return fault.Invalid(member(syntax.JSONPointer), "the body cannot be read: it is no JSON at byte %d", syntax.ByteOffset)
	}
	return fault.Invalid("", "the body cannot be read")
}

var kinds = map[jsontext.Kind]string{'n': "null", 't': "a boolean", 'f': "a boolean", '0': "a number", '"': "a text", '[': "a list", '{': "an object"}

// member is the path of a JSON pointer as faults write it: alerts[3].labels.
func member(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return event.Cut(Clean(b.String()), 200)
}
