package render

import (
	"strings"
	"text/template/parse"
)

// The functions that escapeTree puts behind what a template prints.
const (
	escapeText  = "_escape_text"
	escapeURL   = "_escape_url"
	escapePart  = "_escape_part"
	escapeLabel = "_escape_label"
)

// place is where in the target's markup a template prints something.
type place int

const (
	inText  place = iota
	inLabel       // in the text of a link, behind its address
	atURL         // where an address begins, as behind [text](
	withURL       // within an address
)

var escapers = map[place]string{inText: escapeText, inLabel: escapeLabel, atURL: escapeURL, withURL: escapePart}

// escapeTree has everything that a template prints go through the escaper of the target for where it stands, as
// html/template does it for HTML. What the template itself says is markup and stays as it is: its text, and actions
// that are nothing but a text in quotes.
func (t *Target) escapeTree(tree *parse.Tree) {
	if tree != nil && tree.Root != nil {
		t.escapeList(tree.Root, inText, true)
	}
}

// escapeList escapes a list of nodes that begins at a place, and returns where it ends. Without put it only looks.
func (t *Target) escapeList(list *parse.ListNode, at place, put bool) place {
	if list == nil {
		return at
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
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
			n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{call}})
		case *parse.IfNode:
			at = t.escapeBranch(&n.BranchNode, at, put)
		case *parse.WithNode:
			at = t.escapeBranch(&n.BranchNode, at, put)
		case *parse.RangeNode:
			again := max(at, t.escapeList(n.List, at, false)) // each turn begins where the one before ended
			at = t.escapeBranch(&n.BranchNode, again, put)
		}
	}
	return at
}

// escapeBranch escapes both branches. Where they end at different places, the stricter one counts: an address.
func (t *Target) escapeBranch(n *parse.BranchNode, at place, put bool) place {
	return max(t.escapeList(n.List, at, put), t.escapeList(n.ElseList, at, put))
}

func isLiteral(p *parse.PipeNode) (string, bool) {
	if len(p.Cmds) == 1 && len(p.Cmds[0].Args) == 1 {
		if s, ok := p.Cmds[0].Args[0].(*parse.StringNode); ok {
			return s.Text, true
		}
	}
	return "", false
}

// after returns where one is behind a text of the template. A space ends an address that was not closed.
func (t *Target) after(text string, at place) place {
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
