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

	"tocsin/internal/event"
	"tocsin/internal/filter"
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
	If       filter.Filter `json:"if" required:"false" maxItems:"100" doc:"To which events: groups joined by OR, the conditions of a group by AND; empty: all."`
	Settings Settings      `json:"settings" doc:"What the kind needs."`
}

// Settings is what the kinds of rules need; each reads its own.
type Settings struct {
	Title         string        `json:"title,omitzero" maxLength:"512" doc:"Of title_reset: the new title, in which {{.title}}, {{.labels.name}} and so on are filled in."`
	Description   string        `json:"description,omitzero" maxLength:"2048" doc:"Of description_reset: the new description, likewise."`
	Severity      string        `json:"severity,omitzero" enum:"Critical,Warning,Info" doc:"Of severity_reset: the new severity."`
	Equals        []string      `json:"equals,omitzero" maxItems:"20" maxLength:"255" doc:"Of alert_inhibit: fields in which both alerts must agree."`
	SourceFilters filter.Filter `json:"source_filters,omitzero" maxItems:"100" doc:"Of alert_inhibit: the active alert that keeps this one silent."`
}

// The kinds of rules.
const (
	TitleReset       = "title_reset"
	DescriptionReset = "description_reset"
	SeverityReset    = "severity_reset"
	AlertDrop        = "alert_drop"
	AlertInhibit     = "alert_inhibit"
)

// Check says what is wrong with a rule: the path of the member and why.
func (r Rule) Check() (path, why string) {
	if wrong, ok := filter.Check(r.If).(*filter.Error); ok {
		return "if" + wrong.Path, fmt.Sprintf("%s, got %.100q", wrong.Want, wrong.Value)
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
			return "settings.source_filters" + wrong.Path, fmt.Sprintf("%s, got %.100q", wrong.Want, wrong.Value)
		}
	case AlertDrop:
	default:
		return "kind", fmt.Sprintf("must be title_reset, description_reset, severity_reset, alert_drop or alert_inhibit, got %q", r.Kind)
	}
	return "", ""
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
	If       []filter.Condition `json:"if" required:"false" maxItems:"100" doc:"Conditions, all of which an event must meet; empty: every event does."`
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
			return "if" + wrong.Path[len("[0]"):], fmt.Sprintf("%s, got %.100q", wrong.Want, wrong.Value)
		}
	}
	s := r.Settings
	switch {
	case r.Kind == "mapping":
		return "kind", "mapping needs mapping tables, which are not available yet"
	case r.Kind == "drop":
		if len(s.DropLabels) == 0 {
			return "settings.drop_labels", "must name at least one label"
		}
		return "", ""
	case r.Kind != "extraction" && r.Kind != "composition":
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
	if _, err := regexp.Compile(s.Pattern); err != nil {
		return "settings.pattern", fmt.Sprintf("must be a regular expression (RE2), got %.100q", s.Pattern)
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
	case "extraction":
		if r.pattern == nil {
			return "passed over, its pattern cannot be read"
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
