package api

import (
	"encoding"
	"encoding/json"
	"iter"
	"path"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// schemas holds the JSON schema of every request and reply type. The same schema checks requests (see
// checker) and is published in /openapi.json, so that the two cannot disagree. Frame.prepare fills it.
//
// It is a huma.Registry: the library builds a struct's schema from its fields and their tags. This type decides what
// the library leaves to its registry, or does differently from what we need: names, the widths of integers,
// documents of any shape, and objects that may be null.
type schemas struct {
	replies  bool // they describe replies, in which every member is present that is not left out when it is empty
	named    map[string]*huma.Schema
	types    map[string]reflect.Type
	checkers map[*huma.Schema]*checker
}

const schemaPrefix = "#/components/schemas/"

// ourDefaults sets the one default that the library holds in a variable. It must run before the first schema is built.
var ourDefaults = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false // lists are [], never null; a type that needs null declares it
})

func newSchemas() *schemas {
	ourDefaults()
	return &schemas{named: map[string]*huma.Schema{}, types: map[string]reflect.Type{}, checkers: map[*huma.Schema]*checker{}}
}

// of returns the schema of a request or reply type, a reference for structs.
func (s *schemas) of(t reflect.Type, hint string) *huma.Schema {
	return notNull(s.Schema(t, true, hint))
}

// Schema returns the schema of a type. A pointer to a struct may be null here; the struct that holds the
// pointer, or the list, decides whether it stays so.
func (s *schemas) Schema(t reflect.Type, _ bool, hint string) *huma.Schema {
	base := t
	for base.Kind() == reflect.Pointer {
		base = base.Elem()
	}
	if base == reflect.TypeFor[jsontext.Value]() || base == reflect.TypeFor[json.RawMessage]() {
		return &huma.Schema{} // any document
	}
	if either, ok := reflect.Zero(base).Interface().(interface{ OneOf() []any }); ok {
		schema := &huma.Schema{}
		for i, shape := range either.OneOf() {
			schema.OneOf = append(schema.OneOf, s.of(reflect.TypeOf(shape), hint))
			if i > 0 {
				schema.OneOf[i].MinItems = new(1) // the empty list has the first shape
			}
		}
		return schema
	}
	if !isObject(base) {
		schema := huma.SchemaFromType(s, t)
		if schema.Type == huma.TypeInteger {
			schema.Format = width(base)
		}
		if schema.Items != nil {
			schema.Items = notNull(schema.Items)
		}
		if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
			schema.AdditionalProperties = notNull(values)
		}
		if list, ok := reflect.Zero(base).Interface().(interface{ MaxItems() int }); ok && schema.Type == huma.TypeArray {
			schema.MaxItems = new(list.MaxItems()) // a list type with its own bound needs no tag where it is used
		}
		return schema
	}
	ref := &huma.Schema{Ref: schemaPrefix + s.register(base, hint)}
	if t.Kind() == reflect.Pointer {
		return &huma.Schema{AnyOf: []*huma.Schema{ref, {Type: "null"}}}
	}
	return ref
}

// isObject reports whether a type is an object in JSON: a struct that does not encode itself as text and does not
// describe itself.
func isObject(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.Struct &&
		!p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) &&
		!p.Implements(reflect.TypeFor[huma.SchemaProvider]())
}

// register builds the schema of a struct unless it exists, and returns its name. Unknown members are allowed: clients
// newer than this server must not be rejected.
func (s *schemas) register(t reflect.Type, hint string) string {
	name := schemaName(t, hint)
	switch s.types[name] {
	case t:
		return name
	case nil:
	default:
		panic("two types share the schema name " + name + ": " + t.String() + " and " + s.types[name].String())
	}
	schema := &huma.Schema{} // stored before its fields are built, for types that contain themselves
	s.named[name], s.types[name] = schema, t
	*schema = *huma.SchemaFromType(s, t)
	schema.AdditionalProperties = nil
	if s.replies {
		schema.Required = nil
	}
	for field, tagged := range fields(schema, t) {
		of, null := schema.Properties[field], tagged.Tag.Get("nullable") == "true"
		omitted := strings.Contains(tagged.Tag.Get("json"), ",omit")
		if s.replies && !omitted {
			schema.Required = append(schema.Required, field)
		}
		boundInner(of, tagged.Tag)
		markSecret(of, tagged)
		switch {
		case of.AnyOf != nil && (null || s.replies && !omitted):
			of.Nullable = false // AnyOf already allows null
		case of.AnyOf != nil:
			schema.Properties[field] = notNull(of)
		case !null && omitted:
			of.Nullable = false // such a pointer is left out of replies, and optional fields of requests may always be null
		}
	}
	for f := range t.Fields() {
		if _, options, _ := strings.Cut(f.Tag.Get("json"), ","); options == "embed" && f.Type.Kind() == reflect.Map {
			of := s.of(f.Type.Elem(), hint) // stores the members that have no field
			markSecret(of, f)
			schema.AdditionalProperties = of
		}
	}
	return name
}

// boundInner moves the bounds of a field's tags to the right schema when lists or strings are nested in a list or a
// map: the lengths bound the innermost strings, and the tag innerMaxItems bounds the lists inside. The library would
// put a length on the list, where it has no meaning.
func boundInner(of *huma.Schema, tag reflect.StructTag) {
	if of.OneOf != nil {
		for _, shape := range of.OneOf {
			innermost := shape
			for innermost.Items != nil {
				innermost = innermost.Items
			}
			if innermost.Type == huma.TypeString {
				innermost.MinLength, innermost.MaxLength = of.MinLength, of.MaxLength
			}
		}
		of.MinLength, of.MaxLength = nil, nil
	}
	inner := of.Items
	if values, ok := of.AdditionalProperties.(*huma.Schema); ok {
		inner = values
	}
	if inner == nil || inner.Ref != "" || of.Type == huma.TypeArray && inner.Type != huma.TypeArray {
		return
	}
	outer := of
	if of.Type == huma.TypeArray {
		outer = inner
	}
	least, most := outer.MinLength, outer.MaxLength
	outer.MinLength, outer.MaxLength = nil, nil
	if inner.Type == huma.TypeArray {
		if n, err := strconv.Atoi(tag.Get("innerMaxItems")); err == nil {
			inner.MaxItems = &n
		}
		inner = inner.Items
	}
	if inner.Type == huma.TypeString {
		inner.MinLength, inner.MaxLength = least, most
	}
}

// notNull removes null from the alternatives of a pointer to a struct.
func notNull(schema *huma.Schema) *huma.Schema {
	if schema.AnyOf == nil {
		return schema
	}
	plain := *schema
	plain.Ref, plain.AnyOf = schema.AnyOf[0].Ref, nil
	return &plain
}

// width returns the format of an integer type in the OpenAPI format registry, such as uint64.
func width(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "int64"
	case reflect.Uint:
		return "uint64"
	}
	return t.Kind().String()
}

// SchemaFromRef returns a struct's schema.
func (s *schemas) SchemaFromRef(ref string) *huma.Schema {
	return s.named[strings.TrimPrefix(ref, schemaPrefix)]
}

// TypeFromRef returns the struct of a schema.
func (s *schemas) TypeFromRef(ref string) reflect.Type {
	return s.types[strings.TrimPrefix(ref, schemaPrefix)]
}

// Map returns every struct's schema by name.
func (s *schemas) Map() map[string]*huma.Schema { return s.named }

// RegisterTypeAlias is never called: no type of ours stands for another.
func (s *schemas) RegisterTypeAlias(reflect.Type, reflect.Type) {}

// MarshalJSON encodes the schemas as they are published under components.
func (s *schemas) MarshalJSON() ([]byte, error) { return json.Marshal(s.named) }

// typeName matches the parts of a type's name: the name itself and, in brackets, those of its arguments
// with the paths of their packages.
var typeName = regexp.MustCompile(`([\w/.-]+\.)?(\w+)`)

// schemaName returns the type's name with its package in front, because packages have types of the same name:
// SilenceRule of package channel is ChannelSilenceRule, a list of it ItemsChannelSilenceRule. The frame's
// own types, and names that begin with their package, stay as they are.
func schemaName(t reflect.Type, hint string) string {
	if t.Name() == "" {
		return hint
	}
	var b strings.Builder
	for i, part := range typeName.FindAllStringSubmatch(t.Name(), -1) {
		pkg, name := path.Base(strings.TrimSuffix(part[1], ".")), part[2]
		if i == 0 {
			pkg = path.Base(t.PkgPath())
		}
		if pkg != "api" && pkg != "." && !strings.HasPrefix(strings.ToLower(name), pkg) {
			b.WriteString(title(pkg))
		}
		b.WriteString(title(name))
	}
	return b.String()
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// fields iterates over a struct's fields in the order of their declaration, by their JSON names.
func fields(schema *huma.Schema, t reflect.Type) iter.Seq2[string, reflect.StructField] {
	return func(yield func(string, reflect.StructField) bool) {
		seen := map[string]bool{}
		for _, f := range reflect.VisibleFields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			if schema.Properties[name] == nil || seen[name] || f.Tag.Get("hidden") == "true" {
				continue
			}
			seen[name] = true
			if !yield(name, f) {
				return
			}
		}
	}
}
