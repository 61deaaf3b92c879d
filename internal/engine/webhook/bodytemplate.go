package webhook

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// fill replaces the variables of a custom body: {{incident.title}} stands for a member of the standard payload; members
// of lists are numbered from 0. It never fails:
//
//   - in a JSON body a string that is only a variable becomes the value with its type; in a longer string, in a
//     member's name or outside of strings the value is written so that the body stays JSON;
//   - in any other body strings are written as they are, other values as JSON; a body that is only a variable is
//     its value as JSON;
//   - a path without a value stays as it is written.
//
// ok is false when the result would be longer than limit, in bytes.
func fill(body string, payload []byte, limit int) (filled []byte, ok bool) {
	var root any
	if json.Unmarshal(payload, &root, json.WithUnmarshalers(json.UnmarshalFromFunc(exactNumber))) != nil {
		return nil, false
	}
	f := filler{root: root, json: isJSON(body), known: map[string]value{}}
	var out bytes.Buffer
	for body != "" {
		if out.Len() > limit {
			return nil, false
		}
		body = body[f.step(&out, body):]
	}
	return out.Bytes(), out.Len() <= limit
}

// exactNumber decodes numbers without changing their digits.
func exactNumber(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	raw, err := d.ReadValue()
	*v = raw.Clone()
	return err
}

// isJSON reports whether a body is meant to be JSON, by how it begins.
func isJSON(body string) bool {
	body = strings.TrimSpace(body)
	if path, length := variable(body); length == len(body) && path != "" {
		return true
	}
	return body != "" && strings.ContainsRune(`{["`, rune(body[0])) && !strings.HasPrefix(body, "{{")
}

// filler is the state of fill.
type filler struct {
	root   any
	json   bool
	inText bool // within a JSON string
	known  map[string]value
}

// value is the value of a path. It is encoded once, however often a body uses it.
type value struct {
	any
	found bool
	text  []byte // as JSON
}

// look returns the value of a path from the cache, or finds and encodes it.
func (f *filler) look(path string) value {
	v, known := f.known[path]
	if !known {
		v.any, v.found = look(f.root, path)
		if v.found {
			v.text = encoded(v.any)
		}
		f.known[path] = v
	}
	return v
}

// step writes the replacement of the beginning of rest and returns how many bytes of rest it stands for.
func (f *filler) step(out *bytes.Buffer, rest string) int {
	if f.json && !f.inText && rest[0] == '"' {
		if path, length := variable(rest[1:]); length > 0 && strings.HasPrefix(rest[1+length:], `"`) && !isName(rest[length+2:]) {
			if v := f.look(path); v.found {
				out.Write(v.text)
				return length + 2
			}
		}
	}
	if path, length := variable(rest); length > 0 {
		if v := f.look(path); v.found {
			f.write(out, v)
		} else {
			out.WriteString(rest[:length])
		}
		return length
	}
	length := 1
	switch {
	case rest[0] == '"':
		f.inText = !f.inText
	case rest[0] == '\\' && f.inText && len(rest) > 1:
		length = 2
	}
	out.WriteString(rest[:length])
	return length
}

// write writes a value as the context demands: inside a JSON string it is escaped.
func (f *filler) write(out *bytes.Buffer, v value) {
	text, isText := v.any.(string)
	switch {
	case f.json && f.inText && isText:
		out.Write(v.text[1 : len(v.text)-1])
	case f.json && f.inText: // JSON within a string
		quoted := encoded(string(v.text))
		out.Write(quoted[1 : len(quoted)-1])
	case !f.json && isText:
		out.WriteString(text)
	default:
		out.Write(v.text)
	}
}

// isName reports whether the string that ends before rest is a member's name.
func isName(rest string) bool { return strings.HasPrefix(strings.TrimLeft(rest, " \t\r\n"), ":") }

// encoded returns a value as JSON.
func encoded(v any) []byte {
	if raw, ok := v.(jsontext.Value); ok {
		return raw
	}
	b, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte("null") // cannot be: it was JSON before
	}
	return b
}

// variable parses {{path}} at the beginning of a text; length is 0 when there is none.
func variable(text string) (path string, length int) {
	if !strings.HasPrefix(text, "{{") {
		return "", 0
	}
	end := strings.Index(text[:min(len(text), maxPath+2)], "}}") // bounded: a body of braces would be read once for each of them
	if end < 0 || strings.ContainsAny(text[2:end], "{\"\\\r\n") {
		return "", 0
	}
	path = strings.TrimSpace(text[2:end])
	if path == "" {
		return "", 0
	}
	return path, end + 2
}

// maxPath is the longest path, in bytes.
const maxPath = 500

// look returns the value of a path. The name of a member may contain dots, as those of labels do: the shortest existing
// name is used.
func look(v any, path string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		for end := 0; end <= len(path); end++ {
			if end < len(path) && path[end] != '.' {
				continue
			}
			member, found := v[path[:end]]
			if !found {
				continue
			}
			if end == len(path) {
				return member, true
			}
			if value, found := look(member, path[end+1:]); found {
				return value, true
			}
		}
	case []any:
		first, rest, deeper := strings.Cut(path, ".")
		n, err := strconv.ParseUint(first, 10, 31)
		if err != nil || n >= uint64(len(v)) {
			return nil, false
		}
		if !deeper {
			return v[n], true
		}
		return look(v[n], rest)
	}
	return nil, false
}
