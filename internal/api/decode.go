package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/fault"
)

// defaultMaxBody is the cap on request bodies, in bytes.
const defaultMaxBody = 1 << 20

// readBody reads the request's body up to the operation's cap and holds the declared content type
// against it. A request without a body is one with an empty object, so that operations without required
// fields can be called with nothing at all.
func readBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		w.Header().Set("Connection", "close")
		return nil, tooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		var over *http.MaxBytesError
		if errors.As(err, &over) {
			return nil, tooLarge(limit)
		}
		return nil, fault.New(fault.BadRequest, "the body could not be read to its end")
	}
	kind := r.Header.Get("Content-Type")
	if len(body) == 0 && kind == "" {
		return []byte("{}"), nil
	}
	if media, _, err := mime.ParseMediaType(kind); err != nil || media != "application/json" {
		return nil, fault.New(fault.InvalidContentType, "must be application/json, got %s", shown(kind))
	}
	if len(body) == 0 {
		return []byte("{}"), nil
	}
	return body, nil
}

func tooLarge(limit int64) error {
	return fault.New(fault.TooLarge, "must be at most %d bytes", limit)
}

// number is a JSON number as it was written. As float64 the last digits of an identifier would be lost,
// and with them an error's "got ...".
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

// parse reads a body into an untyped document: exactly one JSON value in UTF-8 with no name twice.
func parse(body []byte) (any, error) {
	var document any
	if err := json.Unmarshal(body, &document, asWritten); err != nil {
		return nil, unreadable(err)
	}
	return document, nil
}

// unmarshal reads a body that passed its schema into its type. What can still fail is a type that reads
// itself.
func unmarshal(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable turns a decoder's error into a fault that names the field or the place. What a type found
// while it read itself keeps its words.
func unreadable(err error) error {
	var typed *json.SemanticError
	if errors.As(err, &typed) {
		var found *fault.Error
		if errors.As(typed.Err, &found) {
			return fault.Invalid(fieldPath(typed.JSONPointer), "%s", found.Message)
		}
		return fault.Invalid(fieldPath(typed.JSONPointer), "must be %s", wanted(typed.GoType))
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.Invalid(fieldPath(syntax.JSONPointer), "is given twice")
		}
		return fault.Invalid(fieldPath(syntax.JSONPointer), "the body is not valid JSON at byte %d: %s", syntax.ByteOffset, shortened(syntax.Err.Error()))
	}
	return fault.Invalid("", "the body is not valid JSON: %s", shortened(err.Error()))
}

// wanted says in words what a field of this type takes.
func wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "a value of another type"
	}
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Uint64:
		low, high := span(width(t))
		return fmt.Sprintf("an integer from %s to %s", low, high)
	case k == reflect.Float32 || k == reflect.Float64:
		return "a number"
	case k == reflect.Bool:
		return "true or false"
	case k == reflect.String:
		return "a string"
	case k == reflect.Slice || k == reflect.Array:
		return "an array"
	default:
		return "an object"
	}
}
