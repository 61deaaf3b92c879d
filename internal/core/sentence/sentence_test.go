package sentence_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/core/sentence"
)

var verbs = regexp.MustCompile(`%([a-z])`)

const kinds = "dqtsnpchygmkwv"

// TestTable holds that each sentence of the table is made, stored and shown with any arguments: the codes are unique, the kinds of
// holes are known, and something parts two holes.
func TestTable(t *testing.T) {
	codes := map[string]bool{}
	for _, p := range sentence.Patterns() {
		if codes[p.Code] {
			t.Errorf("two sentences have the code %s", p.Code)
		}
		codes[p.Code] = true
		var args []any
		want := verbs.ReplaceAllStringFunc(p.English, func(verb string) string {
			if !strings.Contains(kinds, verb[1:]) {
				t.Errorf("%s: %s is no kind of hole", p.Code, verb)
			}
			name := fmt.Sprintf("Ann %d", len(args))
			args = append(args, name)
			if verb == "%q" {
				return strconv.Quote(name)
			}
			return name
		})
		if strings.Contains(verbs.ReplaceAllString(p.English, "%"), "%%") {
			t.Errorf("%s: nothing parts two holes", p.Code)
		}
		v := sentence.New(p.Code, args...)
		if v.English() != want || v.Data().Code != p.Code {
			t.Errorf("%s is %q, want %q", p.Code, v, want)
		}
	}
}

var update = flag.Bool("update", false, "write docs/sentences.md")

// TestDocumented checks that docs/sentences.md lists the table.
func TestDocumented(t *testing.T) {
	const path = "../../../docs/sentences.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, p := range sentence.Patterns() {
		fmt.Fprintf(&table, "| `%s` | `%s` |\n", p.Code, p.English)
	}
	const head = "| code | sentence |\n|---|---|\n"
	before, listed, _ := strings.Cut(string(page), head)
	if *update {
		if err := os.WriteFile(path, []byte(before+head+table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if listed != table.String() {
		t.Error("docs/sentences.md does not list the table: run the test with -update")
	}
}
