package condition

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is the first mistake in the text of an expression.
type Error struct {
	Position int // counted in characters from 1
	Message  string
}

// Error returns the mistake with its position.
func (e *Error) Error() string { return fmt.Sprintf("%s at character %d", e.Message, e.Position) }

// Expr is a parsed expression. It is safe for concurrent use.
type Expr struct {
	text string
	root *node
	refs []Ref
}

// String returns the text that was parsed.
func (e *Expr) String() string { return e.text }

// Refs returns the values that the expression reads, in the order of their first use.
func (e *Expr) Refs() []Ref { return e.refs }

// node is an operation with its operands, a number or a reference.
type node struct {
	op          string  // of an operand: "number" or "ref"
	number      float64 // of a number
	ref         int     // of a reference: its index in refs
	from, to    int     // where it stands in the text
	text        string  // of a comparison: as clauses show it
	left, right *node   // of "not" and "neg" only left
}

// logical reports whether the node is true or false rather than a number.
func (n *node) logical() bool {
	switch n.op {
	case "and", "or", "not":
		return true
	}
	return comparison(n.op)
}

// comparison reports whether an operator compares two numbers.
func comparison(op string) bool {
	switch op {
	case ">", ">=", "<", "<=", "==", "!=":
		return true
	}
	return false
}

// Parse parses an expression. The error is an *Error.
func Parse(text string) (*Expr, error) {
	if len(text) > MaxBytes {
		return nil, &Error{1, fmt.Sprintf("must be at most %d bytes, got %d", MaxBytes, len(text))}
	}
	p := &parser{text: text}
	p.next()
	root := p.or()
	if p.err == nil && p.token != "" {
		p.fail(p.start, "unexpected "+quote(p.token))
	}
	if p.err == nil && !root.logical() {
		written := text[root.from:root.to]
		p.fail(root.from, fmt.Sprintf("%s is a number; compare it, such as %s > 0", quote(written), cut(suggestion(written))))
	}
	if p.err != nil {
		return nil, p.err
	}
	root.write(text)
	return &Expr{text: text, root: root, refs: p.refs}, nil
}

// write sets the texts of the comparisons once, because every transition shows them. Brackets around one belong to it, so where it
// stands is known at the end only.
func (n *node) write(text string) {
	switch n.op {
	case "and", "or":
		n.left.write(text)
		n.right.write(text)
	case "not":
		n.left.write(text)
	default:
		n.text = strings.Join(strings.Fields(text[n.from:n.to]), " ")
	}
}

// suggestion returns what is compared in the example of an error.
func suggestion(written string) string {
	if strings.ContainsAny(written, "+-*/% ") && !strings.HasPrefix(written, "(") {
		return "(" + written + ")"
	}
	return written
}

// parser reads an expression from left to right. After the first mistake it reads nothing more.
type parser struct {
	text  string
	at    int    // behind the token
	start int    // of the token
	end   int    // of the token before
	token string // "" at the end of the text
	terms int
	depth int
	refs  []Ref
	err   *Error
}

// maxDepth bounds the nesting of parentheses and signs.
const maxDepth = 100

func (p *parser) fail(at int, message string) {
	if p.err == nil {
		p.err = &Error{utf8.RuneCountInString(p.text[:at]) + 1, message}
	}
	p.at = len(p.text)
	p.token = ""
}

// or reads comparisons joined by "or"; "and" binds stronger.
func (p *parser) or() *node {
	left := p.and()
	for p.token == "or" || p.token == "||" {
		left = p.join("or", left, p.and)
	}
	return left
}

func (p *parser) and() *node {
	left := p.not()
	for p.token == "and" || p.token == "&&" {
		left = p.join("and", left, p.not)
	}
	return left
}

// join reads the right operand of "and" or "or".
func (p *parser) join(op string, left *node, operand func() *node) *node {
	at, word := p.start, p.token
	p.next()
	right := operand()
	if p.err == nil && (!left.logical() || !right.logical()) {
		p.fail(at, quote(word)+" needs a comparison on both sides, such as $A > 0")
	}
	return &node{op: op, from: left.from, to: p.end, left: left, right: right}
}

func (p *parser) not() *node {
	if p.token != "not" && p.token != "!" {
		return p.compare()
	}
	from, word := p.start, p.token
	p.enter()
	p.next()
	operand := p.not()
	p.depth--
	if p.err == nil && !operand.logical() {
		p.fail(from, quote(word)+" needs a comparison, such as $A > 0")
	}
	return &node{op: "not", from: from, to: p.end, left: operand}
}

func (p *parser) compare() *node {
	left := p.sum()
	if !comparison(p.token) {
		if p.token == "=" {
			p.fail(p.start, `write "==" to compare`)
		}
		return left
	}
	n := p.arithmetic(left, p.sum)
	if comparison(p.token) {
		p.fail(p.start, `a comparison cannot be compared; join two with "and"`)
	}
	return n
}

func (p *parser) sum() *node {
	left := p.product()
	for p.token == "+" || p.token == "-" {
		left = p.arithmetic(left, p.product)
	}
	return left
}

func (p *parser) product() *node {
	left := p.sign()
	for p.token == "*" || p.token == "/" || p.token == "%" {
		left = p.arithmetic(left, p.sign)
	}
	return left
}

// arithmetic reads the right operand of an operator between two numbers.
func (p *parser) arithmetic(left *node, operand func() *node) *node {
	op, at := p.token, p.start
	p.next()
	right := operand()
	if p.err == nil && (left.logical() || right.logical()) {
		p.fail(at, quote(op)+" needs a number on both sides")
	}
	return &node{op: op, from: left.from, to: p.end, left: left, right: right}
}

func (p *parser) sign() *node {
	if p.token != "-" && p.token != "+" {
		return p.operand()
	}
	from, negative := p.start, p.token == "-"
	p.enter()
	p.next()
	operand := p.sign()
	p.depth--
	if p.err == nil && operand.logical() {
		p.fail(from, "a sign needs a number")
	}
	if negative {
		return &node{op: "neg", from: from, to: p.end, left: operand}
	}
	return operand
}

// operand reads a number, a reference or what is in parentheses.
func (p *parser) operand() *node {
	from := p.start
	switch {
	case p.err != nil:
		return &node{op: "number"}
	case p.token == "":
		p.fail(from, "the expression ends where a value is expected")
	case p.token == "(":
		p.enter()
		p.next()
		inner := p.or()
		p.depth--
		if p.err == nil && p.token != ")" {
			p.fail(from, "the parenthesis is not closed")
		}
		p.next()
		if !inner.logical() { // a clause is shown without the parentheses around it
			inner.from = from
			inner.to = p.end
		}
		return inner
	case p.token[0] == '$':
		return p.reference(from)
	case digit(p.token[0]) || p.token[0] == '.':
		f, err := strconv.ParseFloat(p.token, 64)
		if err != nil || math.IsInf(f, 0) {
			p.fail(from, quote(p.token)+" is no number")
		}
		return p.term(&node{op: "number", number: f, from: from})
	case letter(rune(p.token[0])):
		p.fail(from, fmt.Sprintf("unexpected %s; a value is written $%s", quote(p.token), cut(p.token)))
	default:
		p.fail(from, "unexpected "+quote(p.token)+" where a value is expected")
	}
	return &node{op: "number"}
}

func (p *parser) reference(from int) *node {
	query, field, dotted := strings.Cut(p.token[1:], ".")
	if query == "" || digit(query[0]) || strings.ContainsFunc(query, func(r rune) bool { return !letter(r) && (r < '0' || r > '9') }) {
		p.fail(from, quote(p.token)+" names no query; a name is a letter, then letters and digits")
	}
	if dotted && (field == "" || strings.Contains(field, ".")) {
		p.fail(from, quote(p.token)+" names no field; it is written $A.field")
	}
	ref := Ref{query, field}
	for i, known := range p.refs {
		if known == ref {
			return p.term(&node{op: "ref", ref: i, from: from})
		}
	}
	p.refs = append(p.refs, ref)
	return p.term(&node{op: "ref", ref: len(p.refs) - 1, from: from})
}

// term counts an operand and goes on behind it.
func (p *parser) term(n *node) *node {
	if p.terms++; p.terms > MaxTerms {
		p.fail(n.from, fmt.Sprintf("must have at most %d numbers and values", MaxTerms))
	}
	p.next()
	n.to = p.end
	return n
}

func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.start, fmt.Sprintf("must be nested at most %d deep", maxDepth))
	}
}
