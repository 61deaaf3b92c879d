package render

import (
	"math"
	"strings"
	"unicode"
)

// Clean removes the invisible characters that change how a text looks: marks of the direction of writing and control
// characters. Invalid UTF-8 becomes U+FFFD, and all line breaks become \n.
func Clean(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == '\uFEFF':
			return -1
		}
		return r
	}, s)
}

// OneLine returns Clean of s with every run of spaces and line breaks replaced by one space.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// Cleaned returns the incident with every text cleaned. Only the description and the values of labels keep several
// lines. It copies what it changes.
func (i Incident) Cleaned() Incident {
	for _, s := range []*string{
		&i.IncidentID, &i.Title, &i.Severity, &i.Progress, &i.Account, &i.Channel,
		&i.TimeZone, &i.Event, &i.Link, &i.AckLink, &i.Question, &i.AnswerLink, &i.DetailUrl, &i.Reason,
		&i.Headline, &i.Where, &i.Next, &i.Note, &i.AckedBy, &i.EndedBy, &i.Merged, &i.MergedFrom, &i.MergedInto,
		&i.AccountTimeZone, &i.GroupMethod, &i.AssignedTo.EscalateRuleID, &i.AssignedTo.EscalateRuleName, &i.AssignedTo.Type,
	} {
		*s = OneLine(*s)
	}
	i.Description, i.Labels = Clean(i.Description), cleanLabels(i.Labels)
	alerts, responders := make([]Alert, len(i.Alerts)), make([]Person, len(i.Responders))
	for n, a := range i.Alerts {
		a.Title = OneLine(a.Title)
		a.Severity = OneLine(a.Severity)
		a.Status = OneLine(a.Status)
		a.Description, a.Labels = Clean(a.Description), cleanLabels(a.Labels)
		alerts[n] = a
	}
	for n, p := range i.Responders {
		responders[n] = p.cleaned()
	}
	i.Alerts, i.Responders = alerts, responders
	i.Shared = cleanLabels(i.Shared)
	differ, links := make([]Difference, len(i.Differ)), make([]Link, len(i.Links))
	for n, d := range i.Differ {
		differ[n] = Difference{OneLine(d.Name), d.Count, oneLines(d.Values), d.None}
	}
	for n, l := range i.Links {
		links[n] = Link{OneLine(l.Name), OneLine(l.URL)}
	}
	i.Differ = differ
	i.Links = links
	i.Notified = oneLines(i.Notified)
	i.Creator = i.Creator.cleaned()
	i.Closer = i.Closer.cleaned()
	i.Owner = i.Owner.cleaned()
	i.Impact = Clean(i.Impact)
	i.RootCause = Clean(i.RootCause)
	i.Resolution = Clean(i.Resolution)
	fields := map[string]any{}
	images := make([]Image, len(i.Images))
	values := map[string]LabelValues{}
	for name, value := range i.Fields {
		fields[OneLine(name)] = cleanValue(value)
	}
	for n, image := range i.Images {
		images[n] = Image{OneLine(image.Src), OneLine(image.Href), OneLine(image.Alt)}
	}
	for name, v := range i.LabelValues {
		values[OneLine(name)] = LabelValues{oneLines(v.All), OneLine(v.Min), OneLine(v.Max)}
	}
	i.Fields = fields
	i.Images = images
	i.LabelValues = values
	return i
}

func (p Person) cleaned() Person {
	p.Name, p.Email = OneLine(p.Name), OneLine(p.Email)
	return p
}

func (a *Actor) cleaned() *Actor {
	if a == nil {
		return nil
	}
	return &Actor{a.Person.cleaned()}
}

// cleanValue cleans the value of a custom field: a text, a list of texts, a number or a truth value.
func cleanValue(value any) any {
	switch v := value.(type) {
	case string:
		return Clean(v)
	case []any:
		list := make([]any, len(v))
		for n, item := range v {
			list[n] = cleanValue(item)
		}
		return list
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return int64(v) // 1000000, not 1e+06
		}
		return v
	case int64, bool:
		return v
	}
	return nil
}

func cleanLabels(labels map[string]string) map[string]string {
	all := make(map[string]string, len(labels))
	for name, value := range labels {
		all[OneLine(name)] = Clean(value)
	}
	return all
}

// oneLines returns OneLine of every text of a list.
func oneLines(list []string) []string {
	lines := make([]string, len(list))
	for n, s := range list {
		lines[n] = OneLine(s)
	}
	return lines
}
