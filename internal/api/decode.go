package api

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

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
	if limit == 0 {
		limit = defaultMaxBody
	}
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

// exact keeps integers of an untyped document whole: as float64 they would lose their last digits and
// with them an error's "got ...".
var exact = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		*v = n
	} else if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		*v = n
	} else if *v, err = strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("number %s is out of range", text)
	}
	return nil
}))

// parse reads a body into an untyped document: exactly one JSON value in UTF-8 with no name twice.
func parse(body []byte) (any, error) {
	var document any
	if err := json.Unmarshal(body, &document, exact); err != nil {
		return nil, unreadable(err)
	}
	return document, nil
}

// unmarshal reads a body that passed its schema into its type. What can still fail is a number that
// does not fit its field.
func unmarshal(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return unreadable(err)
	}
	return nil
}

// unreadable turns a decoder's error into a fault that names the field or the place.
func unreadable(err error) error {
	var typed *json.SemanticError
	if errors.As(err, &typed) {
		want := "a value of another type"
		if typed.GoType != nil {
			want = wanted(typed.GoType)
		}
		got := string(typed.JSONValue)
		if got == "" {
			got = typed.JSONKind.String()
		}
		if len(got) > 60 {
			got = got[:57] + "..."
		}
		return fault.Invalid(fieldPath(typed.JSONPointer), "must be %s, got %s", want, got)
	}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fault.Invalid(fieldPath(syntax.JSONPointer), "is given twice")
		}
		return fault.Invalid(fieldPath(syntax.JSONPointer), "the body is not valid JSON at byte %d: %v", syntax.ByteOffset, syntax.Err)
	}
	return fault.Invalid("", "the body is not valid JSON: %v", err)
}

func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch k := t.Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case k >= reflect.Uint && k <= reflect.Uint64:
		return fmt.Sprintf("an integer from 0 of %d bits", t.Bits())
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

// fieldPath turns /layers/2/mode into layers[2].mode.
func fieldPath(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if _, err := strconv.Atoi(token); err == nil {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}
