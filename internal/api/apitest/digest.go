package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Digest reduces OpenAPI documents, the newest first, to what CheckReference needs of them: the shape of each
// operation's data in the newest document that has it. It keeps names, types and enums, and no prose. The same
// documents always return the same bytes.
func Digest(documents ...[]byte) ([]byte, error) {
	type reduced struct {
		Replies map[string]any `json:"replies"`
		Shapes  map[string]any `json:"shapes"`
	}
	all := make([]reduced, len(documents))
	known := map[string]bool{}
	for i, text := range documents {
		var document map[string]any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if err := d.Decode(&document); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		all[i] = reduced{map[string]any{}, map[string]any{}}
		schemas, _ := at(document, "components", "schemas").(map[string]any)
		paths, _ := document["paths"].(map[string]any)
		for path, item := range paths {
			schema := at(item, "post", "responses", "200", "content", "application/json", "schema")
			if schema == nil {
				schema = at(item, "get", "responses", "200", "content", "application/json", "schema")
			}
			if data := dataOf(schema, schemas); data != nil && !known[path] {
				known[path], all[i].Replies[path] = true, data
				collect(data, schemas, all[i].Shapes)
			}
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(all)
	return out.Bytes(), err
}

// at follows names into nested objects; nil where one is missing.
func at(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// dataOf returns the shape of "data" in the schema of an envelope; nil when it has none. Some operations list the
// envelope of a refused deletion as a success; that has none either.
func dataOf(schema any, schemas map[string]any) (data any) {
	resolve := func(v any) any {
		if name, ok := at(v, "$ref").(string); ok {
			return schemas[name[strings.LastIndexByte(name, '/')+1:]]
		}
		return v
	}
	schema = resolve(schema)
	parts, _ := at(schema, "allOf").([]any)
	for _, part := range append(parts, schema) {
		if d := at(resolve(part), "properties", "data"); d != nil {
			data = d
		}
	}
	if members, _ := at(resolve(data), "properties").(map[string]any); len(members) == 1 && members["refs"] != nil {
		return nil
	}
	if data == nil {
		return nil
	}
	return reduce(data)
}

// reduce keeps the part of a schema that the checker understands.
func reduce(schema any) any {
	in, ok := schema.(map[string]any)
	if !ok {
		return nil
	}
	out := map[string]any{}
	for name, v := range in {
		switch name {
		case "$ref":
			ref := fmt.Sprint(v)
			out[name] = ref[strings.LastIndexByte(ref, '/')+1:]
		case "type", "nullable", "required", "enum":
			out[name] = v
		case "items":
			out[name] = reduce(v)
		case "additionalProperties":
			if more := reduce(v); more != nil {
				out[name] = more
			}
		case "properties":
			members := map[string]any{}
			for member, m := range v.(map[string]any) {
				members[member] = reduce(m)
			}
			out[name] = members
		case "allOf", "oneOf", "anyOf":
			choices := []any{}
			for _, choice := range v.([]any) {
				choices = append(choices, reduce(choice))
			}
			out[name] = choices
		}
	}
	return out
}

// collect adds the shapes that a reduced one refers to, directly or through others.
func collect(v any, schemas, into map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v["$ref"].(string); ok && into[name] == nil {
			shape := reduce(schemas[name])
			into[name] = shape
			collect(shape, schemas, into)
		}
		for _, member := range v {
			collect(member, schemas, into)
		}
	case []any:
		for _, element := range v {
			collect(element, schemas, into)
		}
	}
}
