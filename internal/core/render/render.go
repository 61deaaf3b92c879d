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

// slow is what the parts of an action count besides their length, in bytes of an action, because they read texts of up to
// 64 KiB and take nothing from a budget: each argument of a function of the language that compares, and each member that
// is computed.
var slow = map[string]int{
	"eq": 50, "ne": 50, "lt": 50, "le": 50, "gt": 50, "ge": 50, "index": 50, "Subject": 200, "Problem": 200,
}

// maxLoops is how deep loops may be nested. When the library escapes HTML it visits each loop twice, a loop within
// another four times, and so on: 40 levels would never end.
const maxLoops = 4

// Template is a parsed template. It is safe for concurrent use.
type Template struct {
	steps   int
	target  *Target
	execute func(w io.Writer, about Incident, b *budget) error
}

// Allowance bounds what several renderings take together, however many they are: as much as one may take.
type Allowance struct{ left int }

// NewAllowance returns an allowance of which nothing is taken yet.
func NewAllowance() *Allowance { return &Allowance{maxMade} }

// Parse parses a template for a target. The values that it prints are escaped for the target and for their position;
// its own text is the target's markup. The error names the line, the column and what is wrong.
//
// The caller bounds the source: 64 KiB are some 15,000 nodes of 2 to 7 MB and take up to 0.2 s.
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
	return &Template{steps, target, func(w io.Writer, about Incident, b *budget) error {
		c, err := t.Clone() // each rendering has functions with a budget of their own
		if err != nil {
			return err
		}
		return c.Funcs(target.all(b)).Execute(w, about)
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
	meterList(t.Tree.Root)
	return &Template{steps, HTML, func(w io.Writer, about Incident, b *budget) error {
		c, err := t.Clone() // executing a template of HTML changes it
		if err != nil {
			return err
		}
		return c.Funcs(html.FuncMap(HTML.all(b))).Execute(w, about)
	}}, nil
}

// all returns the functions that templates of a target may call.
func (t *Target) all(b *budget) text.FuncMap {
	all := functions(b)
	maps.Copy(all, t.functions(b))
	return all
}

// Render executes the template with an incident. The error names the line, the column and what failed.
//
// It writes at most MaxOutput bytes in maxSteps steps; functions read and write maxMade bytes, and Markdown has maxCells
// cells of tables. So it takes less than a second of a processor and 50 MB at worst, whatever the template and the incident.
func (t *Template) Render(incident Incident) (Markup, error) {
	return t.RenderWithin(NewAllowance(), incident)
}

// RenderWithin is Render with what is left of an allowance, from which it takes what it needs.
func (t *Template) RenderWithin(all *Allowance, incident Incident) (Markup, error) {
	b := newBudget(incident, all.left)
	w := &bounded{most: int(int64(t.steps) * int64(all.left) / maxMade)}
	err := t.execute(w, incident.Cleaned(), b)
	all.left = max(0, b.left-int(int64(w.steps)*maxMade/int64(t.steps)))
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
			longest = max(longest, weight(n.Pipe))
		}
		if branch != nil {
			here, err := tameList(branch.List, inside)
			other, wrong := tameList(branch.ElseList, inside)
			longest = max(longest, here, other, weight(branch.Pipe))
			if err != nil || wrong != nil {
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

// weight returns how long an action is, in bytes of its source, with what its slow parts count.
func weight(pipe *parse.PipeNode) int { return len(pipe.String()) + slowness(pipe) }

// slowness returns what the slow parts of an action count.
func slowness(n parse.Node) (sum int) {
	switch n := n.(type) {
	case *parse.PipeNode:
		for _, command := range n.Cmds {
			if name, ok := command.Args[0].(*parse.IdentifierNode); ok {
				sum += slow[name.Ident] * len(command.Args)
			}
			for _, arg := range command.Args {
				sum += slowness(arg)
			}
		}
	case *parse.FieldNode:
		sum += slow[n.Ident[len(n.Ident)-1]]
	case *parse.VariableNode:
		sum += slow[n.Ident[len(n.Ident)-1]]
	case *parse.ChainNode:
		sum += slow[n.Field[len(n.Field)-1]] + slowness(n.Node)
	}
	return sum
}

// meterList makes every value that a template of HTML prints count, before the library escapes it: some escapes write
// nothing of a long text.
func meterList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		switch n := n.(type) {
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				call := parse.NewIdentifier(metered).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{call}})
			}
			continue
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		case *parse.RangeNode:
			branch = &n.BranchNode
		default:
			continue
		}
		meterList(branch.List)
		meterList(branch.ElseList)
	}
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
