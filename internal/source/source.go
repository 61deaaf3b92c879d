// Package source holds what the readers of all sources share: the events of a request, its malformed alerts,
// and the bounds of every event. Each source has a package below it.
//
// A reader is pure: it must never depend on the sender, and one malformed alert must never cost its neighbours.
package source

import (
	"errors"
	"maps"
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

// Request is the body of a request as a Parser reads it.
type Request struct {
	Body      []byte
	Cut       bool      // the body was longer than the limit: only its beginning is here
	At        time.Time // when it came
	MaxAlerts int       // alerts beyond this number are refused, and those before them are not

	Severities SeverityMap // map of the integration; for sources whose severities are free words
}

// Batch is the content of one request.
type Batch struct {
	Events    []event.Event // without ID, Integration and Received
	Refused   []Refused
	Truncated int64 `json:",omitempty"` // how many alerts the sender left out, by its own count
	List      bool  `json:"-"`          // the alerts were read from a list: of a body that was cut, those before the cut
}

// Refused is an alert of a batch that cannot be taken, or all alerts from one on.
type Refused struct {
	Index   int    `json:"index" doc:"Its index in the batch, from 0."`
	Field   string `json:"field" doc:"The member that is wrong, such as alerts[3].labels."`
	Message string `json:"message" doc:"The reason, in words."`
	Count   int    `json:"count,omitempty" doc:"How many alerts it is about, from index on; absent: one, or as many as follow where the body was cut."`
	Reason  Reason `json:"-"`
}

// Reason is why an alert is refused.
type Reason int

// The reasons.
const (
	Malformed Reason = iota
	TooMany          // the request holds more alerts than the limit
	TooLarge         // the body is longer than the limit
	TooMuch          // the integration has sent far more bytes than it may in a day
)

// Parser reads a request's body. An error is a fault of the whole body.
type Parser func(Request) (Batch, error)

// Refuse adds a malformed alert to the batch. err is the fault of this alert alone.
func (b *Batch) Refuse(index int, field string, err error) {
	refused := Refused{Index: index, Field: field, Message: err.Error()}
	if f := new(fault.Error); errors.As(err, &f) {
		refused.Message = f.Message
		if f.Field != "" {
			refused.Field = strings.TrimSuffix(field+"."+f.Field, ".")
		}
	}
	b.Refused = append(b.Refused, refused)
}

// MaxAlerts is how many alerts of one request are taken, unless the server is configured otherwise.
const MaxAlerts = 10_000

// IsLabelName reports whether a name is one as Prometheus has them, with the dots that other systems use.
func IsLabelName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c == '_', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		case i > 0 && (c == '.' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return name != ""
}

// Labels returns the labels of several sets within the bounds of events. Values are cut; names over
// event.MaxLabelKey characters are left out, and so are the last names, in order, beyond event.MaxLabels. An
// earlier set takes precedence over a later one, in values and in the number of labels. A single set in which nothing
// changes, as in most events, is returned itself.
func Labels(sets ...map[string]string) map[string]string {
	if len(sets) == 1 && sets[0] != nil && within(sets[0]) {
		return sets[0]
	}
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

// Identifying returns the names of the kept labels that are in one of the sets, as an event has them. The sets are the
// labels that identify an alert at its source.
func Identifying(kept map[string]string, sets ...map[string]string) string {
	identity := make(map[string]string, len(kept))
	for _, labels := range sets {
		for name := range labels {
			name = Clean(name)
			identity[name] = kept[name]
		}
	}
	return event.Identifying(identity)
}

// within reports whether labels are within the bounds of events.
func within(labels map[string]string) bool {
	for name, value := range labels {
		if name == "" || event.Cut(Clean(name), event.MaxLabelKey) != name || event.Cut(Clean(value), event.MaxLabelValue) != value {
			return false
		}
	}
	return len(labels) <= event.MaxLabels
}

// NonEmpty deletes the labels without a value and returns the others. Readers use it for labels that they name
// themselves, because the source may not have sent a value for each.
func NonEmpty(labels map[string]string) map[string]string {
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	return labels
}

// Clean returns a text without NUL and with U+FFFD for broken UTF-8: PostgreSQL rejects both.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
}

// GroupKey returns the key of the group that a source puts an alert into, within the bound of events. A longer one is
// replaced by its hash: if it were cut, two groups could become one.
func GroupKey(key string) string {
	key = Clean(key)
	if utf8.RuneCountInString(key) > event.MaxGroupKey {
		return event.KeyOf(nil, key)
	}
	return key
}

// Severity returns the severity of a source's word by its table, whose keys are in lower case.
func Severity(word string, table map[string]string) (string, bool) {
	severity, ok := table[strings.ToLower(strings.TrimSpace(word))]
	return severity, ok
}

// Title returns a title rule filled in, or the rule itself if only blanks remain: an alert needs a readable title.
func Title(rule string, labels map[string]string) string {
	if title := event.Title(rule, labels); strings.TrimSpace(title) != "" {
		return title
	}
	return rule
}

// At returns the Unix seconds of a time. It returns those of the moment it came if the time is more than 31 days
// before or an hour after that, because a wrong clock of the sender must not move an alert; so with a zero time.
func At(t, came time.Time) int64 {
	if t.Before(came.AddDate(0, 0, -31)) || t.After(came.Add(time.Hour)) {
		return came.Unix()
	}
	return t.Unix()
}

// Unreadable returns the fault for a body that is not the JSON it should be. It names the member or the byte. The
// value is not repeated: it may be a secret.
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

var kinds = map[jsontext.Kind]string{
	'n': "null",
	't': "a boolean",
	'f': "a boolean",
	'0': "a number",
	'"': "a text",
	'[': "a list",
	'{': "an object",
}

// member returns the path of a JSON pointer as faults write it: alerts[3].labels. It is cut to 200 characters,
// because names of members are the sender's.
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
