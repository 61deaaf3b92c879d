// Package event is the form that all sources of alerts are brought to: one thing that a monitoring system
// says about one alert at one moment. It is pure, and it must never know how a source spells it.
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

// The severities of an event and of an alert. Ok says that the alert is over.
const (
	Critical = "Critical"
	Warning  = "Warning"
	Info     = "Info"
	Ok       = "Ok"
)

// Rank orders severities: Critical is 3, Warning 2, Info 1, anything else 0.
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

// Event is what came in, checked and cut to the bounds below.
type Event struct {
	ID          string            `json:"event_id"` // 24 hexadecimal digits
	Integration int64             `json:"integration_id"`
	AlertKey    string            `json:"alert_key"`  // events with the same key are about the same alert
	TitleRule   string            `json:"title_rule"` // such as $service::$cluster; what the title is made of
	Title       string            `json:"title"`
	Description string            `json:"description,omitempty"`
	Status      string            `json:"event_status"`   // Critical, Warning, Info or Ok
	Severity    string            `json:"event_severity"` // Status, but of an Ok event what the source said besides; never empty
	Labels      map[string]string `json:"labels,omitempty"`
	Images      []Image           `json:"images,omitempty"`
	Time        int64             `json:"event_time"`  // Unix seconds; by the source's clock where it tells, else when it came
	Received    int64             `json:"received_at"` // Unix nanoseconds by ours; the order in which events are decided
}

// Image is a picture that belongs to an event.
type Image struct {
	Src  string `json:"src" doc:"URL, or the key of an upload."`
	Href string `json:"href,omitempty" doc:"Where a click on it leads."`
	Alt  string `json:"alt,omitempty" doc:"What it shows, in words."`
}

// Bounds of an event, in characters. What is longer is cut where cutting keeps its meaning (title,
// description, label values) and refused where it does not (keys).
const (
	MaxTitle       = 512
	MaxDescription = 2048
	MaxAlertKey    = 255
	MaxLabels      = 50
	MaxLabelKey    = 128
	MaxLabelValue  = 2048
)

// Cut shortens a text to so many characters.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
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

// Title fills a title rule in: $name stands for the label of that name, and what stands for no label is
// left as it is.
func Title(rule string, labels map[string]string) string {
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

// KeyOf makes an alert key of what identifies an alert when its source gives none: the same parts in the
// same order, and the same labels, always make the same key, of 32 hexadecimal digits.
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

// Field and Label are what filters read of an event.
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
	case "integration_id":
		return strconv.FormatInt(e.Integration, 10), true
	}
	return "", false
}

// Label is the value of a label.
func (e *Event) Label(name string) (string, bool) {
	value, ok := e.Labels[name]
	return value, ok
}
