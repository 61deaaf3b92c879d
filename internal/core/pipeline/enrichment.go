package pipeline

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// Enrichment is a rule that adds a label to an event or removes labels.
type Enrichment struct {
	Kind     string             `json:"kind" enum:"extraction,composition,mapping,drop" doc:"What it does; mapping is not available yet."`
	If       filter.Group       `json:"if,omitzero" doc:"Conditions, all of which an event must meet; empty: every event meets them."`
	Settings EnrichmentSettings `json:"settings" doc:"What the kind needs."`
}

// EnrichmentSettings is what the kinds of enrichment need; each kind reads its own members.
type EnrichmentSettings struct {
	SourceField string   `json:"source_field,omitzero" maxLength:"255" doc:"Of extraction: title, description or labels.NAME."`
	ResultLabel string   `json:"result_label,omitzero" maxLength:"63" doc:"Of extraction and composition: the label to set, of small letters, digits and _."`
	Pattern     string   `json:"pattern,omitzero" maxLength:"500" doc:"Of extraction: a regular expression (RE2); the label becomes the group named result, or the whole match."`
	Template    string   `json:"template,omitzero" maxLength:"500" doc:"Of composition: a text in which {{.title}}, {{.labels.name}} and so on are replaced, also written ${title}."`
	Override    *bool    `json:"override,omitzero" doc:"A label that is set already is replaced; else it stays."`
	DropLabels  []string `json:"drop_labels,omitzero" maxItems:"50" maxLength:"128" doc:"Of drop: labels to remove."`
}

var label = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,62}\z`)

// Check returns what is wrong with a rule: the path of the member and why; empty: nothing.
func (r Enrichment) Check() (path, why string) {
	if len(r.If) > 0 {
		var wrong *filter.Error
		if errors.As(filter.Check(filter.Filter{r.If}), &wrong) {
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

// Warnings returns what is probably not meant, each with the path of its member.
func (r Enrichment) Warnings() []string { return unknown("settings.template", r.Settings.Template) }

// extraction is the kind that sets a label from a text by a regular expression.
const extraction = "extraction"

// The bounds of a pattern. Every instruction copies what the groups match, so an instruction of a pattern takes 20 to
// 60 ns for each character, several times as long as an instruction of a filter.
const (
	maxInstructions = 300
	maxCaptures     = 10 // groups
	patternWeight   = 4  // instructions of a filter that one instruction of a pattern counts
)

// compilePattern compiles the pattern of an extraction if it is within its bounds; else re is nil and why is what the
// pattern must be.
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

// within returns the path of the first setting that is beyond its bound, and why; empty: none.
func (s EnrichmentSettings) within() (path, why string) {
	for _, c := range []struct {
		name  string
		most  int
		texts []string
	}{
		{"source_field", maxField, []string{s.SourceField}},
		{"pattern", maxPattern, []string{s.Pattern}},
		{"template", maxTemplate, []string{s.Template}},
		{"drop_labels", event.MaxLabelKey, s.DropLabels},
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

// CheckAllEnrichments is CheckAll for enrichment rules. An instruction of a pattern counts as four of a filter.
func CheckAllEnrichments(rules []Enrichment) string {
	var size filter.Size
	for _, r := range rules {
		size = size.Add(filter.Measure(filter.Filter{r.If}))
		if r.Kind == extraction {
			n, _ := filter.Instructions(r.Settings.Pattern, maxInstructions) // Check reports a malformed pattern
			size.Instructions += patternWeight * n
		}
	}
	return size.CheckList()
}

// apply applies a rule that matched, and returns why it matched with what it did.
func (r *readyEnrichment) apply(meter *filter.Meter, e *event.Event, why sentence.Value) sentence.Value {
	s := r.Settings
	var value string
	switch r.Kind {
	case "drop":
		for _, name := range s.DropLabels {
			delete(e.Labels, name)
		}
		return sentence.New("done_removes", why, s.DropLabels)
	case "composition":
		var err error
		value, err = fill(s.Template, e)
		if err != nil {
			return sentence.New("done_skipped", why, sentence.Raw(err.Error()))
		}
	case extraction:
		if r.pattern == nil { // an older version stored it, without bounds
			return sentence.New("done_skipped", why, sentence.Raw("its pattern "+r.wrong))
		}
		source, ok := e.Field(s.SourceField)
		if name, isLabel := strings.CutPrefix(s.SourceField, "labels."); isLabel {
			source, ok = e.Label(name)
		}
		if !meter.Spend(r.perByte * int64(len(source))) {
			return why
		}
		found := r.pattern.FindStringSubmatch(source)
		if !ok || found == nil {
			return sentence.New("done_no_match", why, s.SourceField)
		}
		value = found[max(0, r.pattern.SubexpIndex("result"))]
	default:
		return sentence.New("done_skipped", why, "the kind is not supported")
	}
	_, set := e.Labels[s.ResultLabel]
	switch {
	case set && (s.Override == nil || !*s.Override):
		return sentence.New("done_stays", why, s.ResultLabel)
	case !set && len(e.Labels) >= event.MaxLabels:
		return sentence.New("done_full", why, s.ResultLabel, len(e.Labels))
	}
	e.Labels[s.ResultLabel] = event.Cut(value, event.MaxLabelValue)
	return sentence.New("done_label", why, s.ResultLabel, e.Labels[s.ResultLabel])
}
