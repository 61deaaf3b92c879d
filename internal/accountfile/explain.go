package accountfile

import (
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/fault"
)

// explain turns a decoder's error into a fault with the path of the value. It repeats no value but
// numbers: others may be secrets.
func explain(err error) error {
	var typed *json.SemanticError
	if errors.As(err, &typed) {
		path := pathOf(typed.JSONPointer)
		switch {
		case errors.Is(err, json.ErrUnknownName):
			return fault.Invalid(path, "is not a member that %s knows here", Current)
		case typed.Err == nil, errors.Is(typed.Err, strconv.ErrRange), errors.Is(typed.Err, strconv.ErrSyntax):
			return fault.Invalid(path, "must be %s, got %s", wanted(typed.GoType), given(typed))
		}
		return fault.Invalid(path, "%v", typed.Err) // of a type that reads itself
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.Invalid(pathOf(syntax.JSONPointer), "is given twice")
		}
		return fault.Invalid(pathOf(syntax.JSONPointer), "the file is not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	return fault.Wrap(err, "read the account file")
}

// wanted says in words what a Go type takes.
func wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "a value of another type"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64:
		return "an integer of " + strconv.Itoa(t.Bits()) + " bits"
	case t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64:
		return "an integer from 0 of " + strconv.Itoa(t.Bits()) + " bits"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Slice:
		return "an array"
	default:
		return "an object"
	}
}

func given(e *json.SemanticError) string {
	if text := string(e.JSONValue); e.JSONKind == '0' && len(text) > 0 && len(text) <= 60 {
		return text
	}
	switch e.JSONKind {
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "an array"
	default:
		return "an object"
	}
}

// pathOf turns /schedules/3/layers/0/foo into schedules[3].layers[0].foo.
func pathOf(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		if len(token) > 80 {
			token = strings.ToValidUTF8(token[:80], "") + "..."
		}
		b.WriteString(token)
	}
	return b.String()
}
