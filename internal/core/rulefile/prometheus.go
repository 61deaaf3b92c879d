package rulefile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tocsin/internal/core/evaluate"
)

// prometheus reads an alerting rule of Prometheus. Each row of the expression is an alert, and its absence ends it, as there.
func (r *reader) prometheus(g *group, e *entry, rule *Rule, item *Item) error {
	if strings.TrimSpace(e.Expr) == "" {
		return errors.New("it has no expr")
	}
	counts, err := rule.counts()
	if err != nil {
		return err
	}
	labels := maps.Clone(g.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, e.Labels)
	expr := rule.label(labels, e.Expr, item)
	rule.describe(e.Annotations, item)
	rule.Config = evaluate.Config{
		Queries:      []evaluate.Query{{Name: "A", Expr: expr}},
		CheckAnydata: &evaluate.Anydata{Counts: counts, Severity: r.level(labels, item), Recovery: evaluate.Recovery{Mode: "nodata"}},
	}
	return nil
}

// one is a template that is a label of the row alone.
var one = regexp.MustCompile(`^\s*{{-?\s*(?:\$labels|\.Labels)\.([a-zA-Z_]\w*)\s*-?}}\s*$`)

// label sets the labels of a rule, and returns the expression with the templates among them.
func (r *Rule) label(labels map[string]string, expr string, item *Item) string {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		value := labels[name]
		of := one.FindStringSubmatch(value)
		switch {
		case name == "alertname":
			item.say("the label alertname is not carried: rule_name is the rule's name")
		case !strings.Contains(value, "{{"):
			r.Labels[name] = value
		case of != nil:
			expr = fmt.Sprintf("label_replace(%s, %q, \"$1\", %q, \"(.*)\")", strings.TrimSpace(expr)+"\n", name, of[1])
			item.say("the label %s is a label of the row, by label_replace in the query", name)
		default:
			item.say("the label %s is not carried: %s", name, reason(value))
		}
	}
	return expr
}

// describe sets the description of the templates, and the annotations that are none.
func (r *Rule) describe(annotations map[string]string, item *Item) {
	rank := func(name string) string { // summary and description first
		return map[string]string{"summary": "0", "description": "1"}[name] + "2" + name
	}
	names := slices.SortedFunc(maps.Keys(annotations), func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	var parts []string
	for _, name := range names {
		text, plainly, ok := translate(annotations[name])
		shown := name == "summary" || name == "description"
		switch {
		case !ok:
			item.say("the annotation %s is not carried: %s", name, reason(annotations[name]))
			continue
		case plainly:
			item.say("the annotation %s has its numbers written plainly", name)
		}
		if !shown && !strings.Contains(text, "{{") {
			r.Annotations[name] = text
			continue
		}
		if !shown {
			text = name + ": " + text
			item.say("the annotation %s is a line of the description", name)
		}
		parts = append(parts, strings.TrimSpace(text))
	}
	r.Description = strings.Join(parts, "\n")
}

var (
	action    = regexp.MustCompile(`(?s){{-?\s*(.*?)\s*-?}}`)
	reference = regexp.MustCompile(`^(?:\$labels|\.Labels)\.([a-zA-Z_]\w*)$|^(?:\$value|\.Value)$`)
	formatted = regexp.MustCompile(`^(?:humani[z]e\w*|printf "%[^"]*")\s+(?:\$value|\.Value)$|` +
		`^(?:\$value|\.Value)(?:\s*\|\s*(?:humani[z]e\w*|printf "%[^"]*"))+$`)
)

// translate returns a template of Prometheus in the form that templates have here. plainly reports whether numbers lose their
// format; ok is false if it cannot be expressed.
func translate(text string) (translated string, plainly, ok bool) {
	ok = true
	translated = action.ReplaceAllStringFunc(text, func(found string) string {
		inner := action.FindStringSubmatch(found)[1]
		of := reference.FindStringSubmatch(inner)
		switch {
		case of != nil && of[1] != "":
			return "{{$labels." + of[1] + "}}"
		case of != nil:
			return "{{$value}}"
		case formatted.MatchString(inner):
			plainly = true
			return "{{$value}}"
		}
		ok = false
		return ""
	})
	rest := action.ReplaceAllString(text, "")
	return translated, plainly, ok && !strings.Contains(rest, "{{") && !strings.Contains(rest, "}}")
}

// reason returns why a template is not carried.
func reason(text string) string {
	for _, found := range action.FindAllStringSubmatch(text, -1) {
		if !reference.MatchString(found[1]) && !formatted.MatchString(found[1]) {
			return fmt.Sprintf("templates here have no %.80q", found[1])
		}
	}
	return "a template can be in the description only"
}
