package monitor

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/console/page"
)

// This file has what forms share whose inputs have the names that the operations give the members.

// memberOf returns the member of what root points to that an input names, as JSON does: rule_configs.queries[0].expr. Inputs of other
// purposes name none.
func memberOf(root any, name string) (at reflect.Value, found bool) {
	at = reflect.ValueOf(root).Elem()
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".[]", r) }) {
		if at.Kind() == reflect.Slice {
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= at.Len() {
				return at, false
			}
			at = at.Index(i)
			continue
		}
		if at.Kind() != reflect.Struct {
			return at, false
		}
		fields := reflect.VisibleFields(at.Type())
		i := slices.IndexFunc(fields, func(f reflect.StructField) bool { return jsonName(f) == part })
		if i < 0 {
			return at, false
		}
		at = at.FieldByIndex(fields[i].Index)
		if at.Kind() == reflect.Pointer {
			if at.IsNil() {
				at.Set(reflect.New(at.Type().Elem()))
			}
			at = at.Elem()
		}
	}
	return at, true
}

// setMember sets a member to what was entered in the input of a name.
func setMember(v *page.Visit, at reflect.Value, name string) error {
	text := strings.ReplaceAll(v.Field(name), "\r\n", "\n")
	switch member := at.Addr().Interface().(type) {
	case *string:
		*member = text
	case *bool:
		*member = text != ""
	case *[]string:
		*member = page.Values(text)
	case *[]int64:
		*member = v.Numbers(name)
	case *[]uint64:
		for _, one := range v.Request.PostForm[name] {
			if id := page.Unsigned(one); id != 0 {
				*member = append(*member, id)
			}
		}
	case *map[string]string:
		*member = pairsOf(text)
	case *int64:
		n, err := strconv.ParseInt(cmp.Or(text, "0"), 10, 64)
		*member = n
		if err != nil {
			return page.Wrong(v.T("%s must be a whole number, got %s.", name, page.Cut(text, 30)))
		}
	}
	return nil
}

// pairsOf reads names and values, a name=value on each line. A line without = is a name without a value.
func pairsOf(text string) map[string]string {
	all := map[string]string{}
	for _, line := range page.Values(text) {
		name, value, _ := strings.Cut(line, "=")
		all[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return all
}

// memberText returns what an input of a member holds.
func memberText(at reflect.Value) (text string, found bool) {
	if at.Kind() == reflect.Pointer {
		if at.IsNil() {
			return "", true
		}
		at = at.Elem()
	}
	switch member := at.Interface().(type) {
	case string:
		return member, true
	case []string:
		return strings.Join(member, "\n"), true
	case map[string]string:
		var lines []string
		for _, key := range slices.Sorted(maps.Keys(member)) {
			lines = append(lines, key+"="+member[key])
		}
		return strings.Join(lines, "\n"), true
	case int64:
		return strconv.FormatInt(member, 10), true
	case bool:
		return map[bool]string{true: "1"}[member], true
	}
	return "", false
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
