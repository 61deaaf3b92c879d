package render

import (
	"encoding/json"
	"fmt"
	"strings"
	text "text/template"
	"time"
	"unicode/utf8"
)

// functions are what templates may call besides what the language has (docs/templates.md). None of them
// reaches outside, and none makes more out of little.
var functions = text.FuncMap{
	"upper":     strings.ToUpper,
	"lower":     strings.ToLower,
	"trim":      strings.TrimSpace,
	"contains":  func(part, s string) bool { return strings.Contains(s, part) },
	"hasPrefix": func(prefix, s string) bool { return strings.HasPrefix(s, prefix) },
	"hasSuffix": func(suffix, s string) bool { return strings.HasSuffix(s, suffix) },
	"replace":   func(old, new, s string) string { return bound(strings.ReplaceAll(s, old, new)) },
	"split":     func(separator, s string) []string { return strings.SplitN(s, separator, 1000) },
	"join":      func(separator string, list []string) string { return bound(strings.Join(list, separator)) },
	"truncate":  truncate,
	"default":   fallback,
	"toJSON":    toJSON,
	"date":      date,
	"duration":  duration,
	"emoji":     emoji,
	"colour":    colour,
	"color":     colour,
}

// bound cuts a text that is longer than anything a template may write.
func bound(s string) string { return s[:min(len(s), MaxOutput)] }

// truncate shortens a text to n characters, the last of them an ellipsis.
func truncate(n int, s string) string {
	if n < 1 || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// fallback is the value, or what to show when it is empty.
func fallback(instead, value any) any {
	switch v := value.(type) {
	case nil:
		return instead
	case string:
		if v == "" {
			return instead
		}
	case int64:
		if v == 0 {
			return instead
		}
	}
	return value
}

// toJSON is the value as JSON, for messages that are JSON themselves.
func toJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// date shows a moment in Unix seconds in a zone such as Europe/Berlin; empty: UTC.
func date(zone string, seconds int64) (string, error) {
	if seconds == 0 {
		return "", nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return "", fmt.Errorf("unknown time zone %q", zone)
	}
	return time.Unix(seconds, 0).In(location).Format("2006-01-02 15:04:05 MST"), nil
}

// duration shows seconds as people say them: 2h 5m.
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
