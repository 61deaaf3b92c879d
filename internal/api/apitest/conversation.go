package apitest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// Turn is one call of a conversation and its expected reply. In Body, Data, Has and `Says` $name stands for a value that
// an earlier turn kept.
type Turn struct {
	Path   string
	Key    string // KeyA when empty
	Body   string
	Code   string            // the expected error code; empty: success
	Says   []string          // what the error message must contain
	Data   string            // the JSON that data must equal
	Has    string            // JSON that must be found in data: of objects these members, of arrays all elements
	Keep   map[string]string // name: path of a member of data, such as items.0.rule_id
	Golden string            // name of the golden file; kept values are replaced by fixed ones of the same shape
}

// Converse makes calls one after the other; each may use values of the earlier ones. It stops at the first call whose
// reply is not as expected.
func (s *Server) Converse(t *testing.T, turns []Turn) {
	t.Helper()
	kept := map[string]string{}
	fill := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(v string) string {
			if value, ok := kept[v[1:]]; ok {
				return value
			}
			return v
		})
	}
	for i, turn := range turns {
		key := turn.Key
		if key == "" {
			key = KeyA
		}
		body := fill(turn.Body)
		at := fmt.Sprintf("turn %d: %s %.300s", i+1, turn.Path, body)
		r := s.Call(key, turn.Path, body)
		r.t = t
		if r.Code != turn.Code {
			t.Fatalf("%s\ncode %q, want %q: %s", at, r.Code, turn.Code, r.Body)
		}
		for _, part := range turn.Says {
			if !strings.Contains(r.Message, fill(part)) {
				t.Fatalf("%s\nmessage %q does not contain %q", at, r.Message, fill(part))
			}
		}
		if want := fill(turn.Data); want != "" && !SameJSON([]byte(want), r.Data) {
			t.Fatalf("%s\ndata %s\nwant %s", at, r.Data, want)
		}
		if want := fill(turn.Has); want != "" {
			if missing := lacks(decoded(t, []byte(want)), decoded(t, r.Data), "data"); missing != "" {
				t.Fatalf("%s\n%s\nin %s", at, missing, r.Data)
			}
		}
		for name, path := range turn.Keep {
			value, ok := member(decoded(t, r.Data), path)
			if !ok {
				t.Fatalf("%s\nno %s in %s", at, path, r.Data)
			}
			kept[name] = fmt.Sprint(value)
		}
		if turn.Golden != "" {
			Golden(t, turn.Golden, r.Body, steady(kept)...)
		}
	}
}

var variable = regexp.MustCompile(`\$[a-zA-Z][a-zA-Z0-9]*`)

// steady maps kept values, which differ from run to run, to fixed values of the same shape.
func steady(kept map[string]string) (hide []string) {
	for name, value := range kept {
		sum := 0
		for _, c := range name {
			sum = (sum*31 + int(c)) % 89
		}
		switch {
		case objectID.MatchString(value):
			hide = append(hide, value, fmt.Sprintf("69db2f72a0fe7db6448b15%02x", sum+10))
			hide = append(hide, `"`+strings.ToUpper(value[18:])+`"`, fmt.Sprintf(`"8B15%02X"`, sum+10)) // the short form that people use
		case len(value) > 9 && number.MatchString(value):
			hide = append(hide, value, fmt.Sprintf("57896405304%02d", sum+10))
		case len(value) > 9:
			prefix := value[:strings.IndexByte(value, '.')+1]
			hide = append(hide, value, fmt.Sprintf("%s%0*d", prefix, len(value)-len(prefix), sum+10))
		}
	}
	return hide
}

var (
	objectID = regexp.MustCompile(`^[0-9a-f]{24}$`)
	number   = regexp.MustCompile(`^[0-9]+$`)
)

func decoded(t *testing.T, document []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(document)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, document)
	}
	return v
}

func member(v any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch node := v.(type) {
		case map[string]any:
			inner, ok := node[name]
			if !ok {
				return nil, false
			}
			v = inner
		case []any:
			i := 0
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(node) {
				return nil, false
			}
			v = node[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// lacks describes what of want is missing in got; empty when nothing is.
func lacks(want, got any, at string) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%s is no object", at)
		}
		for name, inner := range w {
			value, there := g[name]
			if !there {
				return fmt.Sprintf("%s.%s is not there", at, name)
			}
			if missing := lacks(inner, value, at+"."+name); missing != "" {
				return missing
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has not %d elements", at, len(w))
		}
		for i := range w {
			if missing := lacks(w[i], g[i], fmt.Sprintf("%s[%d]", at, i)); missing != "" {
				return missing
			}
		}
		return ""
	}
	if fmt.Sprint(want) != fmt.Sprint(got) || (want == nil) != (got == nil) {
		return fmt.Sprintf("%s is %v, want %v", at, got, want)
	}
	return ""
}
