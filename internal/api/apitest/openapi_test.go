package apitest

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// sound is a document without a fault, together with soundReply.
const sound = `{
  "openapi": "3.1.0",
  "info": {"title": "T", "version": "1"},
  "servers": [{"url": "/"}],
  "security": [{"key": []}],
  "components": {
    "securitySchemes": {"key": {"type": "apiKey", "in": "query", "name": "key"}},
    "schemas": {
      "In": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "maximum": 9, "description": "A number."}}},
      "Out": {"type": "object", "required": ["ok"], "properties": {"ok": {"type": "boolean", "description": "Whether."}, "more": {"type": "object", "additionalProperties": {}, "description": "Anything."}}}
    }
  },
  "paths": {"/a/b": {"post": {
    "operationId": "a-b", "summary": "Does", "description": "Does it.",
    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}, "example": {"n": 1}}}},
    "responses": {
      "200": {"description": "Done.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}},
      "404": {"description": "NotFound: There is none.", "content": {"application/json": {"schema": {"type": "string"}}}},
      "default": {"description": "Another.", "content": {"application/json": {"schema": {"type": "string"}}}}
    }
  }}}
}`

func reply(body string) []fs.FS {
	return []fs.FS{fstest.MapFS{}, fstest.MapFS{"testdata/golden/a_b.json": {Data: []byte(body)}}}
}

func TestSoundDocument(t *testing.T) {
	if faults := openAPIFaults([]byte(sound), reply(`{"ok": true, "more": {"x": 1}}`)); len(faults) != 0 {
		t.Errorf("%q", faults)
	}
}

// TestFaultsAreFound breaks one part of the sound document at a time.
func TestFaultsAreFound(t *testing.T) {
	const good = `{"ok": true}`
	for _, c := range []struct{ name, old, new, reply, want string }{
		{"another version", `"3.1.0"`, `"3.0.3"`, good, "openapi"},
		{"no title", `"title": "T", `, ``, good, "title"},
		{"a reference into nowhere", `schemas/In"`, `schemas/On"`, good, "is not there"},
		{"a reference to outside", `"#/components/schemas/Out"`, `"other.json#/Out"`, good, "is not there"},
		{"an unknown type", `"integer"`, `"number of things"`, good, "/components/schemas/In"},
		{"a bound that is none", `"maximum": 9`, `"maximum": "9"`, good, "/components/schemas/In"},
		{"a pattern that is none", `"maximum": 9`, `"pattern": "("`, good, "/components/schemas/In"},
		{"no description of a field", `, "description": "A number."`, ``, good, "In.n has no description"},
		{"an unknown security scheme", `[{"key": []}]`, `[{"lock": []}]`, good, "lock"},
		{"no operationId", `"operationId": "a-b", `, ``, good, "operationId"},
		{"no summary", `"summary": "Does", `, ``, good, "summary"},
		{"another method", `{"post"`, `{"get"`, good, "POST alone"},
		{"no success", `"200"`, `"204"`, good, "no success"},
		{"no default response", `"default"`, `"500"`, good, "no default"},
		{"no condition of an error", `NotFound: There is none.`, `Not found.`, good, "404 names no code"},
		{"no servers", `  "servers": [{"url": "/"}],`, ``, good, "servers"},
		{"a keyword that is none", `"maximum": 9`, `"patternDescription": "digits"`, good, "keyword patternDescription"},
		{"a choice with oneOf", `{"type": "integer", "maximum": 9, `, `{"oneOf": [{"type": "integer"}], `, good, "keyword oneOf"},
		{"null in words alone", `"Whether."`, `"Whether; null: unknown."`, good, "Out.ok may be null"},
		{"a schema without use", `"Out": {`, `"More": {"type": "string"}, "Out": {`, good, "schema More"},
		{"a status that is none", `"responses": {`, `"responses": {"7": {}, `, good, `"7"`},
		{"no description of a response", `"description": "Done.", `, ``, good, "response 200"},
		{"no schema of the request", `"schema": {"$ref": "#/components/schemas/In"}, `, ``, good, "no request"},
		{"no example", `, "example": {"n": 1}`, ``, good, "example request is missing"},
		{"an example beyond a bound", `{"n": 1}`, `{"n": 10}`, good, "maximum"},
		{"an example with an unknown member", `{"n": 1}`, `{"n": 1, "m": 1}`, good, "additional properties 'm'"},
		{"an example without a required member", `{"n": 1}`, `{}`, good, "missing property 'n'"},
		{"a reply with an unknown member", "", "", `{"ok": true, "ko": true}`, "'ko'"},
		{"a reply of another type", "", "", `{"ok": 1}`, "golden reply"},
		{"a reply that is not JSON", "", "", `{"ok"`, "golden reply"},
		{"a file that is no text", `"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}`, `"content": {"text/csv": {"schema": {"type": "string"}}}`, good, "golden reply"},
		{"no document", sound, `{`, good, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			broken := strings.Replace(sound, c.old, c.new, 1)
			if c.old != "" && broken == sound {
				t.Fatal("the replacement changed nothing")
			}
			faults := openAPIFaults([]byte(broken), reply(c.reply))
			if !strings.Contains(strings.Join(faults, "\n"), c.want) {
				t.Errorf("found %q, want something about %s", faults, c.want)
			}
		})
	}
	if faults := openAPIFaults([]byte(sound), nil); len(faults) != 1 || !strings.Contains(faults[0], "golden reply is missing") {
		t.Errorf("no golden reply: %q", faults)
	}
	twice := strings.Replace(sound, `"paths": {`, `"paths": {"/a/c": {"post": {"operationId": "aB"}}, `, 1)
	if faults := strings.Join(openAPIFaults([]byte(twice), reply(good)), "\n"); !strings.Contains(faults, "that of /a/b") {
		t.Errorf("one operationId twice: %q", faults)
	}
}
