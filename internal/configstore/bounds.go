package configstore

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds holds a record against the bounds in the tags of its fields: maxItems, innerMaxItems, maxProperties and
// maxLength. The schema of requests has the same bounds, so that an account file has no record that the API rejects.
// The error is fault.Invalid with the path of the member.
func (a RecordPath) Bounds(v any) error { return a.bounds(reflect.ValueOf(v), "") }

// bounds checks a value whose field has these tags.
func (a RecordPath) bounds(v reflect.Value, tag reflect.StructTag) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return a.bounds(v.Elem(), tag)
	case reflect.String:
		most, ok := number(tag, "maxLength")
		if !ok || v.Len() <= most { // a character has at least one byte
			return nil
		}
		if n := utf8.RuneCountInString(v.String()); n > most {
			return a.Invalid("", "must have at most %d characters, got %d", most, n)
		}
	case reflect.Slice:
		return a.elements(v, tag)
	case reflect.Map:
		return a.values(v, tag)
	case reflect.Struct:
		return a.fields(v)
	}
	return nil
}

func (a RecordPath) fields(v reflect.Value) error {
	for _, f := range reflect.VisibleFields(v.Type()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue // the fields of an embedded struct are visible fields too
		}
		field, err := v.FieldByIndexErr(f.Index)
		if err != nil {
			continue // a field of an embedded struct whose pointer is nil
		}
		if err := a.Member(name).bounds(field, f.Tag); err != nil {
			return err
		}
	}
	return nil
}

func (a RecordPath) elements(v reflect.Value, tag reflect.StructTag) error {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return nil // a document of any shape
	}
	if most, ok := number(tag, "maxItems"); ok && v.Len() > most {
		return a.Invalid("", "must have at most %d elements, got %d", most, v.Len())
	}
	for i := range v.Len() {
		if err := PathOf(string(a), i).bounds(v.Index(i), inner(tag)); err != nil {
			return err
		}
	}
	return nil
}

func (a RecordPath) values(v reflect.Value, tag reflect.StructTag) error {
	if most, ok := number(tag, "maxProperties"); ok && v.Len() > most {
		return a.Invalid("", "must have at most %d members, got %d", most, v.Len())
	}
	if v.Type().Key().Kind() != reflect.String {
		return nil
	}
	all := map[string]reflect.Value{} // of several errors the first by name is returned
	for name, value := range v.Seq2() {
		all[name.String()] = value
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := a.Member(name).bounds(all[name], inner(tag)); err != nil {
			return err
		}
	}
	return nil
}

// inner returns the tags for the elements of a list or a map: innerMaxItems bounds lists in it, maxLength texts.
func inner(tag reflect.StructTag) reflect.StructTag {
	return reflect.StructTag(fmt.Sprintf(`maxItems:%q maxLength:%q`, tag.Get("innerMaxItems"), tag.Get("maxLength")))
}

// number returns the number in a tag; ok is false when it has none.
func number(tag reflect.StructTag, name string) (int, bool) {
	n, err := strconv.Atoi(tag.Get(name))
	return n, err == nil
}
