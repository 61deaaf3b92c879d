package apitest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCheckerFindsFaults checks small replies against a small reference.
func TestCheckerFindsFaults(t *testing.T) {
	text, err := Digest([]byte(`{
		"paths": {"/thing/info": {"post": {"summary": "prose", "responses": {"200": {"content": {"application/json": {"schema": {"allOf": [
			{"properties": {"request_id": {"type": "string"}}}, {"properties": {"data": {"$ref": "#/components/schemas/Thing"}}}]}}}}}}}},
		"components": {"schemas": {"Other": {}, "Thing": {"type": "object", "description": "prose", "required": ["id"], "properties": {
			"id": {"type": "integer"}, "state": {"type": "string", "enum": ["on", "off"]}, "note": {"type": "string", "nullable": true},
			"parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
			"labels": {"type": "object", "additionalProperties": {"type": "string", "description": "prose"}},
			"either": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "prose") || strings.Contains(string(text), "Other") {
		t.Errorf("the digest holds more than the shapes of replies: %s", text)
	}
	var docs []*published
	if err := json.Unmarshal(text, &docs); err != nil {
		t.Fatal(err)
	}
	doc := docs[0]
	for data, want := range map[string]string{
		`{"id": 1, "state": "on", "note": null, "parts": [{"id": 2}], "labels": {"a": "b"}, "either": true, "more": 1}`: "",
		`{}`:                               "/thing/info lacks id",
		`[]`:                               "/thing/info is [], want object",
		`{"id": 1.5}`:                      "/thing/info.id is 1.5, want integer",
		`{"id": 1.0}`:                      "",
		`{"id": null}`:                     "/thing/info.id is null, want integer",
		`{"id": 1, "state": "lost"}`:       "/thing/info.state is lost, want one of [on off]",
		`{"id": 1, "parts": [{}]}`:         "/thing/info.parts[] lacks id",
		`{"id": 1, "parts": {}}`:           "/thing/info.parts is map[], want array",
		`{"id": 1, "labels": {"a": 1}}`:    "/thing/info.labels.{} is 1, want string",
		`{"id": 1, "either": "something"}`: "/thing/info.either fits none of the choices: something",
	} {
		var v any
		d := json.NewDecoder(strings.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(doc.check(doc.Replies["/thing/info"], "/thing/info", v), "; "); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
}

// TestPublishedShapesAreThere guards against an empty digest, which would let every reply pass.
func TestPublishedShapesAreThere(t *testing.T) {
	docs, err := references()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, doc := range docs {
		n += len(doc.Replies)
	}
	if n < 200 || docs[0].Replies["/schedule/info"] == nil {
		t.Errorf("%d replies are published, want at least 200", n)
	}
}
