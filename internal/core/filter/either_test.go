package filter

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// labelsOnly is an alert that has only labels.
type labelsOnly map[string]string

func (l labelsOnly) Field(string) (string, bool)      { return "", false }
func (l labelsOnly) Label(name string) (string, bool) { v, ok := l[name]; return v, ok }

const isA = `{"key":"labels.a","oper":"IN","vals":["1"]}`

// A filter is read back in the shape in which it was written, and both shapes match the same alerts.
func TestWrittenKeepsItsShape(t *testing.T) {
	for text, groups := range map[string]int{
		`[]`:                             0,
		`[[` + isA + `]]`:                1,
		`[` + isA + `]`:                  1,
		" [\n\t" + isA + `,` + isA + `]`: 1,
		`[[` + isA + `],[` + isA + `]]`:  2,
	} {
		var w Written
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		want := jsontext.Value(text)
		if err := want.Compact(); err != nil {
			t.Fatal(err)
		}
		back, err := json.Marshal(struct {
			If Written `json:"if,omitzero"`
		}{w})
		if err != nil || string(back) != `{"if":`+string(want)+`}` {
			t.Errorf("%s came back as %s: %v", text, back, err)
		}
		if len(w.Value) != groups {
			t.Errorf("%s has %d groups", text, len(w.Value))
		}
		matcher, err := Compile(w.Value)
		if err != nil {
			t.Fatal(err)
		}
		for value, want := range map[string]bool{"1": true, "2": groups == 0} {
			if got := matcher.Match(labelsOnly{"a": value}, nil); got != want {
				t.Errorf("%s on %s: %v, want %v", text, value, got, want)
			}
		}
	}
	if b, err := json.Marshal(struct {
		If Written `json:"if,omitzero"`
	}{}); err != nil || string(b) != `{}` {
		t.Errorf("an absent filter is %s: %v", b, err)
	}
}

// The bounds are those of groups, with paths in the shape in which the filter was written.
func TestWrittenIsCheckedInBothShapes(t *testing.T) {
	many := strings.Repeat(isA+",", 100) + isA
	for text, want := range map[string]string{
		`[{"key":"a","oper":"IS","vals":["b"]}]`:               `[0].oper: must be IN or NOTIN, got "IS"`,
		`[[{"key":"a","oper":"IS","vals":["b"]}]]`:             `[0][0].oper: must be IN or NOTIN, got "IS"`,
		`[` + isA + `,{"key":"a","oper":"IN","vals":["/(/"]}]`: `[1].vals[0]`,
		`[` + many + `]`:   `: must have at most 100 conditions, got 101`,
		`[[` + many + `]]`: `[0]: must have at most 100 conditions, got 101`,
		`[[]]`:             `[0]`,
		`[]`:               ``,
		`[` + isA + `]`:    ``,
	} {
		var w Written
		if err := json.Unmarshal([]byte(text), &w); err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := CheckWritten(w); err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%.60s: %q, want %q", text, got, want)
		}
	}
}

// FuzzWritten decodes outside text. What is decoded is encoded in a form that is decoded to the same text again.
func FuzzWritten(f *testing.F) {
	for _, text := range []string{`[]`, `[[]]`, `[` + isA + `]`, `[[` + isA + `]]`, `null`, `[null]`, `[[],{}]`, `{}`, ` [ [ ] ]`, `[1]`, `""`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var first, second Written
		if json.Unmarshal([]byte(text), &first) != nil {
			return
		}
		_ = CheckWritten(first)
		once, err := json.Marshal(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(once, &second); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := json.Marshal(second); err != nil || string(twice) != string(once) || first.Flat() != second.Flat() {
			t.Errorf("%s became %s: %v", once, twice, err)
		}
	})
}
