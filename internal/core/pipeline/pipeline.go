// Package pipeline changes an event on its way in: enrichment gives it further labels, the pipeline gives it
// another title, description or severity or drops it. It is pure.
//
// It must never lose an event because of a rule that cannot be carried out: such a rule is passed over, with
// its reason.
package pipeline

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
)

// Step is one look at one rule.
type Step struct {
	Stage   string // enrichment or pipeline
	Rule    string // such as rules[2]
	Matched bool
	Why     string // the condition that was met or not, and what was done, in words
	Over    bool   // it wanted more steps than a rule has, and counts as not matching
}

// Rule is a rule of an alert pipeline.
type Rule struct {
	Kind     string        `json:"kind" enum:"title_reset,description_reset,severity_reset,alert_drop,alert_inhibit" doc:"What it does."`
	If       filter.Filter `json:"if" required:"false" doc:"To which events: groups joined by OR, the conditions of a group by AND; empty: all."`
	Settings Settings      `json:"settings" doc:"What the kind needs."`
}

// Settings is what the kinds of rules need; each reads its own.
type Settings struct {
	Title         string        `json:"title,omitzero" maxLength:"512" doc:"Of title_reset: the new title, in which {{.title}}, {{.labels.name}} and so on are filled in."`
	Description   string        `json:"description,omitzero" maxLength:"2048" doc:"Of description_reset: the new description, likewise."`
	Severity      string        `json:"severity,omitzero" enum:"Critical,Warning,Info" doc:"Of severity_reset: the new severity."`
	Equals        []string      `json:"equals,omitzero" maxItems:"20" maxLength:"255" doc:"Of alert_inhibit: fields in which both alerts must agree."`
	SourceFilters filter.Filter `json:"source_filters,omitzero" doc:"Of alert_inhibit: the active alert that keeps this one silent."`
}

// The kinds of rules.
const (
	TitleReset       = "title_reset"
	DescriptionReset = "description_reset"
	SeverityReset    = "severity_reset"
	AlertDrop        = "alert_drop"
	AlertInhibit     = "alert_inhibit"
)

// Check says what is wrong with a rule: the path of the member and why. Its bounds are those of the tags, which an
// account file is not held against otherwise.
func (r Rule) Check() (path, why string) {
	if path, why := r.Settings.within(); path != "" {
		return path, why
	}
	if wrong, ok := filter.Check(r.If).(*filter.Error); ok {
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
		if len(s.Equals) == 0 {
			return "settings.equals", "must name at least one field"
		}
		if wrong, ok := filter.Check(s.SourceFilters).(*filter.Error); ok {
			return "settings.source_filters" + wrong.Path, wrong.Reason()
		}
	case AlertDrop:
	default:
		return "kind", fmt.Sprintf("must be title_reset, description_reset, severity_reset, alert_drop or alert_inhibit, got %q", r.Kind)
	}
	return "", ""
}

// The bounds of the texts and lists of rules, as the tags have them.
const (
	maxEquals     = 20
	maxField      = 255 // characters
	maxTemplate   = 500
	maxPattern    = 500
	maxDropLabels = 50
)

// within reports the first of the settings that is beyond its bound.
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

// firstLong reports a text of more characters than most.
func firstLong(path string, most int, texts ...string) (string, string) {
	for _, text := range texts {
		if n := utf8.RuneCountInString(text); n > most {
			return path, fmt.Sprintf("must have at most %d characters, got %d", most, n)
		}
	}
	return "", ""
}

// CheckAll reports what the rules of an integration are beyond together, in words that follow their name; empty:
// nothing. Every event meets all of them.
func CheckAll(rules []Rule) string {
	var size filter.Size
	for _, r := range rules {
		size = size.Add(filter.Measure(r.If)).Add(filter.Measure(r.Settings.SourceFilters))
	}
	return size.CheckList()
}

// CheckAllEnrichments is CheckAll of enrichment rules; their patterns count four times as much as the expressions of filters.
func CheckAllEnrichments(rules []Enrichment) string {
	var size filter.Size
	for _, r := range rules {
		size = size.Add(filter.Measure(filter.Filter{r.If}))
		if r.Kind == extraction {
			n, _ := filter.Instructions(r.Settings.Pattern, maxInstructions)
			size.Instructions += patternWeight * n
		}
	}
	return size.CheckList()
}

func checkText(path, text string) (string, string) {
	if text == "" {
		return path, "must not be empty"
	}
	if _, err := fill(text, &event.Event{}); err != nil {
		return path, err.Error()
	}
	return "", ""
}

func (r Rule) apply(e *event.Event) (done string, dropped bool) {
	switch r.Kind {
	case TitleReset:
		title, err := fill(r.Settings.Title, e)
		if err != nil {
			return "passed over, " + err.Error(), false
		}
		e.Title = event.Cut(title, event.MaxTitle)
		return fmt.Sprintf("the title is %q", e.Title), false
	case DescriptionReset:
		description, err := fill(r.Settings.Description, e)
		if err != nil {
			return "passed over, " + err.Error(), false
		}
		e.Description = event.Cut(description, event.MaxDescription)
		return "the description is replaced", false
	case SeverityReset:
		e.Status, e.Severity = r.Settings.Severity, r.Settings.Severity
		return "the severity is " + r.Settings.Severity, false
	case AlertDrop:
		return "dropped", true
	}
	return "", false
}

var placeholder = regexp.MustCompile(`\{\{\s*\.?(title|description|severity|status|alert_key|labels\.[^\s}]+)\s*\}\}`)

// fill puts the event's fields where {{.title}}, {{.labels.name}} and so on stand. What an event does not
// have is empty; anything else in braces is an error, because it would be read by people as it stands.
func fill(text string, e *event.Event) (string, error) {
	filled := placeholder.ReplaceAllStringFunc(text, func(match string) string {
		name := placeholder.FindStringSubmatch(match)[1]
		if label, ok := strings.CutPrefix(name, "labels."); ok {
			value, _ := e.Label(label)
			return value
		}
		value, _ := e.Field(name)
		return value
	})
	if rest := placeholder.ReplaceAllString(text, ""); strings.Contains(rest, "{{") {
		i := strings.Index(rest, "{{")
		return "", fmt.Errorf("cannot be read at %.30q: title, description, severity, status, alert_key and labels.NAME can stand in {{ }}", rest[i:])
	}
	return filled, nil
}

// Enrichment is a rule that gives an event labels or takes them away.
type Enrichment struct {
	Kind     string             `json:"kind" enum:"extraction,composition,mapping,drop" doc:"What it does; mapping is not available yet."`
	If       filter.Group       `json:"if" required:"false" doc:"Conditions, all of which an event must meet; empty: every event does."`
	Settings EnrichmentSettings `json:"settings" doc:"What the kind needs."`
}

// EnrichmentSettings is what the kinds of enrichment need; each reads its own.
type EnrichmentSettings struct {
	SourceField string   `json:"source_field,omitzero" maxLength:"255" doc:"Of extraction: title, description or labels.NAME."`
	ResultLabel string   `json:"result_label,omitzero" maxLength:"63" doc:"Of extraction and composition: the label to set, of small letters, digits and _."`
	Pattern     string   `json:"pattern,omitzero" maxLength:"500" doc:"Of extraction: a regular expression (RE2); the group named result, or all that matches, is taken."`
	Template    string   `json:"template,omitzero" maxLength:"500" doc:"Of composition: a text in which {{.title}}, {{.labels.name}} and so on are filled in."`
	Override    *bool    `json:"override,omitzero" doc:"A label that is there already is replaced; else it stays."`
	DropLabels  []string `json:"drop_labels,omitzero" maxItems:"50" maxLength:"128" doc:"Of drop: labels to take away."`
}

var label = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,62}\z`)

// Check says what is wrong with a rule: the path of the member and why.
func (r Enrichment) Check() (path, why string) {
	if len(r.If) > 0 {
		if wrong, ok := filter.Check(filter.Filter{r.If}).(*filter.Error); ok {
			return "if" + strings.TrimPrefix(wrong.Path, "[0]"), wrong.Reason()
		}
	}
	s := r.Settings
	if path, why := s.within(); path != "" {
		return path, why
	}
	switch {
	case r.Kind == "mapping":
		return "kind", "mapping needs mapping tables, which are not available yet"
	case r.Kind == "drop":
		if len(s.DropLabels) == 0 {
			return "settings.drop_labels", "must name at least one label"
		}
		return "", ""
	case r.Kind != extraction && r.Kind != "composition":
		return "kind", fmt.Sprintf("must be extraction, composition or drop, got %q", r.Kind)
	case !label.MatchString(s.ResultLabel):
		return "settings.result_label", fmt.Sprintf("must be a small letter and up to 62 small letters, digits or _, got %.80q", s.ResultLabel)
	case r.Kind == "composition":
		return checkText("settings.template", s.Template)
	case s.SourceField != "title" && s.SourceField != "description" && !strings.HasPrefix(s.SourceField, "labels."):
		return "settings.source_field", fmt.Sprintf("must be title, description or labels.NAME, got %.80q", s.SourceField)
	case s.Pattern == "":
		return "settings.pattern", "is required; g_json is not available"
	}
	if _, why := compilePattern(s.Pattern); why != "" {
		return "settings.pattern", why
	}
	return "", ""
}

// extraction takes a label out of a text by a regular expression.
const extraction = "extraction"

// The bounds of a pattern. What its groups find is carried along by every instruction, which makes one of a pattern
// take 20 to 60 ns for each character, several times as long as one of a filter.
const (
	maxInstructions = 300
	maxCaptures     = 10 // groups
	patternWeight   = 4  // how many instructions of a filter one of a pattern counts
)

// compilePattern holds the pattern of an extraction against its bounds, and compiles it when it is within them; else
// why says what it must be.
func compilePattern(pattern string) (re *regexp.Regexp, why string) {
	n, err := filter.Instructions(pattern, maxInstructions)
	if err == nil && n > maxInstructions {
		return nil, fmt.Sprintf("must have at most %d instructions when it is compiled, got %d", maxInstructions, n)
	}
	if err == nil {
		re, err = regexp.Compile(pattern)
	}
	if err != nil {
		return nil, fmt.Sprintf("must be a regular expression (RE2), got %.100q", pattern)
	}
	if n := re.NumSubexp(); n > maxCaptures {
		return nil, fmt.Sprintf("must have at most %d groups in brackets, got %d; (?:...) does not count", maxCaptures, n)
	}
	return re, ""
}

// within reports the first of the settings that is beyond its bound.
func (s EnrichmentSettings) within() (path, why string) {
	for _, c := range []struct {
		name  string
		most  int
		texts []string
	}{
		{"source_field", maxField, []string{s.SourceField}}, {"pattern", maxPattern, []string{s.Pattern}},
		{"template", maxTemplate, []string{s.Template}}, {"drop_labels", event.MaxLabelKey, s.DropLabels},
	} {
		if path, why := firstLong("settings."+c.name, c.most, c.texts...); path != "" {
			return path, why
		}
	}
	if n := len(s.DropLabels); n > maxDropLabels {
		return "settings.drop_labels", fmt.Sprintf("must have at most %d elements, got %d", maxDropLabels, n)
	}
	return "", ""
}

func (r *readyEnrichment) apply(meter *filter.Meter, e *event.Event) string {
	s := r.Settings
	var value string
	switch r.Kind {
	case "drop":
		for _, name := range s.DropLabels {
			delete(e.Labels, name)
		}
		return "takes away " + strings.Join(s.DropLabels, ", ")
	case "composition":
		var err error
		if value, err = fill(s.Template, e); err != nil {
			return "passed over, " + err.Error()
		}
	case extraction:
		if r.pattern == nil { // it was stored before it had bounds
			return "passed over, its pattern " + r.wrong
		}
		source, ok := e.Field(s.SourceField)
		if name, isLabel := strings.CutPrefix(s.SourceField, "labels."); isLabel {
			source, ok = e.Label(name)
		}
		if !meter.Spend(r.perByte * int64(len(source))) {
			return ""
		}
		found := r.pattern.FindStringSubmatch(source)
		if !ok || found == nil {
			return "its pattern finds nothing in " + s.SourceField
		}
		value = found[max(0, r.pattern.SubexpIndex("result"))]
	default:
		return "passed over, there is nothing of this kind"
	}
	_, there := e.Labels[s.ResultLabel]
	switch {
	case there && (s.Override == nil || !*s.Override):
		return s.ResultLabel + " is there already and stays"
	case !there && len(e.Labels) >= event.MaxLabels:
		return fmt.Sprintf("%s is not added, the event has %d labels", s.ResultLabel, len(e.Labels))
	}
	e.Labels[s.ResultLabel] = event.Cut(value, event.MaxLabelValue)
	return fmt.Sprintf("%s is %q", s.ResultLabel, e.Labels[s.ResultLabel])
}
