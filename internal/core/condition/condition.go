// Package condition parses and evaluates the expressions of alert rules, such as $A > 90 and $B.errors < 50, and returns the
// comparisons that decided with their values.
//
// It is pure. It must never take time that the text does not bound, and never make a missing value true or false.
package condition

import (
	"encoding"
	"fmt"
	"math"
	"strconv"
)

// Bounds of an expression.
const (
	MaxBytes = 4096
	MaxTerms = 100 // numbers and values
)

// Ref names a value: $Query or $Query.Field.
type Ref struct{ Query, Field string }

// String returns the reference as it is written.
func (r Ref) String() string {
	if r.Field == "" {
		return "$" + r.Query
	}
	return "$" + r.Query + "." + r.Field
}

// Truth is the result of an expression. A missing value makes "true or x" true and "false and x" false, and everything else
// Missing.
type Truth uint8

// The results of an expression.
const (
	Missing Truth = iota
	False
	True
)

// String returns missing, false or true.
func (t Truth) String() string { return [...]string{"missing", "false", "true"}[min(t, 2)] }

// Result is what an expression evaluates to, with the comparisons that decided.
type Result struct {
	Truth   Truth
	Clauses []Clause
}

// Clause is a comparison with its values.
type Clause struct {
	Text  string `json:"text"` // such as $A > 90
	Truth Truth  `json:"truth"`
	Left  Number `json:"left"`
	Op    string `json:"op"`
	Right Number `json:"right"`
}

// Number is a float64 that is stored and shown as text, because JSON has neither infinity nor NaN.
type Number float64

var (
	_ encoding.TextMarshaler   = Number(0)
	_ encoding.TextUnmarshaler = (*Number)(nil)
)

// String returns the number with at most six significant digits behind the point, and without an exponent where that is
// short.
func (n Number) String() string {
	f := float64(n)
	if size := math.Abs(f); size >= 1e15 || size != 0 && size < 1e-4 {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	rounded := math.Round(f*1e6) / 1e6
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// MarshalText returns the exact number.
func (n Number) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 64), nil
}

// UnmarshalText reads what MarshalText wrote.
func (n *Number) UnmarshalText(text []byte) error {
	f, err := strconv.ParseFloat(string(text), 64)
	*n = Number(f)
	return err
}

// MarshalText returns the word of the result.
func (t Truth) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (t *Truth) UnmarshalText(text []byte) error {
	for _, known := range []Truth{Missing, False, True} {
		if known.String() == string(text) {
			*t = known
			return nil
		}
	}
	return fmt.Errorf("unknown result %.20q", text)
}
