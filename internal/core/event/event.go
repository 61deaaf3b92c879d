// Package event holds the form to which all sources are converted: what a monitoring system sent about one alert at
// one moment. It is pure, and it must never depend on the format of a source.
package event

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The severities of an event and of an alert. Ok means that the alert is over.
const (
	Critical = "Critical"
	Warning  = "Warning"
	Info     = "Info"
	Ok       = "Ok"
)

// Drill is the label that marks the events of a drill. Their incidents are tests.
const Drill = "tocsin_drill"

// Rank returns the order of a severity: Critical is 3, Warning 2, Info 1, any other text 0.
func Rank(severity string) int {
	switch severity {
	case Critical:
		return 3
	case Warning:
		return 2
	case Info:
		return 1
	}
	return 0
}

// Event is what a source sent, checked and cut to the bounds below.
type Event struct {
	ID          string            `json:"event_id"` // 24 hexadecimal digits
	Integration int64             `json:"integration_id"`
	AlertKey    string            `json:"alert_key"`  // events with the same key are about the same alert
	TitleRule   string            `json:"title_rule"` // such as $service::$cluster; the title is computed from it
	Title       string            `json:"title"`
	Description string            `json:"description,omitempty"`
	Status      string            `json:"event_status"`              // Critical, Warning, Info or Ok
	Severity    string            `json:"event_severity"`            // equal to Status; for Ok the severity that the source sent; never empty
	Word        string            `json:"severity_word,omitempty"`   // the word that a source with free words sent as the severity
	UnknownWord bool              `json:"severity_unknown,omitzero"` // the word was unknown when the event came
	Labels      map[string]string `json:"labels,omitempty"`
	Identifying string            `json:"identifying,omitempty"` // see Identifying; empty: not known
	Images      []Image           `json:"images,omitempty"`
	GroupKey    string            `json:"group_key,omitempty"`   // the group into which the source puts the alert; empty: none
	GroupTitle  string            `json:"group_title,omitempty"` // title of the incident of this group alone, on join or change; empty: kept
	GroupText   string            `json:"group_text,omitempty"`  // the description that belongs to GroupTitle
	Shortened   bool              `json:"shortened,omitzero"`    // its integration had sent more bytes than it may in a day; see Shorten
	Time        int64             `json:"event_time"`            // Unix seconds by the source's clock if it sent a time, else when the event was received
	OwnChannel  int64             `json:"own_channel,omitzero"`  // channel of an alert of Tocsin's own; no source can set it
	ByHand      bool              `json:"by_hand,omitzero"`      // a person ended the alert, of an Ok of Tocsin's own
	Received    int64             `json:"received_at"`           // Unix nanoseconds by the server's clock; the order in which events are decided
}

// Image is an image of an event, shown with the alert.
type Image struct {
	Src  string `json:"src" maxLength:"4096" doc:"URL, or the key of an upload."`
	Href string `json:"href,omitempty" maxLength:"4096" doc:"Where a click on it leads."`
	Alt  string `json:"alt,omitempty" maxLength:"4096" doc:"What it shows, in words."`
}

// Bounds of an event, in characters. A longer text is cut where cutting keeps its meaning (title, description, label
// values) and refused where it does not (keys).
const (
	MaxTitle        = 512
	MaxDescription  = 2048
	MaxAlertKey     = 255
	MaxGroupKey     = 255
	MaxLabels       = 50
	MaxLabelKey     = 128
	MaxLabelValue   = 2048
	MaxSeverityWord = 64
)

// Cut returns a text of at most n characters.
func Cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Title returns a title rule filled in: $name is replaced by the label of that name, and stays if there is none.
func Title(rule string, labels map[string]string) string {
	if strings.IndexByte(rule, '$') < 0 {
		return Cut(rule, MaxTitle)
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rule, "$")
		b.WriteString(before)
		if !found {
			return Cut(b.String(), MaxTitle)
		}
		n := 0
		for n < len(after) && isName(after[n]) {
			n++
		}
		if value, ok := labels[after[:n]]; ok {
			b.WriteString(value)
		} else {
			b.WriteString("$" + after[:n])
		}
		rule = after[n:]
	}
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// KeyOf returns an alert key for an alert whose source sends none, 32 hexadecimal digits. The same parts in the same
// order with the same labels always result in the same key.
func KeyOf(labels map[string]string, parts ...string) string {
	h := sha256.New()
	write := func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	for _, part := range parts {
		write(part)
	}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		write(name)
		write(labels[name])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Field returns the value of a field that filters may test. With Label it is all that filters read of an event.
func (e *Event) Field(name string) (string, bool) {
	switch name {
	case "severity":
		return e.Severity, true
	case "status":
		return e.Status, true
	case "title":
		return e.Title, true
	case "title_rule":
		return e.TitleRule, true
	case "description":
		return e.Description, true
	case "alert_key":
		return e.AlertKey, true
	case "group_key":
		return e.GroupKey, e.GroupKey != ""
	case "integration_id":
		return strconv.FormatInt(e.Integration, 10), true
	}
	return "", false
}

// Identifying writes the names of the labels that identify an alert at its source: in order, joined by commas. Names with a
// comma and labels without a value are left out.
func Identifying(labels map[string]string) string {
	names := make([]string, 0, len(labels))
	for name, value := range labels {
		if value != "" && !strings.Contains(name, ",") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ",")
}

// Label returns the value of a label.
func (e *Event) Label(name string) (string, bool) {
	value, ok := e.Labels[name]
	return value, ok
}
