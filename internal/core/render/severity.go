package render

import "tocsin/internal/core/event"

// publicColours are the colours that templates of the public language have for severities.
var publicColours = map[string]string{
	event.Critical: "#C80000", event.Warning: "#FA7D00", event.Info: "#FABE00", event.Ok: "#008800",
}

// wecomColours are the names of the three colours that WeCom has.
var wecomColours = map[string]string{
	event.Critical: "warning", event.Warning: "warning", event.Info: "comment", event.Ok: "info",
}

// toSeverity returns the name of a severity for people.
func toSeverity(severity string) string {
	if severity == event.Ok {
		return "Recovered"
	}
	return severity
}

// coloured returns a text in the colour of a severity, in the markup of the target: the text as it is where there are no
// colours.
func (t *Target) coloured(severity, text string) string {
	switch colour, known := publicColours[severity]; {
	case t == HTML && known:
		return `<span style="color:` + colour + `">` + t.label(text) + "</span>"
	case t.colours == nil || !known:
		return t.label(text)
	}
	return `<font color="` + t.colours[severity] + `">` + t.label(text) + "</font>"
}
