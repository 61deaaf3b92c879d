package apitest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Updating reports whether the test writes the files that it would compare with.
func Updating() bool { return *update }

// Scenario is one call and its expected reply.
type Scenario struct {
	Name   string
	Key    string // KeyA when empty
	Body   string
	Code   string   // the expected error code; empty: success
	Says   []string // what the error message must contain: the field, the bound, what came
	Golden string   // name of the golden file (testdata/golden/NAME.json) that the reply must equal
	Data   string   // the JSON that data must equal, when it is short
	Then   func(t *testing.T, s *Server, r Reply)
}

// Scenarios runs each scenario as a subtest, in order, on one server.
func (s *Server) Scenarios(t *testing.T, path string, list []Scenario) {
	for _, c := range list {
		t.Run(c.Name, func(t *testing.T) {
			key := c.Key
			if key == "" {
				key = KeyA
			}
			r := s.Call(key, path, c.Body)
			r.t = t
			if r.Code != c.Code {
				t.Fatalf("code %q, want %q: %s", r.Code, c.Code, r.Body)
			}
			for _, part := range c.Says {
				if !strings.Contains(r.Message, part) {
					t.Errorf("message %q does not contain %q", r.Message, part)
				}
			}
			if c.Data != "" && !SameJSON([]byte(c.Data), r.Data) {
				t.Errorf("data\n%s\nwant\n%s", r.Data, c.Data)
			}
			if c.Golden != "" {
				Golden(t, c.Golden, r.Body)
			}
			if c.Then != nil {
				c.Then(t, s, r)
			}
		})
	}
}

// SameJSON compares two documents without regard to white space and the order of members.
func SameJSON(a, b []byte) bool {
	return bytes.Equal(canonical(a), canonical(b))
}

func canonical(document []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return document
	}
	b, err := json.Marshal(v)
	if err != nil {
		return document
	}
	return b
}

var requestID = regexp.MustCompile(`"request_id":"[0-9A-Z]{26}"`)

// Golden compares a reply, byte for byte but for its request id and indentation, with testdata/golden/NAME.json of the
// package under test. hide maps values that differ from run to run (generated ids) to their replacements in the file.
// Run the test with -update to write the file.
func Golden(t *testing.T, name string, body []byte, hide ...string) {
	t.Helper()
	body = requestID.ReplaceAll(body, []byte(`"request_id":"01JRQ0000000000000000000ID"`))
	for i := 0; i+1 < len(hide); i += 2 {
		body = bytes.ReplaceAll(body, []byte(hide[i]), []byte(hide[i+1]))
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	indented.WriteByte('\n')
	file := filepath.Join("testdata", "golden", name+".json")
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, indented.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, indented.Bytes()) {
		t.Errorf("%s differs; got\n%s", file, indented.Bytes())
	}
}
