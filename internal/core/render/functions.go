package render

import (
	"fmt"
	"maps"
	"strings"
	text "text/template"
	"unicode/utf8"
)

// functions returns what templates may call besides the functions of the language (docs/templates.md). None of them
// reads anything outside its arguments, and all take what they write from the budget: functions of the language that
// would not are replaced.
func functions(b *budget) text.FuncMap {
	all := text.FuncMap{
		"upper":     func(s string) (string, error) { return b.made(strings.ToUpper(s)) },
		"lower":     func(s string) (string, error) { return b.made(strings.ToLower(s)) },
		"trim":      func(s string) (string, error) { return strings.TrimSpace(s), b.spend(len(s)) },
		"contains":  func(part, s string) (bool, error) { return strings.Contains(s, part), b.spend(len(s)) },
		"hasPrefix": func(prefix, s string) (bool, error) { return strings.HasPrefix(s, prefix), b.spend(len(prefix)) },
		"hasSuffix": func(suffix, s string) (bool, error) { return strings.HasSuffix(s, suffix), b.spend(len(suffix)) },
		"replace":   b.replace,
		"split":     b.split,
		"join":      b.join,
		"truncate":  func(n int, s string) (string, error) { return truncate(n, s), b.spend(len(s)) },
		"toJSON":    b.toJSON,
		"date":      b.date,
		"ago":       b.ago,
		"now":       func() moment { return moment(b.now) },
		"jsonGet":   b.jsonGet,
		"duration":  duration,
		"emoji":     emoji,
		"colour":    colour,
		"color":     colour,
		"print":     b.written(fmt.Sprint),
		"println":   b.written(fmt.Sprintln),
		"printf":    b.printf,
		"html":      b.written(text.HTMLEscaper),
		"js":        b.written(text.JSEscaper),
		"urlquery":  b.written(text.URLQueryEscaper),

		"toSeverity":      toSeverity,
		"joinAlertLabels": b.joinAlertLabels,
		"alertLabels":     func(of any, name string) ([]string, error) { v, err := b.labelValues(of, name); return v.All, err },
		"maxAlertLabel":   func(of any, name string) (string, error) { v, err := b.labelValues(of, name); return v.Max, err },
		"minAlertLabel":   func(of any, name string) (string, error) { v, err := b.labelValues(of, name); return v.Min, err },
		"transferImage":   func(of any, src string) string { return "" },
		"imageSrcToURL":   func(of any, src string) string { return imageURL(src) },
		"imageAltToURL":   imageAltToURL,
	}
	maps.Copy(all, general(b))
	return all
}

// truncate shortens a text to n characters, the last an ellipsis. n below 1 leaves it as it is.
func truncate(n int, s string) string {
	if n < 1 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// duration returns seconds in the two largest units: 2h 5m.
func duration(seconds int64) string {
	switch d := max(seconds, 0); {
	case d < 60:
		return fmt.Sprintf("%ds", d)
	case d < 3600:
		return fmt.Sprintf("%dm %ds", d/60, d%60)
	case d < 86400:
		return fmt.Sprintf("%dh %dm", d/3600, d%3600/60)
	default:
		return fmt.Sprintf("%dd %dh", d/86400, d%86400/3600)
	}
}

func emoji(severity string) string {
	switch severity {
	case "Critical":
		return "🔴"
	case "Warning":
		return "🟠"
	case "Info":
		return "🔵"
	}
	return "🟢"
}

func colour(severity string) string {
	switch severity {
	case "Critical":
		return "#C80000"
	case "Warning":
		return "#FA7D00"
	case "Info":
		return "#1F6FEB"
	}
	return "#008800"
}
