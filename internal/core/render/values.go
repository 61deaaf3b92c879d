package render

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	text "text/template"
	"unicode"
)

// general returns the general functions of the public template language, which have the names and the order of arguments
// of the sprig library. They are written here because those of the library take nothing from a budget: some write any
// number of bytes, and lists of lists of lists are printed in exponential time. A test compares them with the library.
func general(b *budget) text.FuncMap {
	return text.FuncMap{
		"list":       func(v ...any) ([]any, error) { return slices.Clone(v), b.hold(v...) },
		"dict":       b.dict,
		"get":        get,
		"hasKey":     func(m any, key string) (bool, error) { v, err := lookup(m, key); return v.IsValid(), err },
		"keys":       b.keys,
		"values":     b.values,
		"has":        func(v, list any) (bool, error) { return b.in(v, list) },
		"in":         b.in,
		"first":      func(list any) (any, error) { return element(list, 0) },
		"last":       func(list any) (any, error) { return element(list, -1) },
		"empty":      empty,
		"default":    func(instead any, value ...any) any { return fallback(coalesce(value...), instead) },
		"coalesce":   coalesce,
		"ternary":    ternary,
		"toString":   func(v any) (string, error) { return b.string(v) },
		"toInt64":    toInt64,
		"int64":      toInt64,
		"int":        func(v any) int { return int(toInt64(v)) },
		"float64":    toFloat64,
		"add":        func(v ...any) (sum int64) { return fold(0, v, func(a, b int64) int64 { return a + b }) },
		"sub":        func(a, b any) int64 { return toInt64(a) - toInt64(b) },
		"mul":        func(a any, v ...any) int64 { return fold(toInt64(a), v, func(a, b int64) int64 { return a * b }) },
		"div":        func(a, b any) (int64, error) { return divide(a, b, func(a, b int64) int64 { return a / b }) },
		"mod":        func(a, b any) (int64, error) { return divide(a, b, func(a, b int64) int64 { return a % b }) },
		"max":        func(a any, v ...any) int64 { return fold(toInt64(a), v, func(a, b int64) int64 { return max(a, b) }) },
		"min":        func(a any, v ...any) int64 { return fold(toInt64(a), v, func(a, b int64) int64 { return min(a, b) }) },
		"round":      round,
		"floor":      func(v any) float64 { return math.Floor(toFloat64(v)) },
		"ceil":       func(v any) float64 { return math.Ceil(toFloat64(v)) },
		"title":      func(s string) (string, error) { return b.made(title(s)) },
		"trunc":      func(n int, s string) (string, error) { return trunc(n, s), b.spend(len(s)) },
		"trimPrefix": func(prefix, s string) (string, error) { return strings.TrimPrefix(s, prefix), b.spend(len(s)) },
		"trimSuffix": func(suffix, s string) (string, error) { return strings.TrimSuffix(s, suffix), b.spend(len(s)) },
		"splitList":  b.split,
		"quote":      b.quote,
		"indent":     b.indent,
		"nindent":    func(n int, s string) (string, error) { s, err := b.indent(n, s); return "\n" + s, err },
		"b64enc":     func(s string) (string, error) { return b.made(base64.StdEncoding.EncodeToString([]byte(s))) },
		"toJson":     b.toJSON,
	}
}

// maxHeld is the number of bytes that a list or a dictionary may hold, with everything in it. Without a bound a template
// of one line builds lists of lists that cannot be printed in a lifetime.
const maxHeld = 1 << 20

// hold takes the size of values that become part of a list or a dictionary from the budget.
func (b *budget) hold(values ...any) error {
	left := maxHeld
	for _, v := range values {
		weigh(reflect.ValueOf(v), &left)
	}
	if left < 0 {
		return fmt.Errorf("more than %d bytes in a list or dictionary", maxHeld)
	}
	return b.take(maxHeld - left)
}

// weigh takes the size of a value from left, until nothing is left. No value of a template contains itself.
func weigh(v reflect.Value, left *int) {
	if *left -= 16; *left < 0 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		*left -= v.Len()
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && *left >= 0; i++ {
			weigh(v.Index(i), left)
		}
	case reflect.Map:
		for it := v.MapRange(); *left >= 0 && it.Next(); {
			weigh(it.Key(), left)
			weigh(it.Value(), left)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && *left >= 0; i++ {
			weigh(v.Field(i), left)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			weigh(v.Elem(), left)
		}
	}
}

func (b *budget) dict(pairs ...any) (map[string]any, error) {
	if err := b.hold(pairs...); err != nil {
		return nil, err
	}
	d := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		key, err := b.string(pairs[i])
		if err != nil {
			return nil, err
		}
		if d[key] = ""; i+1 < len(pairs) {
			d[key] = pairs[i+1]
		}
	}
	return d, nil
}

// lookup returns the value of a key in a map; it is not valid when there is none.
func lookup(m any, key string) (reflect.Value, error) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Map || v.Type().Key().Kind() != reflect.String {
		return v, fmt.Errorf("labels, fields or a dictionary are needed, got %T", m)
	}
	return v.MapIndex(reflect.ValueOf(key)), nil
}

func get(m any, key string) (any, error) {
	v, err := lookup(m, key)
	if err != nil || !v.IsValid() {
		return "", err
	}
	return v.Interface(), nil
}

// keys returns the keys of maps in order.
func (b *budget) keys(m any) ([]string, error) {
	if _, err := lookup(m, ""); err != nil {
		return nil, err
	}
	all := make([]string, 0, reflect.ValueOf(m).Len())
	for _, key := range reflect.ValueOf(m).MapKeys() {
		all = append(all, key.String())
	}
	slices.Sort(all)
	return all, b.hold(all)
}

// values returns the values of a map in the order of its keys.
func (b *budget) values(m any) ([]any, error) {
	keys, err := b.keys(m)
	if err != nil {
		return nil, err
	}
	all := make([]any, 0, len(keys))
	for _, key := range keys {
		v, _ := lookup(m, key)
		all = append(all, v.Interface())
	}
	return all, b.hold(all...)
}

// in reports whether a value, as it is printed, is one of others, or is in a list among them.
func (b *budget) in(value any, others ...any) (bool, error) {
	want, err := b.string(value)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		list := reflect.ValueOf(other)
		if list.Kind() != reflect.Slice {
			list = reflect.ValueOf([]any{other})
		}
		for i := range list.Len() {
			if is, err := b.string(list.Index(i).Interface()); err != nil || is == want {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// element returns an element of a list, counted from the end if n is negative; nil if there is none.
func element(list any, n int) (any, error) {
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("a list is needed, got %T", list)
	}
	if n < 0 {
		n += v.Len()
	}
	if n < 0 || n >= v.Len() {
		return nil, nil
	}
	return v.Index(n).Interface(), nil
}

// empty reports whether a value is nil, false, 0, or a text, list or map without content.
func empty(value any) bool {
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.String, reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// coalesce returns the first value that is not empty; nil if there is none.
func coalesce(values ...any) any {
	for _, v := range values {
		if !empty(v) {
			return v
		}
	}
	return nil
}

func fallback(value, instead any) any {
	if value == nil {
		return instead
	}
	return value
}

func ternary(yes, no any, condition bool) any {
	if condition {
		return yes
	}
	return no
}

// string returns a value as it is printed.
func (b *budget) string(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", nil
	case string:
		return v, b.spend(0)
	}
	if _, err := b.read([]any{v}); err != nil {
		return "", err
	}
	return fmt.Sprint(v), nil
}

// toInt64 returns a number, a text of one or a truth value as a whole number; 0 for any other value.
func toInt64(value any) int64 {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.String:
		if n, err := strconv.ParseInt(v.String(), 0, 64); err == nil {
			return n
		}
	}
	return int64(toFloat64(value))
}

// toFloat64 returns a number, a text of one or a truth value as a number; 0 for any other value.
func toFloat64(value any) float64 {
	v := reflect.ValueOf(value)
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.String:
		n, _ := strconv.ParseFloat(v.String(), 64)
		return n
	}
	return 0
}

func fold(start int64, values []any, combine func(a, b int64) int64) int64 {
	for _, v := range values {
		start = combine(start, toInt64(v))
	}
	return start
}

func divide(a, b any, by func(a, b int64) int64) (int64, error) {
	if toInt64(b) == 0 {
		return 0, errors.New("division by 0")
	}
	return by(toInt64(a), toInt64(b)), nil
}

// round rounds to so many decimal places, halves away from 0.
func round(value any, places int) float64 {
	scale := math.Pow(10, float64(max(0, min(places, 15))))
	return math.Round(toFloat64(value)*scale) / scale
}

// title returns a text with the first letter of each word in upper case.
func title(s string) string {
	before := ' '
	return strings.Map(func(r rune) rune {
		defer func() { before = r }()
		if isWord(before) || before == '_' || before == '\'' {
			return r
		}
		return unicode.ToTitle(r)
	}, s)
}

// trunc returns the first n characters of a text, or the last -n.
func trunc(n int, s string) string {
	all := []rune(s)
	switch {
	case n >= 0 && n < len(all):
		return string(all[:n])
	case n < 0 && -n < len(all) && -n > 0:
		return string(all[len(all)+n:])
	}
	return s
}

// quote returns values as texts in quotes, with a space between them.
func (b *budget) quote(values ...any) (string, error) {
	var all []string
	for _, v := range values {
		if v == nil {
			continue
		}
		s, err := b.string(v)
		if err != nil {
			return "", err
		}
		s = strconv.Quote(s)
		if err := b.spend(len(s)); err != nil {
			return "", err
		}
		all = append(all, s)
	}
	return strings.Join(all, " "), nil
}

// indent begins each line with n spaces.
func (b *budget) indent(n int, s string) (string, error) {
	n = max(0, min(n, MaxOutput))
	if err := b.spend(len(s) + n*(1+strings.Count(s, "\n"))); err != nil {
		return "", err
	}
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

// texts returns the elements of a list as they are printed; a value that is no list is a list of one.
func (b *budget) texts(list any) ([]string, error) {
	switch l := list.(type) {
	case []string:
		return l, nil
	case map[string]any, map[string]string:
		return nil, fmt.Errorf("a list is needed, got %T", list)
	}
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Slice {
		v = reflect.ValueOf([]any{list})
	}
	all := make([]string, 0, v.Len())
	for i := range v.Len() {
		s, err := b.string(v.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
