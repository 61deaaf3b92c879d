package api

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/redact"
)

// jsonPath is where in a request something stands: a member's name, or an index when there is no name. The
// nil place is the body itself. It becomes text only when there is a fault to report.
type jsonPath struct {
	up    *jsonPath
	name  string
	index int
}

// String writes layers[2].mode. A name that would be mistaken for a path is quoted: labels["a.b"].
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

// fieldPath turns a decoder's /layers/2/mode into layers[2].mode.
func fieldPath(p jsontext.Pointer) string {
	var at *jsonPath
	for token := range p.Tokens() {
		if i, err := strconv.Atoi(token); err == nil {
			at = &jsonPath{up: at, index: i}
		} else {
			at = &jsonPath{up: at, name: token}
		}
		if at.depth() > 40 {
			return at.String() // nothing of ours is that deep, and the rest may be ten thousand levels
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

// wants reports what must be there and what came instead.
func (p *jsonPath) wants(v any, format string, args ...any) error {
	must, got := fmt.Sprintf(format, args...), shown(v)
	if p == nil {
		return fault.Invalid("", "the body %s, got %s", must, got)
	}
	if p.secret() {
		got = kind(v)
	}
	return fault.Invalid(p.String(), "%s, got %s", must, got)
}

// secret tells whether a credential is to be expected here: errors are shown and logged.
func (p *jsonPath) secret() bool {
	return p != nil && (redact.Hides(p.name) || p.up.secret())
}

// shown prints a scalar as it came, if it is short: an error must say what was wrong, not repeat a
// megabyte. Objects and arrays are only named, because what is inside may be a secret.
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

// shownPath prints a path without what may be a key that was glued to it: /schedule/info&app_key=...
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

// kind says what sort of value it is, and how large.
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

// shortened keeps the two ends of a text that a caller made long.
func shortened(s string) string {
	const end = 80
	if len(s) <= 2*end+3 {
		return s
	}
	return strings.ToValidUTF8(s[:end]+"..."+s[len(s)-end:], "")
}
