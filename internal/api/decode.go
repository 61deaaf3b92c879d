package api

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
)

// number is a JSON number as it was written. A float64 would lose the last digits of an identifier, and an error's
// "got ..." would show the wrong one.
type number string

var asWritten = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	*v = number(token.String())
	return nil
}))

// parse decodes a body into an untyped document: exactly one JSON value in UTF-8 without duplicate names. What the fast
// way cannot read goes to the decoder, whose error names the place.
func parse(body []byte) (any, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body))
	if document, err := untyped(d); err == nil {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return document, nil
		}
	}
	var document any
	if err := json.Unmarshal(body, &document, asWritten); err != nil {
		return nil, Unreadable(err, "the body")
	}
	return document, nil
}

// untyped reads the next value as json.Unmarshal with asWritten does. It takes half the time, because it calls no
// function for each value that might decode it otherwise.
func untyped(d *jsontext.Decoder) (any, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	case '[':
		return untypedArray(d)
	case '{':
		return untypedObject(d)
	default:
		return nil, nil
	}
}

// untypedArray reads the items of an array, whose bracket is read, to its end.
func untypedArray(d *jsontext.Decoder) (any, error) {
	list := []any{}
	for d.PeekKind() != ']' {
		item, err := untyped(d)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := d.ReadToken()
	return list, err
}

// untypedObject reads the members of an object, whose brace is read, to its end.
func untypedObject(d *jsontext.Decoder) (any, error) {
	object := map[string]any{}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String() // before the next token replaces it
		object[name], err = untyped(d)
		if err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return object, err
}

// unmarshal decodes a body that passed its schema into its type. Only types with their own decoder can still fail.
func unmarshal(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return Unreadable(err, "the body")
	}
	return nil
}

// Unreadable converts a decoder's error about a document, such as "the body", into a fault that names the member or
// the path. A fault from a type's own decoder keeps its message. Only a number where a number was wanted is repeated
// from the document: anything else may be a secret.
func Unreadable(err error, document string) error {
	var typed *json.SemanticError
	if errors.As(err, &typed) {
		at := fieldPath(typed.JSONPointer)
		var found *fault.Error
		switch {
		case errors.As(typed.Err, &found):
			return fault.Invalid(at, "%s", found.Clause())
		case errors.Is(typed.Err, json.ErrUnknownName):
			return fault.Invalid(at, "is not a member that is known here")
		}
		return fault.Invalid(at, "%s, got %s", wanted(typed.GoType), came(typed))
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.Invalid(fieldPath(syntax.JSONPointer), "is given twice")
		}
		return fault.Invalid(fieldPath(syntax.JSONPointer), "%s is not valid JSON at byte %d: %s",
			document, syntax.ByteOffset, unreadable(syntax.Err))
	}
	return fault.Invalid("", "%s cannot be read: %s", document, unreadable(err))
}

// unreadable describes in words of JSON why a document cannot be read.
func unreadable(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "it ends too early"
	}
	return shortened(strings.TrimPrefix(err.Error(), "jsontext: "))
}

// came describes the JSON value that was found where another type was wanted.
func came(e *json.SemanticError) string {
	t := e.GoType
	if e.JSONKind == '0' && len(e.JSONValue) > 0 && t != nil && t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64 {
		return shown(number(e.JSONValue))
	}
	switch e.JSONKind {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '0':
		return "a number"
	case '"':
		return "a string"
	case '[':
		return "an array"
	default:
		return "an object"
	}
}

// wanted describes the values that a field of this type takes.
func wanted(t reflect.Type) fault.Clause {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return fault.NewClause("must be a value of another type")
	}
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Uint64:
		low, high := span(width(t))
		return fault.NewClause("must be an integer from %s to %s", low, high)
	case k == reflect.Float32 || k == reflect.Float64:
		return fault.NewClause("must be a number")
	case k == reflect.Bool:
		return fault.NewClause("must be true or false")
	case k == reflect.String:
		return fault.NewClause("must be a string")
	case k == reflect.Slice || k == reflect.Array:
		return fault.NewClause("must be an array")
	default:
		return fault.NewClause("must be an object")
	}
}
