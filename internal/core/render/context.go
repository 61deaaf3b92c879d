package render

import (
	"strings"
	"text/template/parse"
)

// The functions that escapeTree appends to the pipelines of a template.
const (
	escapeText  = "_escape_text"
	escapeURL   = "_escape_url"
	escapePart  = "_escape_part"
	escapeLabel = "_escape_label"
	metered     = "_metered" // of meterList
)

// position is where in the target's markup a template prints a value.
type position int

const (
	inText  position = iota
	inLabel          // in the text of a link, after its address
	atURL            // where an address begins, as after [text](
	withURL          // within an address
)

var escapers = map[position]string{inText: escapeText, inLabel: escapeLabel, atURL: escapeURL, withURL: escapePart}

// escapeTree escapes every value that a template prints, for the position in the target's markup, as html/template
// does for HTML. The text of the template itself is markup and is not escaped, nor are actions that are only a text
// in quotes.
func (t *Target) escapeTree(tree *parse.Tree) {
	if tree != nil && tree.Root != nil {
		t.escapeList(tree.Root, inText, true)
	}
}

// escapeList escapes the values of a list of nodes that begins at a position, and returns the position at its end.
// Without put it changes nothing.
func (t *Target) escapeList(list *parse.ListNode, at position, put bool) position {
	if list == nil {
		return at
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			n.Text = breaks.ReplaceAll(n.Text, []byte(lineBreak))
			at = t.after(string(n.Text), at)
		case *parse.ActionNode:
			if len(n.Pipe.Decl) > 0 {
				continue // it prints nothing
			}
			if literal, ok := isLiteral(n.Pipe); ok {
				at = t.after(literal, at)
				continue
			}
			if !put {
				continue
			}
			call := parse.NewIdentifier(escapers[at]).SetPos(n.Pos)
			escape := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{call}}
			n.Pipe.Cmds = append(n.Pipe.Cmds, escape)
		case *parse.IfNode:
			at = t.escapeBranch(&n.BranchNode, at, put)
		case *parse.WithNode:
			at = t.escapeBranch(&n.BranchNode, at, put)
		case *parse.RangeNode:
			again := max(at, t.escapeList(n.List, at, false)) // an iteration begins where the one before ended
			at = t.escapeBranch(&n.BranchNode, again, put)
		}
	}
	return at
}

// escapeBranch escapes both branches. Where they end at different positions, it returns the stricter one: an address.
func (t *Target) escapeBranch(n *parse.BranchNode, at position, put bool) position {
	return max(t.escapeList(n.List, at, put), t.escapeList(n.ElseList, at, put))
}

// isLiteral reports whether a pipeline is only a text in quotes, and returns the text.
func isLiteral(p *parse.PipeNode) (string, bool) {
	if len(p.Cmds) == 1 && len(p.Cmds[0].Args) == 1 {
		if s, ok := p.Cmds[0].Args[0].(*parse.StringNode); ok {
			return s.Text, true
		}
	}
	return "", false
}

// after returns the position after a text of the template that begins at a position. A space ends an address that
// was not closed.
func (t *Target) after(text string, at position) position {
	for text != "" {
		if at == inLabel {
			end := strings.IndexAny(text, t.closes)
			if end < 0 {
				return inLabel
			}
			text, at = text[end+1:], inText
			continue
		}
		if at == inText {
			first, length := -1, 0
			for _, open := range t.opens {
				if i := strings.Index(text, open); i >= 0 && (first < 0 || i < first) {
					first, length = i, len(open)
				}
			}
			if first < 0 {
				return inText
			}
			text, at = text[first+length:], atURL
			continue
		}
		end := strings.IndexAny(text, t.closes+t.labels+" \t\r\n")
		if end < 0 {
			return withURL
		}
		at = inText
		if strings.IndexByte(t.labels, text[end]) >= 0 {
			at = inLabel
		}
		text = text[end+1:]
	}
	return at
}
