// Package render turns a template of the account and an incident into what people read: an e-mail, a text
// message, a line in a chat. It is pure. Templates are written by people, so it must never let one reach
// outside of the incident it is given, nor take more time and room than a message is worth. Alerts are written by
// programs and strangers, so it must never let what they say be markup: what a template prints is escaped for the
// Target, whatever the template.
package render

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	html "html/template"
	"io"
	"maps"
	"regexp"
	"strings"
	text "text/template"
	"text/template/parse"
)

// MaxOutput is how much a template may write, in bytes.
const MaxOutput = 64 << 10

// maxSteps is how often the actions of a template may be run and write: loops within loops end there. One whose
// longest action is long has fewer steps, as each may take longer.
const maxSteps = 100_000

// maxLoops is how deep loops may be nested: the library goes twice through each when it escapes HTML, through one
// within another four times, and so on.
const maxLoops = 4

// Template is a template that is well formed.
type Template struct {
	steps   int
	execute func(w io.Writer, data any) error
}

// Parse reads a template for a target. What it prints is escaped for the target and for where it stands; what it says
// itself is the target's markup. The error says in which line and what is wrong.
func Parse(source string, target *Target) (*Template, error) {
	if target == HTML {
		return parseHTML(source)
	}
	t, err := text.New("").Funcs(target.all(nil)).Option("missingkey=zero").Parse(source)
	if err != nil {
		return nil, readable(err)
	}
	steps, err := tame(t.Tree)
	if err != nil {
		return nil, err
	}
	target.escapeTree(t.Tree)
	return &Template{steps, func(w io.Writer, data any) error {
		c, err := t.Clone() // each rendering has functions with a budget of their own
		if err != nil {
			return err
		}
		return c.Funcs(target.all(&budget{maxMade})).Execute(w, data)
	}}, nil
}

func parseHTML(source string) (*Template, error) {
	t, err := html.New("").Funcs(html.FuncMap(HTML.all(nil))).Option("missingkey=zero").Parse(source)
	if err != nil {
		return nil, readable(err)
	}
	steps, err := tame(t.Tree)
	if err != nil {
		return nil, err
	}
	return &Template{steps, func(w io.Writer, data any) error {
		c, err := t.Clone() // executing a template of HTML changes it
		if err != nil {
			return err
		}
		return c.Funcs(html.FuncMap(HTML.all(&budget{maxMade}))).Execute(w, data)
	}}, nil
}

// all are the functions that templates of a target may call.
func (t *Target) all(b *budget) text.FuncMap {
	all := functions(b)
	maps.Copy(all, t.functions(b))
	return all
}

// Render fills a template in. The error says in which line it failed and why.
func (t *Template) Render(incident Incident) (Markup, error) {
	w := &bounded{most: t.steps}
	err := t.execute(w, incident.clean())
	if err != nil {
		return "", readable(err)
	}
	return Markup(strings.ReplaceAll(w.String(), "<no value>", "")), nil
}

// tame takes from a template the ways in which it could run for ever: using itself is refused, and every
// action writes something, if only nothing, so that what is written into counts them. It tells how many steps
// the template has.
func tame(tree *parse.Tree) (steps int, err error) {
	if tree == nil || tree.Root == nil {
		return maxSteps, nil
	}
	longest, err := tameList(tree.Root, 0)
	return maxSteps / (1 + longest/100), err
}

// tameList tames a list of nodes that is within so many loops, and tells the length of its longest action, in bytes.
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

// nothing is a text of no characters at the place of a node: what is written into counts it.
func nothing(n parse.Node) parse.Node {
	return &parse.TextNode{NodeType: parse.NodeText, Pos: n.Position()}
}

// bounded keeps what is written up to the bound and refuses what is beyond it. Every action and every turn
// of a loop writes (see tame), so it bounds loops as well.
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

var location = regexp.MustCompile(`^(?:html/)?template: :(\d+)(?::(\d+))?: `)

// readable puts "line 3: " where the library puts the template's name, which is empty.
func readable(err error) error {
	message := strings.ReplaceAll(err.Error(), `executing "" at `, "")
	if m := location.FindStringSubmatch(message); m != nil {
		message = "line " + m[1] + ": " + message[len(m[0]):]
	}
	return errors.New(message)
}
