package render

import (
	html "html/template"
	"math"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// The bounds of Markdown. Beyond one of them a text is shown as it is.
const (
	maxMarkdown  = 20 << 10 // bytes
	maxCells     = 10_000   // cells of tables: a short row has a cell for each column of its table all the same
	markdownCost = 128      // some Markdown takes quadratic time: n bytes count n*n/128
	cellCost     = 256      // bytes that a cell counts, about what it takes in memory
)

var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{}, 1))),
	)
})

// mdToHTML returns the HTML of a text of Markdown. HTML in it is shown as text, an image as its description, and a link
// leads only where isLink permits.
//
// A text of more than maxMarkdown bytes, of more than maxCells cells, or whose HTML is longer than MaxOutput, is shown as it
// is. At most a node is made for each byte and for each cell: 10 MB, and 0.4 s of a processor at worst. What it takes counts
// in the budget of the rendering, so that many texts take no more.
func (b *budget) mdToHTML(text string) (html.HTML, error) {
	n, cells := len(text), cellsOf(text)
	if n <= maxMarkdown && cells <= maxCells {
		if err := b.take(n + n*n/markdownCost + cells*cellCost); err != nil {
			return "", err
		}
		w := &bounded{most: math.MaxInt}
		if markdown().Convert([]byte(text), w) == nil {
			out, err := b.made(w.String())
			return html.HTML(out), err
		}
	}
	text, err := b.made(html.HTMLEscapeString(text))
	return html.HTML(text), err
}

// cellsOf returns how many cells the tables of a text have at most: a row of its widest line for each line.
func cellsOf(text string) int {
	lines, columns := 0, 0
	for line := range strings.Lines(text) {
		lines++
		columns = max(columns, strings.Count(line, "|"))
	}
	if columns == 0 {
		return 0
	}
	return lines * (columns + 1)
}

// safeNodes renders what leads elsewhere or is not Markdown.
type safeNodes struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (safeNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkContinue, nil // its description
	})
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch address := string(n.(*ast.Link).Destination); {
		case !isLink(address):
		case entering:
			openLink(w, address)
		default:
			write(w, "</a>")
		}
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		link := n.(*ast.AutoLink)
		label, linked := html.HTMLEscapeString(string(link.Label(source))), isLink(string(link.URL(source)))
		if !entering {
			return ast.WalkContinue, nil
		}
		if linked {
			openLink(w, string(link.URL(source)))
			label += "</a>"
		}
		write(w, label)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			segments := n.(*ast.RawHTML).Segments
			for i := range segments.Len() {
				segment := segments.At(i)
				write(w, html.HTMLEscapeString(string(segment.Value(source))))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, htmlBlock)
}

func htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var lines strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		lines.Write(segment.Value(source))
	}
	if block := n.(*ast.HTMLBlock); block.HasClosure() {
		lines.Write(block.ClosureLine.Value(source))
	}
	write(w, "<p>"+html.HTMLEscapeString(lines.String())+"</p>\n")
	return ast.WalkContinue, nil
}

// write writes to a buffer, which keeps an error until it is flushed.
func write(w util.BufWriter, s string) { _, _ = w.WriteString(s) }

func openLink(w util.BufWriter, address string) {
	write(w, `<a href="`+html.HTMLEscapeString(address)+`" rel="noreferrer">`)
}
