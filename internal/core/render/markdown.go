package render

import (
	"bytes"
	html "html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

const (
	maxMarkdown  = 20 << 10 // bytes that are read as Markdown; a longer text is shown as it is
	markdownCost = 64       // some Markdown takes quadratic time: n bytes count n*n/64
)

var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table, extension.Strikethrough),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(safeNodes{}, 1))),
)

// mdToHTML returns the HTML of a text of Markdown. HTML in it is shown as text, an image as its description, and a link
// leads only where isLink permits.
func (b *budget) mdToHTML(text string) (html.HTML, error) {
	n := len(text)
	if n <= maxMarkdown {
		if err := b.take(n + n*n/markdownCost); err != nil {
			return "", err
		}
	}
	var w bytes.Buffer
	if n > maxMarkdown || markdown.Convert([]byte(text), &w) != nil || w.Len() > MaxOutput {
		text, err := b.made(html.HTMLEscapeString(text))
		return html.HTML(text), err
	}
	out, err := b.made(w.String())
	return html.HTML(out), err
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
