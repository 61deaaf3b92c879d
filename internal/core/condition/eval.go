package condition

import (
	"math"
	"slices"
)

// Eval evaluates the expression. value returns a value and whether there is one; NaN is none.
func (e *Expr) Eval(value func(Ref) (float64, bool)) Result {
	values := make([]float64, len(e.refs))
	for i, ref := range e.refs {
		f, ok := value(ref)
		if !ok {
			f = math.NaN()
		}
		values[i] = f
	}
	truth, clauses := e.explain(e.root, values)
	return Result{truth, clauses}
}

// Truth evaluates the expression without its clauses and without allocating. values are those of Refs; NaN is a missing
// value.
func (e *Expr) Truth(values []float64) Truth { return truth(e.root, values) }

func truth(n *node, values []float64) Truth {
	switch n.op {
	case "not":
		return negated(truth(n.left, values))
	case "and":
		left := truth(n.left, values)
		if left == False {
			return False
		}
		return both(left, truth(n.right, values))
	case "or":
		left := truth(n.left, values)
		if left == True {
			return True
		}
		return either(left, truth(n.right, values))
	}
	return compared(n.op, number(n.left, values), number(n.right, values))
}

// explain evaluates like truth and returns the comparisons that decided: of "and" and "or" those of the operands with the
// same result.
func (e *Expr) explain(n *node, values []float64) (Truth, []Clause) {
	switch n.op {
	case "not":
		inner, clauses := e.explain(n.left, values)
		return negated(inner), clauses
	case "and", "or":
		left, leftClauses := e.explain(n.left, values)
		right, rightClauses := e.explain(n.right, values)
		result := both(left, right)
		if n.op == "or" {
			result = either(left, right)
		}
		switch {
		case left != result:
			return result, rightClauses
		case right != result:
			return result, leftClauses
		}
		return result, slices.Concat(leftClauses, rightClauses)
	}
	left := number(n.left, values)
	right := number(n.right, values)
	result := compared(n.op, left, right)
	return result, []Clause{{Text: n.text, Truth: result, Left: Number(left), Op: n.op, Right: Number(right)}}
}

func negated(t Truth) Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Missing
}

func both(left, right Truth) Truth {
	switch {
	case left == False || right == False:
		return False
	case left == True && right == True:
		return True
	}
	return Missing
}

func either(left, right Truth) Truth {
	switch {
	case left == True || right == True:
		return True
	case left == False && right == False:
		return False
	}
	return Missing
}

func compared(op string, left, right float64) Truth {
	if math.IsNaN(left) || math.IsNaN(right) {
		return Missing
	}
	var holds bool
	switch op {
	case ">":
		holds = left > right
	case ">=":
		holds = left >= right
	case "<":
		holds = left < right
	case "<=":
		holds = left <= right
	case "==":
		holds = left == right
	default:
		holds = left != right
	}
	if holds {
		return True
	}
	return False
}

func number(n *node, values []float64) float64 {
	switch n.op {
	case "number":
		return n.number
	case "ref":
		return values[n.ref]
	case "neg":
		return -number(n.left, values)
	}
	left := number(n.left, values)
	right := number(n.right, values)
	switch n.op {
	case "+":
		return left + right
	case "-":
		return left - right
	case "*":
		return left * right
	case "/":
		return left / right
	}
	return math.Mod(left, right)
}
