package condition

// Threshold is the comparison of a value with a number.
type Threshold struct {
	Ref   Ref
	Op    string // with the value on its left
	Value float64
}

// mirrored maps each operator to its counterpart with the sides in the other order.
var mirrored = map[string]string{">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "==", "!=": "!="}

// Thresholds returns the comparisons of one value with one number, in the order of the text.
func (e *Expr) Thresholds() []Threshold { return e.thresholds(e.root, nil) }

func (e *Expr) thresholds(n *node, found []Threshold) []Threshold {
	if n == nil {
		return found
	}
	if !comparison(n.op) {
		return e.thresholds(n.right, e.thresholds(n.left, found))
	}
	op := n.op
	ref, number := n.left, n.right
	if ref.op != "ref" {
		ref, number = number, ref
		op = mirrored[op]
	}
	v, ok := number.constant()
	if ref.op == "ref" && ok {
		found = append(found, Threshold{e.refs[ref.ref], op, v})
	}
	return found
}

// constant returns the number that a node is.
func (n *node) constant() (v float64, ok bool) {
	switch n.op {
	case "number":
		return n.number, true
	case "neg":
		v, ok = n.left.constant()
		return -v, ok
	}
	return 0, false
}
