package filter

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"tocsin/internal/platform/fault"
)

// The bounds of a filter. Check rejects a filter beyond them before it does anything that takes longer than
// reading the filter once. They bound its nodes: with elementBytes for each value, MaxBytes holds 8,192 values at most. In memory
// a filter has its bytes, its nodes, and about 100 bytes for each instruction, together less than 1 MiB. The time of matching
// is bounded by MaxInstructions and by the Meter.
const (
	MaxGroups     = 100      // groups of a filter
	MaxConditions = 100      // conditions of a group
	MaxValues     = 1000     // values of a condition: lists of host names are long
	MaxKey        = 255      // characters of a key; the name of a label has at most 128
	MaxValue      = 2048     // characters of a value, the bound of a label's value and of a description
	MaxBytes      = 64 << 10 // size of a filter in bytes, see Size

	// MaxInstructions bounds the regular expressions of a filter by the cost of matching. One instruction takes 5
	// to 12 ns for each character of the field: 1,000 instructions and a description of 2,048 characters take 10 to
	// 25 ms. A usual expression has 10 to 40 instructions; (x|y){900} has 2,703.
	MaxInstructions = 1000
	MaxExpressions  = 100 // regular expressions of a filter
)

// The bounds of all filters of one list, such as the drop rules of a channel: an event is compared with every one.
const (
	MaxListBytes        = 512 << 10 // bytes of all filters, see Size
	MaxListInstructions = 2000      // instructions of all filters: at worst 40 ms for each event
)

// elementBytes is added to the bytes of each key and each value, about the size of the JSON around it: a thousand
// empty values have a cost too.
const elementBytes = 8

// Size is the cost of a filter, or of a list of filters, for an event that is compared with it.
type Size struct {
	Bytes        int // of keys and values, and 8 more for each
	Expressions  int // values that are regular expressions
	Instructions int // of the compiled expressions, and of wildcards that are searched step by step
}

// Measure returns the size of f. It compiles the expressions. An expression beyond MaxInstructions is not compiled
// and counts as its lower bound, which is more than MaxInstructions.
func Measure(f Filter) Size {
	s := bytes(f)
	for _, group := range f {
		for _, c := range group {
			for _, val := range c.Vals {
				s.Instructions += instructions(val)
			}
		}
	}
	return s
}

// bytes returns the size of f without its instructions, which take longer to count.
func bytes(f Filter) (s Size) {
	for _, group := range f {
		for _, c := range group {
			s.Bytes += len(c.Key) + elementBytes
			for _, val := range c.Vals {
				s.Bytes += len(val) + elementBytes
				if isExpression(val) {
					s.Expressions++
				}
			}
		}
	}
	return s
}

// Add returns the size of both together.
func (s Size) Add(o Size) Size {
	return Size{s.Bytes + o.Bytes, s.Expressions + o.Expressions, s.Instructions + o.Instructions}
}

// CheckList returns the bound of a list that s is beyond, in words that follow the name of the list; empty: none.
func (s Size) CheckList() string {
	switch {
	case s.Bytes > MaxListBytes:
		return fmt.Sprintf("must have at most %d bytes in the filters of all rules together, got %d", MaxListBytes, s.Bytes)
	case s.Instructions > MaxListInstructions:
		return fmt.Sprintf("must have at most %d instructions in the compiled regular expressions of all rules together, got %d",
			MaxListInstructions, s.Instructions)
	}
	return ""
}

// Smaller reports whether s costs no more than o in any respect.
func (s Size) Smaller(o Size) bool { return s.Bytes <= o.Bytes && s.Instructions <= o.Instructions }

// within returns the first bound of counts and lengths that f is beyond, or nil. It reads f once.
func within(f Filter) *Error {
	if len(f) > MaxGroups {
		return tooMany("", "groups", len(f), MaxGroups)
	}
	for g, group := range f {
		if len(group) > MaxConditions {
			return tooMany(fmt.Sprintf("[%d]", g), "conditions", len(group), MaxConditions)
		}
		for i, c := range group {
			at := func(member string) string { return fmt.Sprintf("[%d][%d].%s", g, i, member) }
			if tooLong(c.Key, MaxKey) {
				return tooMany(at("key"), "characters", utf8.RuneCountInString(c.Key), MaxKey)
			}
			if len(c.Vals) > MaxValues {
				return tooMany(at("vals"), "values", len(c.Vals), MaxValues)
			}
			for v, val := range c.Vals {
				if tooLong(val, MaxValue) {
					return tooMany(at(fmt.Sprintf("vals[%d]", v)), "characters", utf8.RuneCountInString(val), MaxValue)
				}
			}
		}
	}
	switch s := bytes(f); {
	case s.Bytes > MaxBytes:
		return tooMany("", "bytes in all keys and values, 8 more for each of them", s.Bytes, MaxBytes)
	case s.Expressions > MaxExpressions:
		return tooMany("", "regular expressions", s.Expressions, MaxExpressions)
	}
	return nil
}

// tooLong reports whether s has more than most characters. The comparison of bytes is the fast path.
func tooLong(s string, most int) bool { return len(s) > most && utf8.RuneCountInString(s) > most }

func tooMany(path, of string, got, most int) *Error {
	return &Error{Path: path, Value: strconv.Itoa(got), Want: fault.NewClause("must have at most %d "+of, most), number: true}
}
