package symbols

import (
	"errors"
	"fmt"
)

// segment is one mapping: a column of the generated line and, unless source is -1, the place that it was made from. All
// numbers start at 0.
type segment struct {
	column             int
	source, line, from int // from: the original column
	name               int // -1: none
}

var errOverflow = errors.New("a number is larger than 32 bits")

// digits maps a byte to its value in base 64, or to 64.
var digits = func() (all [256]byte) {
	for i := range all {
		all[i] = 64
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		all[c] = byte(i)
	}
	return all
}()

// walk calls visit for each segment of mappings with its generated line, until visit returns false. The time is that of
// the text's length, and nothing is stored: a map whose mappings are large costs no more memory than its text.
func walk(mappings string, visit func(line int, s segment) bool) error {
	line := 0
	var column, source, original, from, name int // each number is the difference to the one before
	for i := 0; i < len(mappings); {
		switch mappings[i] {
		case ';':
			line, column = line+1, 0
			i++
			continue
		case ',':
			i++
			continue
		}
		var fields [5]int
		count := 0
		for ; i < len(mappings) && mappings[i] != ',' && mappings[i] != ';'; count++ {
			if count == len(fields) {
				return fmt.Errorf("at %d: a mapping has more than %d numbers", i, len(fields))
			}
			n, next, err := number(mappings, i)
			if err != nil {
				return fmt.Errorf("at %d: %w", i, err)
			}
			fields[count], i = n, next
		}
		column += fields[0]
		s := segment{column: column, source: -1, name: -1}
		switch count {
		case 1:
		case 4, 5:
			source = source + fields[1]
			original = original + fields[2]
			from = from + fields[3]
			s.source = source
			s.line = original
			s.from = from
			if count == 5 {
				name += fields[4]
				s.name = name
			}
		default:
			return fmt.Errorf("at %d: a mapping has %d numbers, not 1, 4 or 5", i, count)
		}
		if !visit(line, s) {
			return nil
		}
	}
	return nil
}

// number decodes the number that begins at i: base 64, five bits a digit, the lowest first, and the sign in the lowest
// bit of all.
func number(text string, i int) (n, next int, err error) {
	value := 0
	for shift := 0; i < len(text); shift += 5 {
		d := digits[text[i]]
		if d == 64 {
			return 0, i, fmt.Errorf("%q is no digit", text[i])
		}
		if shift > 30 {
			return 0, i, errOverflow
		}
		i++
		value |= int(d&31) << shift
		if d&32 == 0 {
			if value>>1 > 1<<31-1 {
				return 0, i, errOverflow
			}
			if value&1 != 0 {
				return -(value >> 1), i, nil
			}
			return value >> 1, i, nil
		}
	}
	return 0, i, errors.New("a number has no end")
}
