package feishu

import (
	"tocsin/internal/core/render"
	"tocsin/internal/sender"
)

// The highest sizes of a post in bytes of JSON. Requests may have 20 KB for bots and 30 KB for apps; for apps the
// post is JSON in a string, so it is escaped twice.
const (
	maxBot = 18_000
	maxApp = 13_000
)

type locales struct {
	Chinese rich `json:"zh_cn"` // shown to all readers if it is the only language
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

// post returns a rich text of Rich with a paragraph for each line, of at most limit bytes of JSON.
func post(text render.Markup, limit int) locales {
	paragraphs := [][]element{}
	for _, line := range render.Spans(render.Markup(sender.Fit(text, limit, cost))) {
		paragraph := []element{}
		for _, span := range line {
			e := element{Tag: "text", Text: span.Text}
			switch {
			case span.URL != "":
				e.Tag, e.Href = "a", span.URL
			case span.Strong:
				e.Style = []string{"bold"}
			}
			paragraph = append(paragraph, e)
		}
		paragraphs = append(paragraphs, paragraph)
	}
	return locales{rich{Content: paragraphs}}
}

// cost returns the highest number of bytes of a character in JSON, with the elements that it may begin.
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
