package page

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has the values of members: as they are entered, and as requests hold them.

// text returns the value of a member as it is entered.
func (m Member) text(v *Visit, value reflect.Value) string {
	switch value.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.Bool:
		return map[bool]string{true: "1"}[value.Bool()]
	case reflect.Int, reflect.Int64:
		if m.Kind != Moment {
			return strconv.FormatInt(value.Int(), 10)
		}
		if value.Int() == 0 {
			return ""
		}
		return v.Local(time.Unix(value.Int(), 0))
	case reflect.Uint64:
		return strconv.FormatUint(value.Uint(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	case reflect.Slice:
		return listText(value)
	case reflect.Map:
		return pairsText(value)
	}
	return value.String()
}

// listText returns texts or numbers on lines, and lists of them with commas on lines.
func listText(list reflect.Value) string {
	var all []string
	for i := range list.Len() {
		if one := list.Index(i); one.Kind() == reflect.Slice {
			all = append(all, strings.ReplaceAll(listText(one), "\n", ", "))
		} else {
			all = append(all, fmt.Sprint(one))
		}
	}
	return strings.Join(all, "\n")
}

// pairsText returns the members of an object on lines, by name.
func pairsText(pairs reflect.Value) string {
	var all []string
	for _, key := range pairs.MapKeys() {
		all = append(all, fmt.Sprint(key)+": "+fmt.Sprint(pairs.MapIndex(key)))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// namesText returns the names of the members of an object on lines, as pairs whose values are kept secret.
func namesText(pairs reflect.Value) string {
	var all []string
	for _, key := range pairs.MapKeys() {
		all = append(all, fmt.Sprint(key)+":")
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// set sets a member to what was entered. An empty number is absent.
func (m Member) set(v *Visit, to reflect.Value, entered string) error {
	if to.Kind() == reflect.Pointer {
		if entered == "" && to.Type().Elem().Kind() != reflect.String && to.Type().Elem().Kind() != reflect.Bool {
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(entered)
		return nil
	case reflect.Bool:
		to.SetBool(entered != "")
		return nil
	case reflect.Slice:
		return m.setList(v, to, strings.Split(entered, "\n"))
	case reflect.Map:
		return m.setPairs(v, to, entered)
	}
	if entered == "" {
		return nil
	}
	return m.setNumber(v, to, entered)
}

// setNumber sets a member to the number or the moment that a text states.
func (m Member) setNumber(v *Visit, to reflect.Value, entered string) error {
	if m.Kind == Moment {
		t, err := ParseLocal(entered, v.Zone)
		if err != nil {
			return Wrong(v.T("%s: “%s” is no time such as %s.", v.T(m.Label), Cut(entered, 40), LocalTime))
		}
		to.SetInt(t.Unix())
		return nil
	}
	if to.Kind() == reflect.Float64 {
		n, err := strconv.ParseFloat(entered, 64)
		if err != nil {
			return Wrong(v.T("%s: “%s” is no number.", v.T(m.Label), Cut(entered, 40)))
		}
		to.SetFloat(n)
		return nil
	}
	n, err := strconv.ParseInt(entered, 10, 64)
	if err != nil || to.CanUint() && n < 0 {
		return Wrong(v.T("%s: “%s” is no whole number.", v.T(m.Label), Cut(entered, 40)))
	}
	if to.CanUint() {
		to.SetUint(uint64(n))
		return nil
	}
	to.SetInt(n)
	return nil
}

// setList sets a list of texts or numbers to lines, and a list of lists to lines with commas.
func (m Member) setList(v *Visit, to reflect.Value, entered []string) error {
	all := reflect.MakeSlice(to.Type(), 0, len(entered))
	for _, one := range entered {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		item := reflect.New(to.Type().Elem()).Elem()
		var err error
		if item.Kind() == reflect.Slice {
			err = m.setList(v, item, strings.Split(one, ","))
		} else {
			err = m.set(v, item, one)
		}
		if err != nil {
			return err
		}
		all = reflect.Append(all, item)
	}
	to.Set(all)
	return nil
}

// setPairs sets an object of texts to lines with a name, a colon and a value.
func (m Member) setPairs(v *Visit, to reflect.Value, entered string) error {
	all := reflect.MakeMap(to.Type())
	for line := range strings.Lines(entered) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return Wrong(v.T("%s: “%s” has no colon after a name.", v.T(m.Label), Cut(line, 40)))
		}
		item := reflect.New(to.Type().Elem()).Elem()
		if err := m.set(v, item, strings.TrimSpace(value)); err != nil {
			return err
		}
		all.SetMapIndex(reflect.ValueOf(strings.TrimSpace(name)).Convert(to.Type().Key()), item)
	}
	to.Set(all)
	return nil
}

// ids returns the ids that a member holds: a list, or a single id.
func ids(value reflect.Value) (all []int64) {
	switch {
	case !value.IsValid():
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			all = append(all, idOf(value.Index(i)))
		}
	case !value.IsZero():
		all = append(all, idOf(value))
	}
	return all
}

func idOf(value reflect.Value) int64 {
	if value.CanUint() {
		return int64(value.Uint())
	}
	return value.Int()
}

// setIDs sets a member to ids: a list, or the first id; 0 for none.
func setIDs(to reflect.Value, chosen []int64) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if !isList(to.Type()) {
		setID(to, append(chosen, 0)[0])
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(chosen), len(chosen)))
	for i, id := range chosen {
		setID(to.Index(i), id)
	}
}

// isList reports whether a member takes several ids.
func isList(of reflect.Type) bool { return of.Kind() == reflect.Slice }

func setID(to reflect.Value, id int64) {
	if to.CanUint() {
		to.SetUint(uint64(id))
		return
	}
	to.SetInt(id)
}
