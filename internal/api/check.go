package api

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/redact"
)

// checker checks decoded documents against a schema, which is prepared once. It stops at the first fault, in the
// order in which a type declares its fields: a body of a million wrong items costs no more than one.
//
// It differs from a JSON schema in four ways. An integer is written in digits: 1.0 and 1e3 are rejected although they
// are whole, because the decoder behind it rejects them. Null for an optional field counts as absent. So does an empty
// text for an optional field that holds it when it is absent. And a name must not be blank.
type checker struct {
	*huma.Schema
	pattern *regexp.Regexp
	enum    []string
	fields  []member   // of an object
	items   *checker   // of an array
	forms   []*checker // of a value in one of several forms
	values  *checker   // of the members without a field; in a map, of all members
	shape   *redact.Shape
}

type member struct {
	name     string
	required bool
	nullable bool
	unset    bool // an empty text counts as absent
	label    bool // a name or a title: a text without anything to see is rejected
	*checker
}

// checker prepares a schema for checking. Schemas are cached before their parts, because types may contain themselves.
func (s *schemas) checker(schema *huma.Schema) *checker {
	ref := schema.Ref
	if ref != "" {
		schema = s.SchemaFromRef(ref)
	}
	if c := s.checkers[schema]; c != nil {
		return c
	}
	c := &checker{Schema: schema}
	s.checkers[schema] = c
	if schema.Pattern != "" {
		c.pattern = regexp.MustCompile(schema.Pattern)
	}
	for _, v := range schema.Enum {
		c.enum = append(c.enum, literal(v))
	}
	for _, form := range schema.OneOf {
		c.forms = append(c.forms, s.checker(form))
	}
	if schema.Items != nil {
		c.items = s.checker(schema.Items)
	}
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		c.values = s.checker(values)
	}
	if t := s.TypeFromRef(ref); t != nil {
		for name, tagged := range fields(schema, t) {
			of := schema.Properties[name]
			m := member{name: name, required: slices.Contains(schema.Required, name), nullable: of.AnyOf != nil, checker: s.checker(notNull(of))}
			m.unset = !m.required && tagged.Type == reflect.TypeFor[string]() // which holds an empty text when it is absent
			m.label = m.Type == huma.TypeString && labels.MatchString(name)
			c.fields = append(c.fields, m)
		}
	}
	return c
}

// hasField reports whether an object has a field with a name.
func (c *checker) hasField(name string) bool {
	return slices.ContainsFunc(c.fields, func(m member) bool { return m.name == name })
}

// check returns the first fault of a decoded document. at is the document's path, nil for the body.
func (c *checker) check(at *jsonPath, v any) error {
	if v == nil && c.Nullable {
		return nil
	}
	if c.forms != nil {
		return c.form(v).check(at, v)
	}
	var err error
	switch c.Type {
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			err = at.wants(v, "must be true or false")
		}
	case huma.TypeInteger, huma.TypeNumber:
		err = c.number(at, v)
	case huma.TypeString:
		err = c.text(at, v)
	case huma.TypeArray:
		err = c.array(at, v)
	case huma.TypeObject:
		err = c.object(at, v)
	}
	if err == nil && c.enum != nil && !slices.Contains(c.enum, literal(v)) {
		err = at.wants(v, "must be one of %s", fault.Words(c.enum))
	}
	return err
}

// form returns the form that a value is checked against: the first that takes its first element, else the first.
func (c *checker) form(v any) *checker {
	if list, ok := v.([]any); ok && len(list) > 0 {
		for _, form := range c.forms {
			if form.items.isOf(list[0]) {
				return form
			}
		}
	}
	return c.forms[0]
}

// isOf reports whether a value has the type of the schema, whatever it contains.
func (c *checker) isOf(v any) bool {
	var is bool
	switch c.Type {
	case huma.TypeArray:
		_, is = v.([]any)
	case huma.TypeObject:
		_, is = v.(map[string]any)
	case huma.TypeString:
		_, is = v.(string)
	}
	return is
}

// number checks the type, the format's range and the bounds of a number.
func (c *checker) number(at *jsonPath, v any) error {
	n, ok := v.(number)
	if c.Type == huma.TypeInteger {
		if !ok {
			return at.wants(v, "must be an integer")
		}
		if strings.ContainsAny(string(n), ".eE") {
			return at.wants(v, "must be an integer without point or exponent")
		}
		if !fits(string(n), c.Format) {
			low, high := span(c.Format)
			return at.wants(v, "must be an integer from %s to %s", low, high)
		}
		if c.Minimum == nil && c.Maximum == nil {
			return nil
		}
	}
	value, err := strconv.ParseFloat(string(n), 64)
	switch {
	case !ok:
		return at.wants(v, "must be a number")
	case err != nil:
		return at.wants(v, "must be a number of at most 1.8e308")
	case c.Minimum != nil && value < *c.Minimum:
		return at.wants(v, "must be at least %s", literal(*c.Minimum))
	case c.Maximum != nil && value > *c.Maximum:
		return at.wants(v, "must be at most %s", literal(*c.Maximum))
	}
	return nil
}

// text checks the type, length, format and pattern of a string.
func (c *checker) text(at *jsonPath, v any) error {
	s, ok := v.(string)
	n := utf8.RuneCountInString(s)
	switch {
	case !ok:
		return at.wants(v, "must be a string")
	case c.MinLength != nil && n < *c.MinLength:
		return at.wants(v, "must have at least %d characters", *c.MinLength)
	case c.MaxLength != nil && n > *c.MaxLength:
		return at.wants(v, "must have at most %d characters", *c.MaxLength)
	case strings.IndexByte(s, 0) >= 0: // databases cannot store it in a text column
		return at.wants(v, "must not contain the character U+0000")
	case c.Format == "date-time" && !isTime(s):
		return at.wants(v, "must be a time such as 2026-04-13T12:00:00+08:00")
	case c.pattern == nil || c.pattern.MatchString(s):
		return nil
	case c.PatternDescription != "":
		return at.wants(v, "must be %s", c.PatternDescription)
	}
	return at.wants(v, "must match %s", c.Pattern)
}

func isTime(s string) bool {
	_, err := time.Parse(time.RFC3339Nano, s)
	return err == nil
}

func (c *checker) array(at *jsonPath, v any) error {
	list, ok := v.([]any)
	switch {
	case !ok:
		return at.wants(v, "must be an array")
	case c.MinItems != nil && len(list) < *c.MinItems:
		return at.wants(v, "must have at least %d items", *c.MinItems)
	case c.MaxItems != nil && len(list) > *c.MaxItems:
		return at.wants(v, "must have at most %d items", *c.MaxItems)
	}
	for i, item := range list {
		if err := c.items.check(&jsonPath{up: at, index: i}, item); err != nil {
			return err
		}
	}
	return nil
}

// object checks the declared members in their order, then the others by name.
func (c *checker) object(at *jsonPath, v any) error {
	object, ok := v.(map[string]any)
	if !ok {
		return at.wants(v, "must be an object")
	}
	if c.MaxProperties != nil && len(object) > *c.MaxProperties {
		return at.wants(v, "must have at most %d members", *c.MaxProperties)
	}
	for _, m := range c.fields {
		value, given := object[m.name]
		here := &jsonPath{up: at, name: m.name, secret: m.secret() != ""}
		switch {
		case !given && m.required:
			return fault.Invalid(here.String(), "is required")
		case value == nil && (!m.required || m.nullable), value == "" && m.unset:
			continue
		case m.label && blank(value):
			return here.wants(value, "must not be blank")
		}
		if err := m.check(here, value); err != nil {
			return err
		}
	}
	if c.values == nil {
		return nil
	}
	names := make([]string, 0, len(object))
	for name := range object {
		if c.Properties[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names) // so that the same body always gets the same error
	for _, name := range names {
		here := &jsonPath{up: at, name: name, secret: c.values.secret() != "" || redact.Hides(name)}
		if strings.IndexByte(name, 0) >= 0 {
			return fault.Invalid(here.String(), "must not contain the character U+0000")
		}
		if err := c.values.check(here, object[name]); err != nil {
			return err
		}
	}
	return nil
}

// labels matches the fields that hold what people call something.
var labels = regexp.MustCompile(`^(.+_)?(name|title)$`)

// blank reports whether a value is a text of spaces and other characters that are not seen. An empty text is not.
func blank(v any) bool {
	s, ok := v.(string)
	return ok && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsPrint(r) && !unicode.IsSpace(r) })
}

// fits reports whether digits fit an integer format such as uint64.
func fits(digits, format string) bool {
	var err error
	if bits, ok := strings.CutPrefix(format, "uint"); ok {
		_, err = strconv.ParseUint(digits, 10, atoi(bits))
	} else {
		_, err = strconv.ParseInt(digits, 10, atoi(strings.TrimPrefix(format, "int")))
	}
	return err == nil
}

// span returns the least and the greatest integer of a format.
func span(format string) (low, high string) {
	if bits, ok := strings.CutPrefix(format, "uint"); ok {
		return "0", strconv.FormatUint(math.MaxUint64>>(64-atoi(bits)), 10)
	}
	least := int64(math.MinInt64) >> (64 - atoi(strings.TrimPrefix(format, "int")))
	return strconv.FormatInt(least, 10), strconv.FormatInt(-(least + 1), 10)
}

func atoi(bits string) int {
	n, _ := strconv.Atoi(bits)
	return n
}

// literal formats a scalar as JSON does, strings without their quotes.
func literal(v any) string {
	if f, ok := v.(float64); ok {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
