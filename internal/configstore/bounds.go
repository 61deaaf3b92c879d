package configstore

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds holds a record against the bounds in the tags of its fields: maxItems, innerMaxItems, maxProperties,
// maxLength, enum and pattern. The schema of requests has the same bounds, so that an account file has no record that the
// API rejects. The error is fault.Invalid with the path of the member.
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
		return a.text(v.String(), tag)
	case reflect.Slice:
		return a.elements(v, tag)
	case reflect.Map:
		return a.values(v, tag)
	case reflect.Struct:
		return a.fields(v)
	}
	return nil
}

// text checks a string. The empty one counts as not set.
func (a RecordPath) text(s string, tag reflect.StructTag) error {
	if values := tag.Get("enum"); values != "" && s != "" {
		return a.OneOf("", s, strings.Split(values, ",")...)
	}
	if pattern := tag.Get("pattern"); pattern != "" && s != "" && !regexp.MustCompile(pattern).MatchString(s) {
		return a.Invalid("", "must be %s, got %s", cmp.Or(tag.Get("patternDescription"), pattern), shown(s))
	}
	most, ok := number(tag, "maxLength")
	if !ok || len(s) <= most { // a character has at least one byte
		return nil
	}
	if n := utf8.RuneCountInString(s); n > most {
		return a.Invalid("", "must have at most %d characters, got %d", most, n)
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
	most, ok := number(tag, "maxItems")
	if list, own := v.Interface().(interface{ MaxItems() int }); own {
		most, ok = list.MaxItems(), true // as in the schema
	}
	if ok && v.Len() > most {
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

// inner returns the tags for the elements of a list or a map: innerMaxItems bounds lists in it, maxLength and enum texts.
func inner(tag reflect.StructTag) reflect.StructTag {
	return reflect.StructTag(fmt.Sprintf(`maxItems:%q maxLength:%q enum:%q`, tag.Get("innerMaxItems"), tag.Get("maxLength"), tag.Get("enum")))
}

// number returns the number in a tag; ok is false when it has none.
func number(tag reflect.StructTag, name string) (int, bool) {
	n, err := strconv.Atoi(tag.Get(name))
	return n, err == nil
}
