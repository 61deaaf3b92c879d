// Package pipeline changes an event before it is decided about. Enrichment adds and removes labels. The pipeline sets
// another title, description or severity, or drops the event. It is pure.
//
// It must never lose an event because of a rule that cannot be applied: such a rule is skipped, with its reason.
package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// Step is the result of one rule for an event.
type Step struct {
	Stage   string // enrichment or pipeline
	Rule    string // such as rules[2]
	Matched bool
	Why     sentence.Value // which condition was met or not, and what was done
	Over    bool           // it needed more steps than a rule has, and counts as not matching
}

// Rule is a rule of an alert pipeline.
type Rule struct {
	Kind     string         `json:"kind" enum:"title_reset,description_reset,severity_reset,alert_drop,alert_inhibit" doc:"What it does."`
	If       filter.Written `json:"if,omitzero" doc:"To which events: groups joined by OR, the conditions of a group by AND, or the conditions of one group; empty: all."`
	Settings Settings       `json:"settings" doc:"What the kind needs."`
}

// Settings is what the kinds of rules need; each reads its own.
type Settings struct {
	Title         string         `json:"title,omitzero" maxLength:"512" doc:"Of title_reset: the new title, in which {{.title}}, {{.labels.name}} and so on are replaced, also written ${title}."`
	Description   string         `json:"description,omitzero" maxLength:"2048" doc:"Of description_reset: the new description, likewise."`
	Severity      string         `json:"severity,omitzero" enum:"Critical,Warning,Info" doc:"Of severity_reset: the new severity."`
	Equals        []string       `json:"equals,omitzero" maxItems:"20" maxLength:"255" doc:"Of alert_inhibit: fields in which both alerts must agree."`
	SourceFilters filter.Written `json:"source_filters,omitzero" doc:"Of alert_inhibit: the active alert that inhibits this one, as if."`
}

// The kinds of rules.
const (
	TitleReset       = "title_reset"
	DescriptionReset = "description_reset"
	SeverityReset    = "severity_reset"
	AlertDrop        = "alert_drop"
	AlertInhibit     = "alert_inhibit"
)

// Check returns what is wrong with a rule: the path of the member and why; empty: nothing. It holds the bounds of the
// tags too, for rules that were not read from a request.
func (r Rule) Check() (path, why string) {
	if path, why := r.Settings.within(); path != "" {
		return path, why
	}
	var wrong *filter.Error
	if errors.As(filter.CheckWritten(r.If), &wrong) {
		return "if" + wrong.Path, wrong.Reason()
	}
	s := r.Settings
	switch r.Kind {
	case TitleReset:
		return checkText("settings.title", s.Title)
	case DescriptionReset:
		return checkText("settings.description", s.Description)
	case SeverityReset:
		if event.Rank(s.Severity) == 0 {
			return "settings.severity", fmt.Sprintf("must be Critical, Warning or Info, got %q", s.Severity)
		}
	case AlertInhibit:
		if s.Equals == nil {
			return "settings.equals", "is required; [] names no field"
		}
		if errors.As(filter.CheckWritten(s.SourceFilters), &wrong) {
			return "settings.source_filters" + wrong.Path, wrong.Reason()
		}
	case AlertDrop:
	default:
		return "kind", fmt.Sprintf(
			"must be title_reset, description_reset, severity_reset, alert_drop or alert_inhibit, got %q", r.Kind)
	}
	return "", ""
}

// Warnings returns what is probably not meant, each with the path of its member.
func (r Rule) Warnings() []string {
	s := r.Settings
	switch {
	case r.Kind == TitleReset:
		return unknown("settings.title", s.Title)
	case r.Kind == DescriptionReset:
		return unknown("settings.description", s.Description)
	case r.Kind == AlertInhibit && len(s.Equals) == 0:
		return []string{"settings.equals: names no field, so an active source inhibits every alert that the rule matches"}
	}
	return nil
}

// The bounds of the texts and lists of rules, the same as in the tags. Lengths are in characters.
const (
	maxEquals     = 20
	maxField      = 255
	maxTemplate   = 500
	maxPattern    = 500
	maxDropLabels = 50
)

// within returns the path of the first setting that is beyond its bound, and why; empty: none.
func (s Settings) within() (path, why string) {
	path, why = firstLong("settings.title", event.MaxTitle, s.Title)
	if path == "" {
		path, why = firstLong("settings.description", event.MaxDescription, s.Description)
	}
	if path == "" && len(s.Equals) > maxEquals {
		return "settings.equals", fmt.Sprintf("must have at most %d elements, got %d", maxEquals, len(s.Equals))
	}
	if path == "" {
		path, why = firstLong("settings.equals", maxField, s.Equals...)
	}
	return path, why
}

// firstLong returns path, and why, if one of the texts has more characters than most; else two empty texts.
func firstLong(path string, most int, texts ...string) (string, string) {
	for _, text := range texts {
		if n := utf8.RuneCountInString(text); n > most {
			return path, fmt.Sprintf("must have at most %d characters, got %d", most, n)
		}
	}
	return "", ""
}

// CheckAll returns the bound that the rules of an integration are beyond together, in words that follow their name;
// empty: none. Every event is compared with all rules.
func CheckAll(rules []Rule) string {
	var size filter.Size
	for _, r := range rules {
		size = size.Add(filter.Measure(r.If.Value)).Add(filter.Measure(r.Settings.SourceFilters.Value))
	}
	return size.CheckList()
}

// checkText rejects a text that is empty or in which something else than fields is in {{ }}.
func checkText(path, text string) (string, string) {
	if text == "" {
		return path, "must not be empty"
	}
	if _, err := fill(text, &event.Event{}); err != nil {
		return path, err.Error()
	}
	return "", ""
}

// apply applies a rule that matched, and returns why it matched with what it did.
func (r Rule) apply(e *event.Event, why sentence.Value) (done sentence.Value, dropped bool) {
	switch r.Kind {
	case TitleReset:
		title, err := fill(r.Settings.Title, e)
		if err != nil {
			return sentence.New("done_skipped", why, sentence.Raw(err.Error())), false
		}
		e.Title = event.Cut(title, event.MaxTitle)
		return sentence.New("done_title", why, e.Title), false
	case DescriptionReset:
		description, err := fill(r.Settings.Description, e)
		if err != nil {
			return sentence.New("done_skipped", why, sentence.Raw(err.Error())), false
		}
		e.Description = event.Cut(description, event.MaxDescription)
		return sentence.New("done_description", why), false
	case SeverityReset:
		e.Status, e.Severity = r.Settings.Severity, r.Settings.Severity
		return sentence.New("done_severity", why, r.Settings.Severity), false
	case AlertDrop:
		return sentence.New("named_why", why, sentence.New("dropped")), true
	}
	return why, false
}

// placeholder is a field in a text: {{.title}}, or ${title} as the Terraform provider's examples write it.
var placeholder = regexp.MustCompile(`\{\{\s*` + field + `\s*\}\}|\$\{\s*` + field + `\s*\}`)

const (
	field  = `\.?(title|description|severity|status|alert_key|labels\.[^\s}]+)`
	fields = "title, description, severity, status, alert_key and labels.NAME"
)

// fill replaces {{.title}}, ${labels.name} and so on by the event's fields. A field that the event does not have is
// empty. Anything else in {{ }} is an error, because people would read it as it is written. Anything else in ${ } stays:
// see unknown.
func fill(text string, e *event.Event) (string, error) {
	filled := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		names := placeholder.FindStringSubmatch(match)
		name := cmp.Or(names[1], names[2])
		if label, ok := strings.CutPrefix(name, "labels."); ok {
			value, _ := e.Label(label)
			return value
		}
		value, _ := e.Field(name)
		return value
	})
	if rest := placeholder.ReplaceAllString(text, ""); strings.Contains(rest, "{{") {
		i := strings.Index(rest, "{{")
		return "", fmt.Errorf("is malformed at %.30q: %s are allowed in {{ }}", rest[i:], fields)
	}
	return filled, nil
}

var dollar = regexp.MustCompile(`\$\{[^}]*\}?`)

// unknown returns a warning for what is in ${ } in a text and is no field: it may be meant as it is written. Empty: nothing.
func unknown(path, text string) []string {
	rest := placeholder.ReplaceAllString(text, "")
	if found := dollar.FindString(rest); found != "" {
		return []string{fmt.Sprintf("%s: %.60q stays as it is written: %s are replaced in ${ }", path, found, fields)}
	}
	return nil
}
