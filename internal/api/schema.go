package api

import (
	"fmt"
	"path"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"tocsin/internal/fault"
)

// schemas holds the JSON schema of every request and reply type. The same schema checks requests and
// is published in /openapi.json, so that the two cannot disagree.
type schemas struct{ registry huma.Registry }

// requiredMark lets explain tell the one message that names its field in the text instead of the path.
const requiredMark = "required: "

// The library keeps its messages and one default in variables; they are set once, before the first
// schema is made.
var ourWords = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false // lists are [], never null; a type that needs null says so
	validation.MsgExpectedBoolean = "must be true or false"
	validation.MsgExpectedInteger = "must be an integer"
	validation.MsgExpectedNumber = "must be a number"
	validation.MsgExpectedString = "must be a string"
	validation.MsgExpectedArray = "must be an array"
	validation.MsgExpectedObject = "must be an object"
	validation.MsgExpectedOneOf = "must be one of %s"
	validation.MsgExpectedMinimumNumber = "must be at least %.0f"
	validation.MsgExpectedMaximumNumber = "must be at most %.0f"
	validation.MsgExpectedMinLength = "must have at least %d characters"
	validation.MsgExpectedMaxLength = "must have at most %d characters"
	validation.MsgExpectedMinItems = "must have at least %d items"
	validation.MsgExpectedMaxItems = "must have at most %d items"
	validation.MsgExpectedBePattern = "must be %s"
	validation.MsgExpectedMatchPattern = "must match %s"
	validation.MsgExpectedRequiredProperty = requiredMark + "%s"
	huma.ValidateStrictCasing = true
})

func newSchemas() *schemas {
	ourWords()
	return &schemas{registry: huma.NewMapRegistry("#/components/schemas/", schemaName)}
}

// schemaName is the type's name with its package in front: rooms have types of the same name.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	room := path.Base(t.PkgPath())
	if room == "." || room == "api" {
		return name
	}
	if strings.HasPrefix(strings.ToLower(name), room) {
		return name
	}
	return strings.ToUpper(room[:1]) + room[1:] + name
}

// of registers a type and gives its schema (a reference for structs). Members we do not know are
// allowed: clients newer than we are must not be refused.
func (s *schemas) of(t reflect.Type, hint string) *huma.Schema {
	schema := s.registry.Schema(t, true, hint)
	for _, named := range s.registry.Map() {
		if open, ok := named.AdditionalProperties.(bool); ok && !open {
			named.AdditionalProperties = nil
		}
	}
	return schema
}

// check holds a decoded request against its schema and reports the first fault, in the order of the
// schema's fields.
func (s *schemas) check(schema *huma.Schema, value any) error {
	result := &huma.ValidateResult{}
	huma.Validate(s.registry, schema, huma.NewPathBuffer(make([]byte, 0, 64), 0), huma.ModeWriteToServer, value, result)
	if len(result.Errors) == 0 {
		return nil
	}
	detail, ok := result.Errors[0].(*huma.ErrorDetail)
	if !ok {
		return fault.Invalid("", "%v", result.Errors[0])
	}
	return explain(detail)
}

// explain says which field, which bound and what came.
func explain(d *huma.ErrorDetail) error {
	if name, ok := strings.CutPrefix(d.Message, requiredMark); ok {
		if d.Location != "" {
			name = d.Location + "." + name
		}
		return fault.Invalid(name, "is required")
	}
	if d.Location == "" {
		return fault.Invalid("", "the body %s, got %s", d.Message, shown(d.Value))
	}
	return fault.Invalid(d.Location, "%s, got %s", d.Message, shown(d.Value))
}

// shown prints a value as it came, shortened: an error must say what was wrong, not repeat a megabyte.
// Objects and arrays are only named, because what is inside may be a secret.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if n := utf8.RuneCountInString(v); n > 60 {
			return fmt.Sprintf("a string of %d characters", n)
		}
		return strconv.Quote(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprint(v)
	}
}
