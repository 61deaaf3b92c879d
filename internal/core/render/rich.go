package render

import (
	"regexp"
	"strings"
)

// special are the characters that Rich escapes with a backslash.
const special = `\*[]`

// Span is a piece of a line of Rich.
type Span struct {
	Text   string // as the reader sees it
	URL    string // of a link; empty: no link
	Strong bool
}

// strongOrLink matches what is not plain in Rich: an escaped character, **strong** or [text](https://...). Special
// characters within their text have backslashes.
var strongOrLink = regexp.MustCompile(`\\[\\*\[\]]|\*\*((?:[^*\\\n]|\\[^\n])+)\*\*|\[((?:[^\]\\\n]|\\[^\n])+)\]\((https?://[^)\s]+)\)`)

// Spans parses Rich into the pieces of each line; an empty line has none.
func Spans(m Markup) [][]Span {
	var lines [][]Span
	for line := range strings.Lines(string(m)) {
		lines = append(lines, spans(strings.TrimRight(line, "\r\n")))
	}
	return lines
}

func spans(line string) (all []Span) {
	plain, at := "", 0
	flush := func() {
		if plain != "" {
			all = append(all, Span{Text: plain})
		}
		plain = ""
	}
	for _, m := range strongOrLink.FindAllStringSubmatchIndex(line, -1) {
		plain += line[at:m[0]]
		at = m[1]
		switch {
		case m[2] >= 0:
			flush()
			all = append(all, Span{Text: unescaped(line[m[2]:m[3]]), Strong: true})
		case m[4] >= 0:
			flush()
			all = append(all, Span{Text: unescaped(line[m[4]:m[5]]), URL: line[m[6]:m[7]]})
		default:
			plain += line[m[0]+1 : m[1]]
		}
	}
	plain += line[at:]
	flush()
	return all
}

var escapes = strings.NewReplacer(`\\`, `\`, `\*`, `*`, `\[`, `[`, `\]`, `]`)

func unescaped(s string) string { return escapes.Replace(s) }
