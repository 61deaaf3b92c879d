package render

import (
	"encoding/base64"
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
		"get":        b.get,
		"hasKey":     func(m any, key string) (bool, error) { v, err := b.lookup(m, key); return v.IsValid(), err },
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
