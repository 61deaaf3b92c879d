package apitest

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestTheCheckerFindsWhatIsWrong holds small replies against a small reference.
func TestTheCheckerFindsWhatIsWrong(t *testing.T) {
	var doc published
	err := json.Unmarshal([]byte(`{
		"paths": {"/thing/info": {"post": {"responses": {"200": {"content": {"application/json": {"schema": {"allOf": [
			{"properties": {"request_id": {"type": "string"}}}, {"properties": {"data": {"$ref": "#/components/schemas/Thing"}}}]}}}}}}}},
		"components": {"schemas": {"Thing": {"type": "object", "required": ["id"], "properties": {
			"id": {"type": "integer"}, "state": {"type": "string", "enum": ["on", "off"]}, "note": {"type": "string", "nullable": true},
			"parts": {"type": "array", "items": {"$ref": "#/components/schemas/Thing"}},
			"labels": {"type": "object", "additionalProperties": {"type": "string"}},
			"either": {"oneOf": [{"type": "integer"}, {"type": "boolean"}]}}}}}}`), &doc)
	if err != nil {
		t.Fatal(err)
	}
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
		if got := strings.Join(doc.check(doc.reply("/thing/info"), "/thing/info", v), "; "); got != want {
			t.Errorf("%s: %q, want %q", data, got, want)
		}
	}
	if doc.reply("/thing/list") != nil {
		t.Error("a reply of an operation that is not there")
	}
}
