package render

import (
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
		&i.TimeZone, &i.Event, &i.Link, &i.AckLink, &i.Reason,
		&i.Headline, &i.Where, &i.Next, &i.AckedBy, &i.EndedBy,
	} {
		*s = OneLine(*s)
	}
	i.Description, i.Labels = Clean(i.Description), cleanLabels(i.Labels)
	alerts, responders := make([]Alert, len(i.Alerts)), make([]Person, len(i.Responders))
	for n, a := range i.Alerts {
		a.Title, a.Severity, a.Status = OneLine(a.Title), OneLine(a.Severity), OneLine(a.Status)
		a.Labels = cleanLabels(a.Labels)
		alerts[n] = a
	}
	for n, p := range i.Responders {
		responders[n] = Person{OneLine(p.Name), OneLine(p.Email)}
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
	i.Differ, i.Links, i.Notified = differ, links, oneLines(i.Notified)
	return i
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
