package feishu

import (
	"regexp"
	"strings"

	"tocsin/internal/sender"
)

// How long a post may be, in bytes of JSON: requests may have 20 KB for bots and 30 KB for apps, where the
// post is JSON in a string and so is escaped twice.
const (
	maxBot = 18_000
	maxApp = 13_000
)

type locales struct {
	Chinese rich `json:"zh_cn"` // is shown to everybody when it is the only one
}

type rich struct {
	Title   string      `json:"title"`
	Content [][]element `json:"content"`
}

type element struct {
	Tag   string   `json:"tag"` // text or a
	Text  string   `json:"text"`
	Href  string   `json:"href,omitzero"`
	Style []string `json:"style,omitzero"`
}

// markup is what templates write for Feishu: strong text and links.
var markup = regexp.MustCompile(`\*\*([^*\n]+)\*\*|\[([^\]\n]+)\]\((https?://[^)\s]+)\)`)

// post makes a rich text of a text with Markdown's strong and links, a paragraph of each line, of at most
// limit bytes of JSON.
func post(text string, limit int) locales {
	paragraphs := [][]element{}
	for line := range strings.Lines(sender.Fit(text, limit, cost)) {
		paragraphs = append(paragraphs, paragraph(strings.TrimRight(line, "\r\n")))
	}
	return locales{rich{Content: paragraphs}}
}

// cost is what a character may take in JSON with the elements that it may begin.
func cost(r rune) int {
	switch r {
	case '\n':
		return 48
	case '*':
		return 24
	case '[':
		return 64
	}
	return sender.JSON(r)
}

func paragraph(line string) []element {
	elements, at := []element{}, 0
	plain := func(s string) {
		if s != "" {
			elements = append(elements, element{Tag: "text", Text: s})
		}
	}
	for _, m := range markup.FindAllStringSubmatchIndex(line, -1) {
		plain(line[at:m[0]])
		if m[2] >= 0 {
			elements = append(elements, element{Tag: "text", Text: line[m[2]:m[3]], Style: []string{"bold"}})
		} else {
			elements = append(elements, element{Tag: "a", Text: line[m[4]:m[5]], Href: line[m[6]:m[7]]})
		}
		at = m[1]
	}
	plain(line[at:])
	return elements
}
