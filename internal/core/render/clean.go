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

// clean returns the incident with every text cleaned. Only the description and the values of labels keep several
// lines. It copies what it changes.
func (i Incident) clean() Incident {
	for _, s := range []*string{
		&i.IncidentID, &i.Title, &i.Severity, &i.Progress, &i.Account, &i.Channel,
		&i.TimeZone, &i.Event, &i.Link, &i.AckLink, &i.Reason,
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
	return i
}

func cleanLabels(labels map[string]string) map[string]string {
	all := make(map[string]string, len(labels))
	for name, value := range labels {
		all[OneLine(name)] = Clean(value)
	}
	return all
}
