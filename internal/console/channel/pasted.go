package channel

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/alert"
	"tocsin/internal/console/page"
)

// readPasted reads an alert that was pasted: as a source pushes it, or as the API shows it.
func readPasted(v *page.Visit, text string) (*alert.Described, error) {
	var in struct {
		Title       string            `json:"title"`
		TitleRule   string            `json:"title_rule"`
		Description string            `json:"description"`
		Key         string            `json:"alert_key"`
		Severity    string            `json:"alert_severity"`
		Event       string            `json:"event_status"`
		Integration int64             `json:"integration_id"`
		Labels      map[string]string `json:"labels"`
	}
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		line, column := whereIn(text, err)
		return nil, page.Wrong(v.T("The alert cannot be read as JSON in line %d, column %d: %s", line, column, reasonOf(v, err)))
	}
	described := &alert.Described{Title: cmp.Or(in.Title, in.TitleRule), TitleRule: in.TitleRule, Description: in.Description,
		AlertKey: in.Key, Labels: in.Labels, IntegrationID: in.Integration}
	for _, severity := range []string{in.Event, in.Severity} {
		if slices.Contains([]string{"Critical", "Warning", "Info", "Ok"}, severity) {
			described.AlertSeverity = severity
		}
	}
	return described, nil
}

// whereIn returns the line and the column, from 1, at which a text stops being what was to be read.
func whereIn(text string, err error) (line, column int) {
	offset := int64(len(text))
	var broken *jsontext.SyntacticError
	var other *json.SemanticError
	if errors.As(err, &broken) {
		offset = broken.ByteOffset
	} else if errors.As(err, &other) {
		offset = other.ByteOffset
	}
	before := text[:min(max(offset, 0), int64(len(text)))]
	last := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[last:]) + 1
}

// reasonOf returns why a text is not what was to be read, without the place.
func reasonOf(v *page.Visit, err error) string {
	var broken *jsontext.SyntacticError
	var other *json.SemanticError
	switch {
	case errors.As(err, &broken) && broken.Err != nil:
		return page.Cut(broken.Err.Error(), 200)
	case errors.As(err, &other) && other.JSONPointer != "":
		return v.T("%s must be another kind of value", page.Cut(string(other.JSONPointer), 200))
	}
	return page.Cut(strings.TrimPrefix(err.Error(), "json: "), 200)
}
