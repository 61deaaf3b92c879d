package rumerror

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"tocsin/internal/core/event"
)

// In characters: how much of a message is normalised, and the length of what results.
const (
	maxRead   = 1000
	maxNormal = 200
)

var (
	typed    = compiled(`^([A-Z][A-Za-z0-9_$]*(?:Error|Exception)): `)
	uncaught = []string{"Uncaught (in promise) ", "Uncaught "}
)

// Normal returns the type and message of an error as fingerprints have them: what browsers word differently is worded
// alike, and what changes from one error to the next, such as numbers and addresses, is replaced.
func Normal(kind, message string) (normalKind, normal string) {
	kind, message = strings.TrimSpace(kind), event.Cut(firstLine(message), maxRead)
	for before := ""; before != message; {
		before = message
		for _, prefix := range uncaught {
			message = strings.TrimPrefix(message, prefix)
		}
		if m := typed().FindStringSubmatch(message); m != nil && (kind == "" || kind == "Error") {
			kind = m[1]
		}
		if kind != "" {
			message = strings.TrimPrefix(message, kind+": ")
		}
	}
	if kind == "" {
		kind = "Error"
	}
	for _, text := range []string{message, unquoted(message)} {
		for _, c := range canonical {
			if m := c.pattern().FindStringSubmatch(text); m != nil {
				if c.kind != "" {
					kind = c.kind
				}
				return kind, strings.TrimSpace(c.text + " " + lastName(m))
			}
		}
	}
	return kind, generic(message)
}

// unquoted returns a message without the quotes around it. Datadog's SDK quotes a thrown value that is no error, such as
// Uncaught "Script error.".
func unquoted(message string) string {
	if n := len(message); n > 2 && message[0] == '"' && message[n-1] == '"' {
		return message[1 : n-1]
	}
	return message
}

// lastName returns the last part of the first name that was matched: rate of e.rate.
func lastName(match []string) string {
	for _, name := range match[1:] {
		if name != "" {
			return event.Cut(name[strings.LastIndexAny(name, ".")+1:], maxNormal/2)
		}
	}
	return ""
}

// canonical are the errors that browsers word differently.
var canonical = []struct {
	pattern    func() *regexp.Regexp
	text, kind string
}{
	{compiled(`^Cannot (?:read|set) propert(?:y|ies) of (?:undefined|null)(?: \((?:reading|setting) '([^']*)'\))?|` +
		`^Cannot (?:read|set) property '([^']*)' of (?:undefined|null)|^can't access property "([^"]*)"|` +
		`^(?:undefined|null) is not an object \(evaluating '([^']*)'\)`), "<null-access>", ""},
	{compiled(`^(\S+) is not a function`), "<not-a-function>", ""},
	{compiled(`^(\S+) is not defined|^Can't find variable: (\S+)`), "<not-defined>", ""},
	{compiled(`(?i)^Loading (?:CSS )?chunk \S+ failed|dynamically imported module|^Importing a module script failed`),
		"<chunk-load-failed>", "ChunkLoadError"},
	{compiled(`^Failed to fetch$|^NetworkError when attempting to fetch|^Load failed$`), "<fetch-failed>", ""},
	{compiled(`^Maximum call stack size exceeded|^too much recursion`), "<stack-overflow>", "RangeError"},
	{compiled(`^ResizeObserver loop `), resizeObserverLoop, ""},
	{compiled(`(?i)^Script error\.?$`), scriptError, ""},
	{compiled(`is not valid JSON|in JSON at position|^Unexpected end of JSON input|^JSON\.parse: |^JSON Parse error: `),
		"<invalid-json>", "SyntaxError"},
}

// replaced are the parts of messages that change from one error to the next, in the order in which they are replaced.
var replaced = []struct {
	pattern func() *regexp.Regexp
	by      string
}{
	{compiled("[a-zA-Z][a-zA-Z0-9+.-]*://[^\\s'\"`<>)\\]}]+"), "<url>"},
	{compiled(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+`), "<email>"},
	{compiled(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`), "<uuid>"},
	{compiled(`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?`), "<date>"},
	{compiled(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b`), "<ip>"},
	{compiled(`\b0[xX][0-9a-fA-F]+\b`), "<hex>"},
}

var (
	hexToken = compiled(`\b[0-9a-fA-F]{7,}\b`)
	word     = compiled(`^[A-Za-z_$.-]{1,64}$`)
	spaces   = compiled(`\s+`)
)

// generic replaces what changes in a message that is not canonical.
func generic(message string) string {
	for _, r := range replaced {
		message = r.pattern().ReplaceAllString(message, r.by)
	}
	message = withoutQuotes(message)
	message = hexToken().ReplaceAllStringFunc(message, func(s string) string {
		if strings.ContainsAny(s, digits) && strings.ContainsAny(s, "abcdefABCDEF") {
			return "<hex>"
		}
		return s
	})
	return event.Cut(strings.TrimSpace(spaces().ReplaceAllString(withoutNumbers(message), " ")), maxNormal)
}

// withoutQuotes replaces quoted texts by <str>, except for single words, which are names of the program.
func withoutQuotes(s string) string {
	var b strings.Builder
	before := ' '
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if strings.ContainsRune("'\"`", r) && !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			if end := strings.IndexRune(s[size:], r); end >= 0 {
				if inside := s[size : size+end]; word().MatchString(inside) {
					b.WriteString("'" + inside + "'")
				} else {
					b.WriteString("<str>")
				}
				s, before = s[size+end+1:], r
				continue
			}
		}
		b.WriteString(s[:size])
		s, before = s[size:], r
	}
	return b.String()
}

// withoutNumbers replaces numbers by <n>, except for the digits of names such as utf8.
func withoutNumbers(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !isDigit(s[i]) {
			b.WriteByte(s[i])
			i++
			continue
		}
		end := i + 1
		for end < len(s) && (isDigit(s[end]) || (s[end] == '.' || s[end] == ',') && end+1 < len(s) && isDigit(s[end+1])) {
			end++
		}
		if i > 0 && isNameByte(s[i-1]) {
			b.WriteString(s[i:end])
		} else {
			b.WriteString("<n>")
		}
		i = end
	}
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// compiled returns an expression that is compiled when it is first used: few servers receive errors of pages.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
