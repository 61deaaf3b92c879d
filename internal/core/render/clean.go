package render

import (
	"strings"
	"unicode"
)

// Clean takes out of a text what is not seen and changes what is: marks that turn the direction of writing, control
// characters, and what is not UTF-8. All line breaks become \n.
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

// OneLine is Clean with every run of spaces and line breaks as one space.
func OneLine(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }

// clean cleans every text of an incident. Only its description and the values of labels may have several lines.
func (i Incident) clean() Incident {
	for _, s := range []*string{&i.IncidentID, &i.Title, &i.Severity, &i.Progress, &i.Account, &i.Channel, &i.TimeZone, &i.Event, &i.Link, &i.AckLink, &i.Reason} {
		*s = OneLine(*s)
	}
	i.Description, i.Labels = Clean(i.Description), cleanLabels(i.Labels)
	alerts, responders := make([]Alert, len(i.Alerts)), make([]Person, len(i.Responders))
	for n, a := range i.Alerts {
		a.Title, a.Severity, a.Status, a.Labels = OneLine(a.Title), OneLine(a.Severity), OneLine(a.Status), cleanLabels(a.Labels)
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
