package apitest

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"tocsin/internal/api"
)

// CheckOpenAPI checks a frame's OpenAPI document against the rules of OpenAPI 3.1 that need no other file. It also
// checks what the document shows against its own schemas: every example request and every golden reply. The golden
// reply is the operation's own (see api.WithReplies) or the file api.GoldenFile in one of the file systems. Members
// that no schema has are faults here, though clients may send them: they would be typing errors or undocumented.
func CheckOpenAPI(t *testing.T, f *api.Frame, golden ...fs.FS) {
	t.Helper()
	b, err := f.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.OpenAPI(); err != nil || !bytes.Equal(b, again) {
		t.Errorf("the document differs from one time to the next (%v)", err)
	}
	for _, fault := range openAPIFaults(b, golden) {
		t.Error(fault)
	}
}

// OpenAPISchema compiles the schema at a JSON pointer of the frame's document, for tests that validate other documents
// with it.
func OpenAPISchema(t testing.TB, f *api.Frame, pointer string) *jsonschema.Schema {
	t.Helper()
	b, err := f.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newDocument(root).compiler.Compile(documentURL + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func openAPIFaults(b []byte, golden []fs.FS) []string {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return []string{err.Error()}
	}
	d := newDocument(root)
	d.checkRules()
	d.checkExamples(golden)
	return d.faults
}

// document is an OpenAPI document whose schemas can be compiled.
type document struct {
	root     any
	compiler *jsonschema.Compiler
	faults   []string
}

const documentURL = "openapi:document#"

func newDocument(root any) *document {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from outside
	if err := c.AddResource(strings.TrimSuffix(documentURL, "#"), root); err != nil {
		panic(err) // only when it is added twice
	}
	return &document{root: root, compiler: c}
}

func (d *document) fault(format string, args ...any) {
	d.faults = append(d.faults, fmt.Sprintf(format, args...))
}

// checkExamples checks requests and replies against a copy of the document in which an object accepts only the
// members of its schema.
func (d *document) checkExamples(golden []fs.FS) {
	var copied bytes.Buffer
	copied.Write(encode(d.root))
	root, err := jsonschema.UnmarshalJSON(&copied)
	if err != nil {
		panic(err) // it was read a moment ago
	}
	walk(root, "", func(_ string, m map[string]any) {
		if _, open := m["additionalProperties"]; m["type"] == "object" && !open {
			m["additionalProperties"] = false
		}
	})
	closed := newDocument(root)
	for path, operation := range d.operations() {
		at := "/paths/" + escape(path) + "/post/"
		request, _ := lookup(operation, "requestBody", "content", "application/json", "example")
		in := refersTo(object(operation, "requestBody", "content", "application/json", "schema"))
		closed.holds(path+": the example request", cmp.Or(in, at+"requestBody/content/application~1json/schema"), request)
		kind := "application/json"
		if object(operation, "responses", "200", "content", "text/csv") != nil {
			kind = "text/csv" // a file; its example is a text
		}
		reply, ok := lookup(operation, "responses", "200", "content", kind, "example")
		if !ok {
			reply = goldenReply(path, golden)
		}
		out := refersTo(object(operation, "responses", "200", "content", kind, "schema"))
		closed.holds(path+": the golden reply", cmp.Or(out, at+"responses/200/content/"+escape(kind)+"/schema"), reply)
	}
	d.faults = append(d.faults, closed.faults...)
}

// holds reports a document that is missing or does not fit the schema at pointer.
func (d *document) holds(what, pointer string, v any) {
	if v == nil {
		d.fault("%s is missing", what)
		return
	}
	s, err := d.compiler.Compile(documentURL + pointer)
	if err == nil {
		err = s.Validate(v)
	}
	if err != nil {
		d.fault("%s: %v", what, err)
	}
}

func goldenReply(path string, golden []fs.FS) any {
	for _, files := range golden {
		b, err := fs.ReadFile(files, api.GoldenFile(path))
		if err != nil {
			continue
		}
		reply, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return err.Error() // fits no schema of a reply, and so appears in the fault
		}
		return reply
	}
	return nil
}
