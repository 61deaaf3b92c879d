package filter

import (
	"errors"
	"regexp/syntax"
	"strings"
)

// isExpression reports whether a value is a regular expression between slashes.
func isExpression(val string) bool { return len(val) >= 2 && val[0] == '/' && val[len(val)-1] == '/' }

// Instructions returns the number of instructions of a compiled regular expression (RE2), and an error if it is
// malformed. An expression of more than most instructions is not compiled, which could take gigabytes: the result is
// then a lower bound above most.
func Instructions(expr string, most int) (int, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, err
	}
	if n := least(re); n > most {
		return n, nil
	}
	program, err := syntax.Compile(re.Simplify())
	if err != nil {
		return 0, err
	}
	return len(program.Inst), nil
}

// atLeast returns a lower bound of the instructions of an expression without compiling it. It suffices for events:
// their filters were counted exactly when they were stored.
func atLeast(expr string, _ int) (int, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return 0, err
	}
	return least(re), nil
}

// least returns a lower bound of an expression's instructions, with its repetitions expanded.
func least(re *syntax.Regexp) (n int) {
	for _, sub := range re.Sub {
		n += least(sub)
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpRepeat:
		return n * max(re.Min, re.Max) // Max is -1 without an upper bound
	case syntax.OpCapture:
		return n + 2
	case syntax.OpConcat:
		return n
	case syntax.OpAlternate:
		return n + len(re.Sub) - 1
	}
	return n + 1
}

// instructions returns the cost of a value for each character of the field: see MaxInstructions.
func instructions(val string) int {
	switch {
	case isExpression(val):
		n, _ := Instructions(val[1:len(val)-1], MaxInstructions) // 0 when it is malformed: it matches nothing
		return n
	case special(val): // cidr: and num: read an address or a number, which is short
		return 0
	}
	return newGlob(val).instructions()
}

// special reports whether a value is a network (cidr:) or a bound (num:).
func special(val string) bool {
	return strings.HasPrefix(val, "cidr:") || strings.HasPrefix(val, "num:")
}

// syntaxReason returns what is wrong with an expression, without quoting it.
func syntaxReason(err error) string {
	if detail := (*syntax.Error)(nil); errors.As(err, &detail) {
		return detail.Code.String()
	}
	return err.Error()
}
