package render

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	text "text/template"
)

var (
	location = regexp.MustCompile(`^(?:html/)?template: :(\d+)(?::(\d+))?: `)
	noMember = regexp.MustCompile(`<[^>]*>: can't evaluate field (\w+) in type \*?render\.(\w+)$`)
)

// readable replaces the template's name in an error of the library, which is empty, by "line 3, column 5: ".
func readable(err error) error {
	message := inWords(strings.ReplaceAll(err.Error(), `executing "" at `, ""))
	if m := location.FindStringSubmatch(message); m != nil {
		message = message[len(m[0]):]
		place := "line " + m[1]
		if n, err := strconv.Atoi(m[2]); err == nil {
			place += fmt.Sprintf(", column %d", n+1)
		}
		message = place + ": " + message
	}
	if m := noMember.FindStringSubmatch(message); m != nil {
		message = fmt.Sprintf("%sthere is no .%s; there are %s", message[:len(message)-len(m[0])], m[1], strings.Join(members(m[2]), ", "))
	}
	return errors.New(message)
}

// members returns the names that templates may use of a type, in order.
func members(name string) (all []string) {
	skip := []string{"Cleaned", "String"}
	for _, value := range []any{Incident{}, Alert{}, &Person{}, &Actor{}, Assignment{}, Flapping{}, Image{}, Difference{}, Link{}} {
		typ := reflect.TypeOf(value)
		for i := range typ.NumMethod() {
			all = append(all, typ.Method(i).Name)
		}
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Name() == name {
			for i := range typ.NumField() {
				all = append(all, typ.Field(i).Name)
			}
			slices.Sort(all)
			return slices.DeleteFunc(slices.Compact(all), func(s string) bool { return slices.Contains(skip, s) })
		}
		all = nil
	}
	return nil
}

// located returns an error of parsing with the line and the column of the action that is wrong. The library reports only
// lines, so the actions are parsed once more with each on a line of its own.
func located(source string, err error) error {
	wrong := location.FindStringSubmatch(err.Error())
	if wrong == nil {
		return readable(err)
	}
	spread := strings.ReplaceAll(source, "{{", "\n{{")
	_, again := text.New("").Funcs(HTML.all(nil)).Funcs(Plain.all(nil)).Parse(spread)
	if again == nil {
		return readable(err)
	}
	m := location.FindStringSubmatch(again.Error())
	if m == nil || again.Error()[len(m[0]):] != err.Error()[len(wrong[0]):] {
		return readable(err)
	}
	line, _ := strconv.Atoi(m[1])
	at := len(strings.Join(strings.SplitAfter(spread, "\n")[:line-1], ""))
	before := strings.ReplaceAll(spread[:at], "\n{{", "{{")
	if strings.HasPrefix(spread[at:], "{{") {
		before = strings.TrimSuffix(before, "\n")
	}
	line, column := 1+strings.Count(before, "\n"), len(before)-strings.LastIndex(before, "\n")
	return fmt.Errorf("line %d, column %d: %s", line, column, inWords(err.Error()[len(wrong[0]):]))
}

// inWords replaces the library's word for a text that ends within a block.
func inWords(message string) string {
	return strings.ReplaceAll(message, "unexpected EOF", "an {{end}} is missing")
}
