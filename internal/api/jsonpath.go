package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
)

// jsonPath is a path in a request: a member's name, or an index when the name is empty, below up. The nil path is the
// body itself. It is formatted only when there is a fault to report.
type jsonPath struct {
	up    *jsonPath
	name  string
	index int

	secret bool // what is here or below must not be shown: errors are returned and logged
}

// String formats the path, such as layers[2].mode. A name with special characters is quoted: labels["a.b"].
func (p *jsonPath) String() string {
	var b strings.Builder
	p.write(&b)
	return shortened(b.String())
}

func (p *jsonPath) write(b *strings.Builder) {
	if p == nil {
		return
	}
	p.up.write(b)
	switch {
	case p.name == "":
		b.WriteString("[" + strconv.Itoa(p.index) + "]")
	case strings.ContainsFunc(p.name, unplain):
		b.WriteString("[" + strconv.Quote(p.name) + "]")
	default:
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.name)
	}
}

func unplain(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`.[]"\`, r) }

// fieldPath converts a decoder's /layers/2/mode into layers[2].mode.
func fieldPath(p jsontext.Pointer) string {
	var at *jsonPath
	for token := range p.Tokens() {
		if i, err := strconv.Atoi(token); err == nil {
			at = &jsonPath{up: at, index: i}
		} else {
			at = &jsonPath{up: at, name: token}
		}
		if at.depth() > 40 {
			return at.String() // no schema is that deep, and the rest may be ten thousand levels
		}
	}
	return at.String()
}

func (p *jsonPath) depth() (n int) {
	for ; p != nil; p = p.up {
		n++
	}
	return n
}

// wants returns the fault for a value: what must be there and what came instead.
func (p *jsonPath) wants(v any, format string, args ...any) error {
	must, got := fault.NewClause(format, args...), shown(v)
	if p == nil {
		return fault.Invalid("", "the body %s, got %s", must, got)
	}
	if p.isSecret() {
		got = kind(v)
	}
	return fault.Invalid(p.String(), "%s, got %s", must, got)
}

// isSecret reports whether the path is to a secret, or within one.
func (p *jsonPath) isSecret() bool {
	return p != nil && (p.secret || p.up.isSecret())
}

// shown formats a scalar as it came if it has at most 60 characters: an error must not repeat a megabyte. Objects and
// arrays are only described, because they may contain a secret.
func shown(v any) string {
	switch v := v.(type) {
	case number:
		if len(v) <= 60 {
			return string(v)
		}
	case string:
		if utf8.RuneCountInString(v) <= 60 {
			return strconv.Quote(v)
		}
	}
	return kind(v)
}

// shownPath formats a URL path up to the first odd character, because a key may follow: /schedule/info&app_key=...
func shownPath(path string) string {
	i := strings.IndexFunc(path, func(r rune) bool { return !strings.ContainsRune("/-._", r) && !isAlphanumeric(r) })
	if i >= 0 {
		path = path[:i] + "..."
	}
	return shortened(path)
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// kind describes the type of a value, and its size.
func kind(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case number:
		return fmt.Sprintf("a number of %d digits", len(v))
	case string:
		return fmt.Sprintf("a string of %d characters", utf8.RuneCountInString(v))
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	default:
		return "an object"
	}
}

// shortened returns the first and last 80 bytes of a text that is longer than both together.
func shortened(s string) string {
	const end = 80
	if len(s) <= 2*end+3 {
		return s
	}
	return strings.ToValidUTF8(s[:end]+"..."+s[len(s)-end:], "")
}
