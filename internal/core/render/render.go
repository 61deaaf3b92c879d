// Package render renders a template of the account with an incident: an e-mail, a text message, a line in a chat. It
// is pure. Templates are written by people: a template must never read anything but its incident, nor take more time
// and memory than a message is worth. Alerts are written by programs and strangers: their text must never become
// markup. Every value that a template prints is escaped for the Target.
package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"maps"
	"strings"
	text "text/template"
	"text/template/parse"
)

// MaxOutput is the number of bytes that a template may write.
const MaxOutput = 64 << 10

// maxSteps is how often the actions of a template may run, which bounds nested loops. A template with a long action
// has fewer steps, as each may take longer: see tame.
const maxSteps = 100_000

// maxLoops is how deep loops may be nested. When the library escapes HTML it visits each loop twice, a loop within
// another four times, and so on: 40 levels would never end.
const maxLoops = 4

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	steps   int
	target  *Target
	execute func(w io.Writer, about Incident) error
}

// Parse parses a template for a target. The values that it prints are escaped for the target and for their position;
// its own text is the target's markup. The error names the line, the column and what is wrong.
func Parse(source string, target *Target) (*Template, error) {
	if target == HTML {
		return parseHTML(source)
	}
	t, err := text.New("").Funcs(target.all(nil)).Option("missingkey=zero").Parse(source)
	if err != nil {
		return nil, located(source, err)
	}
	steps, err := tame(t.Tree)
	if err != nil {
		return nil, err
	}
	target.escapeTree(t.Tree)
	return &Template{steps, target, func(w io.Writer, about Incident) error {
		c, err := t.Clone() // each rendering has functions with a budget of their own
		if err != nil {
			return err
		}
		return c.Funcs(target.all(newBudget(about))).Execute(w, about)
	}}, nil
}

func parseHTML(source string) (*Template, error) {
	t, err := html.New("").Funcs(html.FuncMap(HTML.all(nil))).Option("missingkey=zero").Parse(source)
	if err != nil {
		return nil, located(source, err)
	}
	steps, err := tame(t.Tree)
	if err != nil {
		return nil, err
	}
	return &Template{steps, HTML, func(w io.Writer, about Incident) error {
		c, err := t.Clone() // executing a template of HTML changes it
		if err != nil {
			return err
		}
		return c.Funcs(html.FuncMap(HTML.all(newBudget(about)))).Execute(w, about)
	}}, nil
}

// all returns the functions that templates of a target may call.
func (t *Target) all(b *budget) text.FuncMap {
	all := functions(b)
	maps.Copy(all, t.functions(b))
	return all
}

// Render executes the template with an incident. The error names the line, the column and what failed.
func (t *Template) Render(incident Incident) (Markup, error) {
	w := &bounded{most: t.steps}
	err := t.execute(w, incident.Cleaned())
	if err != nil {
		return "", readable(err)
	}
	return Markup(t.target.lines(strings.ReplaceAll(w.String(), "<no value>", ""))), nil
}

// tame keeps a template from running for ever. It rejects templates that call templates, and adds an empty text
// before every action, so that each execution writes and the writer (bounded) counts it. It returns the number of
// steps that the template may take.
func tame(tree *parse.Tree) (steps int, err error) {
	if tree == nil || tree.Root == nil {
		return maxSteps, nil
	}
	longest, err := tameList(tree.Root, 0)
	return maxSteps / (1 + longest/100), err
}

// tameList does this for a list of nodes within so many loops, and returns the bytes of its longest action.
func tameList(list *parse.ListNode, loops int) (longest int, err error) {
	if list == nil {
		return 0, nil
	}
	nodes := make([]parse.Node, 0, 2*len(list.Nodes))
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		inside := loops
		switch n := n.(type) {
		case *parse.TemplateNode:
			return 0, errors.New("{{template}} and {{block}} are not available: write the text where it is used")
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		case *parse.RangeNode:
			branch = &n.BranchNode
			if inside++; inside > maxLoops {
				return 0, fmt.Errorf("{{range}} may stand within {{range}} at most %d deep", maxLoops)
			}
			n.List.Nodes = append([]parse.Node{nothing(n)}, n.List.Nodes...)
		case *parse.ActionNode:
			longest = max(longest, len(n.String()))
		}
		if branch != nil {
			here, err := tameList(branch.List, inside)
			other, wrong := tameList(branch.ElseList, inside)
			if longest = max(longest, here, other, len(branch.Pipe.String())); err != nil || wrong != nil {
				return 0, cmp.Or(err, wrong)
			}
		}
		if n.Type() != parse.NodeText {
			nodes = append(nodes, nothing(n))
		}
		nodes = append(nodes, n)
	}
	list.Nodes = nodes
	return longest, nil
}

// nothing returns an empty text with the position of a node.
func nothing(n parse.Node) parse.Node {
	return &parse.TextNode{NodeType: parse.NodeText, Pos: n.Position()}
}

// bounded is a buffer that rejects writes beyond MaxOutput bytes and beyond most writes. Every action and every
// iteration of a loop writes (see tame), so it bounds loops as well.
type bounded struct {
	bytes.Buffer
	steps, most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.steps++; b.steps > b.most {
		return 0, fmt.Errorf("more than %d steps", b.most)
	}
	if b.Len()+len(p) > MaxOutput {
		return 0, fmt.Errorf("more than %d bytes of text", MaxOutput)
	}
	return b.Buffer.Write(p)
}
