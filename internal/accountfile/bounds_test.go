package accountfile

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/configstore"
)

// member is a text, list or map somewhere in a file: the steps to it, with an element of each list and map on the way.
type member struct {
	path  configstore.RecordPath
	steps []step
	typ   reflect.Type
	tag   reflect.StructTag
}

type step struct {
	field []int // index of a field; nil: the first element of a list, the element "x" of a map
}

// members returns the bounded members of a type. Elements of lists are bounded by the tags of the list.
func members(m member, within []reflect.Type) (all []member) {
	deeper := func(path configstore.RecordPath, s step, typ reflect.Type, tag reflect.StructTag) {
		all = append(all, members(member{path, append(slices.Clone(m.steps), s), typ, tag}, within)...)
	}
	switch m.typ.Kind() {
	case reflect.Pointer:
		m.typ = m.typ.Elem()
		return members(m, within)
	case reflect.String:
		all = append(all, m)
	case reflect.Slice:
		if m.typ.Elem().Kind() == reflect.Uint8 {
			return nil // a document of any shape
		}
		if len(m.steps) > 1 { // the file bounds the number of records
			all = append(all, m)
		}
		deeper(configstore.PathOf(string(m.path), 0), step{}, m.typ.Elem(), m.tag)
	case reflect.Map:
		all = append(all, m)
		deeper(m.path.Member("x"), step{}, m.typ.Elem(), m.tag)
	case reflect.Struct:
		if slices.Contains(within, m.typ) {
			return nil
		}
		within = append(slices.Clone(within), m.typ)
		for _, f := range reflect.VisibleFields(m.typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.Anonymous && f.IsExported() && name != "" && name != "-" {
				deeper(m.path.Member(name), step{f.Index}, f.Type, f.Tag)
			}
		}
	}
	return all
}

// set makes the member larger than any bound in a file that is otherwise empty.
func (m member) set(v reflect.Value, steps []step) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		m.set(v.Elem(), steps)
		return
	}
	if len(steps) == 0 {
		tooLarge(v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i, index := range steps[0].field {
			if i > 0 && v.Kind() == reflect.Pointer {
				v.Set(reflect.New(v.Type().Elem()))
				v = v.Elem()
			}
			v = v.Field(index)
		}
		m.set(v, steps[1:])
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		m.set(v.Index(0), steps[1:])
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		m.set(element, steps[1:])
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("x").Convert(v.Type().Key()), element)
	}
}

func tooLarge(v reflect.Value) {
	const n = 300_000
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Repeat("x", n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range 2000 {
			v.SetMapIndex(reflect.ValueOf(strconv.Itoa(i)).Convert(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		}
	}
}

// TestEveryMemberIsBounded makes each text, list and map of a file too large, one after the other.
func TestEveryMemberIsBounded(t *testing.T) {
	all := members(member{typ: reflect.TypeFor[File]()}, nil)
	if len(all) < 300 {
		t.Fatalf("%d members", len(all))
	}
	for _, m := range all {
		var f File
		m.set(reflect.ValueOf(&f).Elem(), m.steps)
		if err := f.check(); err == nil || !strings.HasPrefix(err.Error(), string(m.path)+": must ") {
			t.Errorf("%s (%s): %v", m.path, m.typ, err)
		}
	}
}
