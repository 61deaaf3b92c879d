// Package render turns a template of the account and an incident into what people read: an e-mail, a text
// message, a line in a chat. It is pure. Templates are written by people, so it must never let one reach
// outside of the incident it is given, nor take more time and room than a message is worth.
package render

import (
	"bytes"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"regexp"
	"strings"
	text "text/template"
	"text/template/parse"
)

// MaxOutput is how much a template may write, in bytes.
const MaxOutput = 64 << 10

// maxSteps is how often the actions of a template may be run: loops within loops end there.
const maxSteps = 100_000

// Template is a template that is well formed.
type Template struct {
	execute func(w io.Writer, data any) error
}

// Parse reads a template: of HTML, in which what is filled in is escaped for where it stands, or of plain
// text. The error says in which line and what is wrong.
func Parse(source string, isHTML bool) (*Template, error) {
	if isHTML {
		t, err := html.New("").Funcs(html.FuncMap(functions)).Option("missingkey=zero").Parse(source)
		if err != nil {
			return nil, readable(err)
		}
		if err := tame(t.Tree); err != nil {
			return nil, err
		}
		return &Template{func(w io.Writer, data any) error {
			c, err := t.Clone() // executing a template of HTML changes it
			if err != nil {
				return err
			}
			return c.Execute(w, data)
		}}, nil
	}
	t, err := text.New("").Funcs(functions).Option("missingkey=zero").Parse(source)
	if err != nil {
		return nil, readable(err)
	}
	if err := tame(t.Tree); err != nil {
		return nil, err
	}
	return &Template{t.Execute}, nil
}

// Render fills a template in. The error says in which line it failed and why.
func (t *Template) Render(incident Incident) (string, error) {
	w := &bounded{}
	err := t.execute(w, incident)
	if err != nil {
		return "", readable(err)
	}
	return strings.ReplaceAll(w.String(), "<no value>", ""), nil
}

// tame takes from a template the ways in which it could run for ever: using itself is refused, and every
// turn of a loop writes something, if only nothing, so that what is written into counts the turns.
func tame(tree *parse.Tree) error {
	if tree == nil || tree.Root == nil {
		return nil
	}
	return tameList(tree.Root)
}

func tameList(list *parse.ListNode) error {
	if list == nil {
		return nil
	}
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		switch n := n.(type) {
		case *parse.TemplateNode:
			return errors.New("{{template}} and {{block}} are not available: write the text where it is used")
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		case *parse.RangeNode:
			branch = &n.BranchNode
			turn := &parse.TextNode{NodeType: parse.NodeText, Pos: n.Pos}
			n.List.Nodes = append([]parse.Node{turn}, n.List.Nodes...)
		default:
			continue
		}
		if err := errors.Join(tameList(branch.List), tameList(branch.ElseList)); err != nil {
			return err
		}
	}
	return nil
}

// bounded keeps what is written up to the bound and refuses what is beyond it. Every turn of a loop
// writes (see tame), so it bounds loops as well.
type bounded struct {
	bytes.Buffer
	steps int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.steps++; b.steps > maxSteps {
		return 0, fmt.Errorf("more than %d steps", maxSteps)
	}
	if b.Len()+len(p) > MaxOutput {
		return 0, fmt.Errorf("more than %d bytes of text", MaxOutput)
	}
	return b.Buffer.Write(p)
}

var location = regexp.MustCompile(`^(?:html/)?template: :(\d+)(?::(\d+))?: `)

// readable puts "line 3: " where the library puts the template's name, which is empty.
func readable(err error) error {
	message := strings.ReplaceAll(err.Error(), `executing "" at `, "")
	if m := location.FindStringSubmatch(message); m != nil {
		message = "line " + m[1] + ": " + message[len(m[0]):]
	}
	return errors.New(message)
}
