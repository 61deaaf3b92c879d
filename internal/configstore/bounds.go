package configstore

import (
	"cmp"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Bounds holds a record against the bounds in the tags of its fields: maxItems, innerMaxItems, maxProperties,
// maxLength, enum and pattern. The schema of requests has the same bounds, so that an account file has no record that the
// API rejects. The error is fault.Invalid with the path of the member.
func (a RecordPath) Bounds(v any) error { return a.check(reflect.ValueOf(v), unbounded) }

// bounds are those of one field. A number is none if it is negative.
type bounds struct {
	maxItems      int
	innerMaxItems int // of lists in the list or map
	maxProperties int
	maxLength     int // of texts, those in a list or map too
	enum          []string
	pattern       *regexp.Regexp
	description   string // of the pattern
}

var unbounded = bounds{maxItems: -1, innerMaxItems: -1, maxProperties: -1, maxLength: -1}

// inner returns the bounds of the elements of a list or a map.
func (b bounds) inner() bounds {
	return bounds{maxItems: b.innerMaxItems, innerMaxItems: -1, maxProperties: -1, maxLength: b.maxLength, enum: b.enum}
}

// check checks a value. A zero one breaks no bound.
func (a RecordPath) check(v reflect.Value, b bounds) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return a.check(v.Elem(), b)
	case reflect.String:
		return a.text(v.String(), b)
	case reflect.Slice:
		return a.elements(v, b)
	case reflect.Map:
		return a.values(v, b)
	case reflect.Struct:
		return a.fields(v)
	}
	return nil
}

// text checks a string. The empty one counts as not set.
func (a RecordPath) text(s string, b bounds) error {
	if s == "" {
		return nil
	}
	if len(b.enum) > 0 {
		return a.OneOf("", s, b.enum...)
	}
	if b.pattern != nil && !b.pattern.MatchString(s) {
		return a.Invalid("", "must be %s, got %s", cmp.Or(b.description, b.pattern.String()), shown(s))
	}
	if b.maxLength < 0 || len(s) <= b.maxLength { // a character has at least one byte
		return nil
	}
	if n := utf8.RuneCountInString(s); n > b.maxLength {
		return a.Invalid("", "must have at most %d characters, got %d", b.maxLength, n)
	}
	return nil
}

func (a RecordPath) fields(v reflect.Value) error {
	for _, f := range boundedFields(v.Type()) {
		field, err := v.FieldByIndexErr(f.index)
		if err != nil || field.IsZero() {
			continue // a field of an embedded struct whose pointer is nil, or nothing to check
		}
		if err := a.Member(f.name).check(field, f.bounds); err != nil {
			return err
		}
	}
	return nil
}

// boundedField is a field of a type whose values may break a bound.
type boundedField struct {
	index  []int
	name   string
	bounds bounds
}

var boundedFieldsOf sync.Map // of a reflect.Type: []boundedField

// boundedFields returns the fields of a type. To find them costs more than to check a record, so they are found once.
func boundedFields(t reflect.Type) []boundedField {
	if known, ok := boundedFieldsOf.Load(t); ok {
		return known.([]boundedField)
	}
	all := []boundedField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue // the fields of an embedded struct are visible fields too
		}
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.String, reflect.Slice, reflect.Map, reflect.Struct:
			all = append(all, boundedField{f.Index, name, boundsOf(f.Tag)})
		}
	}
	boundedFieldsOf.Store(t, all)
	return all
}

// boundsOf returns the bounds in the tags of a field. A pattern that does not compile is a mistake of the program.
func boundsOf(tag reflect.StructTag) bounds {
	b := bounds{
		maxItems: number(tag, "maxItems"), innerMaxItems: number(tag, "innerMaxItems"),
		maxProperties: number(tag, "maxProperties"), maxLength: number(tag, "maxLength"),
		description: tag.Get("patternDescription"),
	}
	if values := tag.Get("enum"); values != "" {
		b.enum = strings.Split(values, ",")
	}
	if pattern := tag.Get("pattern"); pattern != "" {
		b.pattern = regexp.MustCompile(pattern)
	}
	return b
}

// number returns the number in a tag; -1 when it has none.
func number(tag reflect.StructTag, name string) int {
	n, err := strconv.Atoi(tag.Get(name))
	if err != nil {
		return -1
	}
	return n
}

func (a RecordPath) elements(v reflect.Value, b bounds) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return nil // a document of any shape
	}
	most := b.maxItems
	if list, own := v.Interface().(interface{ MaxItems() int }); own {
		most = list.MaxItems() // as in the schema
	}
	if most >= 0 && v.Len() > most {
		return a.Invalid("", "must have at most %d elements, got %d", most, v.Len())
	}
	inner := b.inner()
	for i := range v.Len() {
		if err := PathOf(string(a), i).check(v.Index(i), inner); err != nil {
			return err
		}
	}
	return nil
}

func (a RecordPath) values(v reflect.Value, b bounds) error {
	if b.maxProperties >= 0 && v.Len() > b.maxProperties {
		return a.Invalid("", "must have at most %d members, got %d", b.maxProperties, v.Len())
	}
	if v.Type().Key().Kind() != reflect.String {
		return nil
	}
	all := map[string]reflect.Value{} // of several errors the first by name is returned
	for name, value := range v.Seq2() {
		all[name.String()] = value
	}
	inner := b.inner()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := a.Member(name).check(all[name], inner); err != nil {
			return err
		}
	}
	return nil
}
