package insight

import (
	"html"
	"strings"
)

// PlainText returns the text of HTML: without tags, with line breaks where blocks end.
func PlainText(text string) string {
	var b strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "<")
		b.WriteString(before)
		if !found {
			break
		}
		tag, after, closed := strings.Cut(rest, ">")
		if !closed || tag == "" || !strings.ContainsRune("/!", rune(tag[0])) && (tag[0]|0x20 < 'a' || tag[0]|0x20 > 'z') {
			b.WriteByte('<') // less than
			text = rest
			continue
		}
		switch name, _, _ := strings.Cut(strings.ToLower(strings.TrimRight(tag, "/ ")), " "); name {
		case "br", "/p", "/div", "/li", "/tr", "/h1", "/h2", "/h3":
			b.WriteByte('\n')
		}
		text = after
	}
	return strings.TrimSpace(html.UnescapeString(b.String()))
}
