package filter

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Either is a list of lists that may be written as one of its lists alone: [[a, b]] as [a, b]. It is encoded in the
// shape in which it was decoded, because clients compare what they read with what they wrote.
type Either[Outer ~[]Inner, Inner any] struct {
	Value Outer
	flat  bool // written as one list; Value has exactly one element
}

// Written is a filter, or the conditions of its only group. Both shapes match the same alerts.
type Written = Either[Filter, Group]

// Groups returns a filter that is written as groups.
func Groups(f Filter) Written { return Written{Value: f} }

// OneOf returns a value of each shape, for the schema.
func (Either[Outer, Inner]) OneOf() []any {
	var inner Inner
	return []any{Outer{}, inner}
}

// IsZero reports whether nothing was written.
func (e Either[Outer, Inner]) IsZero() bool { return e.Value == nil }

// Flat reports whether the value was written as one list.
func (e Either[Outer, Inner]) Flat() bool { return e.flat }

// Path converts a path into the value, such as [0][2].vals[1], to the shape in which it was written.
func (e Either[Outer, Inner]) Path(path string) string {
	if e.flat {
		return strings.TrimPrefix(path, "[0]")
	}
	return path
}

// MarshalJSONTo encodes the value in the shape in which it was decoded.
func (e Either[Outer, Inner]) MarshalJSONTo(enc *jsontext.Encoder) error {
	if e.flat {
		return json.MarshalEncode(enc, e.Value[0])
	}
	return json.MarshalEncode(enc, e.Value)
}

// UnmarshalJSONFrom decodes either shape. The first element decides: a list in the list of lists, anything else in one
// list. The empty list is the empty list of lists.
func (e *Either[Outer, Inner]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	*e = Either[Outer, Inner]{}
	if value.Kind() == '[' {
		first := 1
		for value[first] <= ' ' { // the value is valid JSON, so only white space is before the first element
			first++
		}
		e.flat = value[first] != '[' && value[first] != ']'
	}
	if !e.flat {
		return json.Unmarshal(value, &e.Value, dec.Options())
	}
	var inner Inner
	err = json.Unmarshal(value, &inner, dec.Options())
	e.Value = Outer{inner}
	return err
}

// CheckWritten is Check with paths in the shape in which the filter was written.
func CheckWritten(w Written) error {
	var wrong *Error
	if !errors.As(Check(w.Value), &wrong) {
		return nil
	}
	at := *wrong
	at.Path = w.Path(wrong.Path)
	return &at
}
