// Package standard reads Tocsin's own format: one alert as a JSON object, or several in an array.
//
// It must never guess: a member that is not as documented in docs/sources.md is refused by name.
package standard

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
	"tocsin/internal/source"
)

type alert struct {
	TitleRule   string            `json:"title_rule"`
	Status      string            `json:"event_status"`
	Key         string            `json:"alert_key"`
	Description string            `json:"description"`
	Labels      map[string]string `json:"labels"`
	Images      []event.Image     `json:"images"`
	GroupKey    string            `json:"group_key"`
}

// Parse returns the events of a body. A malformed alert of an array is refused alone; an error is a fault of the whole
// body.
func Parse(r source.Request) (b source.Batch, err error) {
	if jsontext.Value(r.Body).Kind() == '[' {
		var list source.List
		if err := r.ReadList(&list, &list); err != nil { // strict with each alert, so that none costs another
			return b, err
		}
		if len(list.Items) == 0 {
			return b, r.Empty("")
		}
		b.Events = make([]event.Event, 0, len(list.Items))
		for i, item := range list.Items {
			if e, err := one(item, r.At); err != nil {
				b.Refuse(i, fmt.Sprintf("[%d]", i), err)
			} else {
				b.Events = append(b.Events, e)
			}
		}
		b.RefuseRest(r, &list, "")
		return b, nil
	}
	e, err := one(r.Body, r.At)
	if err == nil {
		b.Events = []event.Event{e}
	}
	return b, err
}

// one returns the event of one alert, or a fault.
func one(body []byte, at time.Time) (e event.Event, err error) {
	var a alert
	if err := json.Unmarshal(body, &a); err != nil {
		return e, source.Unreadable(err)
	}
	a.TitleRule = source.Clean(a.TitleRule)
	a.Key = source.Clean(a.Key)
	a.Description = source.Clean(a.Description)
	a.GroupKey = source.Clean(a.GroupKey)
	if err := a.check(); err != nil {
		return e, err
	}
	labels := source.Labels(a.Labels)
	if a.Key == "" {
		a.Key = event.KeyOf(labels, a.TitleRule)
	}
	rule := event.Cut(a.TitleRule, event.MaxTitle)
	return event.Event{
		AlertKey:    a.Key,
		TitleRule:   rule,
		Title:       source.Title(rule, labels),
		Description: event.Cut(a.Description, event.MaxDescription),
		Status:      a.Status,
		Severity:    severity(a.Status),
		Labels:      labels,
		Images:      a.Images,
		GroupKey:    a.GroupKey,
		Time:        at.Unix(),
	}, nil
}

// check returns a fault for the first member that is out of bounds, or nil.
func (a *alert) check() error {
	switch {
	case strings.TrimSpace(a.TitleRule) == "":
		return fault.Invalid("title_rule", "is required")
	case a.Status != event.Critical && a.Status != event.Warning && a.Status != event.Info && a.Status != event.Ok:
		return fault.Invalid("event_status", "must be Critical, Warning, Info or Ok, got %.100q", a.Status)
	case a.Key == "" && a.Status == event.Ok:
		return fault.Invalid("alert_key", "is required with event_status Ok: it names the alert that is over")
	case utf8.RuneCountInString(a.Key) > event.MaxAlertKey:
		return fault.Invalid("alert_key", "must be at most %d characters, got %d", event.MaxAlertKey, utf8.RuneCountInString(a.Key))
	case utf8.RuneCountInString(a.GroupKey) > event.MaxGroupKey:
		return fault.Invalid("group_key", "must be at most %d characters, got %d", event.MaxGroupKey, utf8.RuneCountInString(a.GroupKey))
	case len(a.Labels) > event.MaxLabels:
		return fault.Invalid("labels", "must be at most %d, got %d", event.MaxLabels, len(a.Labels))
	}
	var wrong []string
	for name := range a.Labels {
		if !source.IsLabelName(name) || len(name) > event.MaxLabelKey {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) > 0 {
		return fault.Invalid("labels",
			"names must be letters, digits, _ and dots, not begin with a digit and have at most %d characters, got %.150q",
			event.MaxLabelKey, slices.Min(wrong))
	}
	return checkImages(a.Images)
}

// severity returns the severity of a status. This source does not state the severity of an alert that is over;
// it is Info.
func severity(status string) string {
	if status == event.Ok {
		return event.Info
	}
	return status
}

func checkImages(images []event.Image) error {
	if len(images) > source.MaxImages {
		return fault.Invalid("images", "must be at most %d, got %d", source.MaxImages, len(images))
	}
	seen := map[string]bool{}
	for i, image := range images {
		at := fmt.Sprintf("images[%d].", i)
		switch {
		case image.Src == "" || utf8.RuneCountInString(image.Src) > source.MaxURL || !source.IsURL(image.Src) && !isKey(image.Src):
			return fault.Invalid(at+"src",
				"must be an http or https URL, or an image key that begins with img_, of at most %d characters, got %.300q",
				source.MaxURL, image.Src)
		case image.Href != "" && (!source.IsURL(image.Href) || utf8.RuneCountInString(image.Href) > source.MaxURL):
			return fault.Invalid(at+"href", "must be an http or https URL of at most %d characters, got %.300q", source.MaxURL, image.Href)
		case utf8.RuneCountInString(image.Alt) > source.MaxAlt:
			return fault.Invalid(at+"alt", "must be at most %d characters, got %d", source.MaxAlt, utf8.RuneCountInString(image.Alt))
		case source.Clean(image.Alt) != image.Alt:
			return fault.Invalid(at+"alt", "must not hold the character NUL, got %.300q", image.Alt)
		case image.Alt != "" && seen[image.Alt]:
			return fault.Invalid(at+"alt", "must not be given twice, got %q", image.Alt)
		}
		seen[image.Alt] = true
	}
	return nil
}

// isKey reports whether a text is the key of an uploaded image.
func isKey(s string) bool { return strings.HasPrefix(s, "img_") && source.Clean(s) == s }
