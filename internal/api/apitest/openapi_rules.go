package apitest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	versions    = regexp.MustCompile(`^3\.1\.\d+$`)
	schemaNames = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	null        = regexp.MustCompile(`\bnull\b`)
	condition   = regexp.MustCompile(`(?s)^[A-Z][A-Za-z]+: \w.+\.$`)
	statusCodes = regexp.MustCompile(`^(default|[1-5](\d\d|XX))$`)
)

// checkRules checks what OpenAPI 3.1 requires of a document, and what we require of ours: POST, and GET for some
// reads, a summary for
// every operation and a description for every field.
func (d *document) checkRules() {
	if v := text(d.root, "openapi"); !versions.MatchString(v) {
		d.fault("openapi: %q", v)
	}
	if text(d.root, "info", "title") == "" || text(d.root, "info", "version") == "" {
		d.fault("info needs a title and a version")
	}
	if len(object(d.root, "paths")) == 0 {
		d.fault("there are no paths")
	}
	if list, _ := lookup(d.root, "servers"); list == nil {
		d.fault("there are no servers")
	}
	d.checkReferences()
	d.checkSchemas()
	d.checkGenerated()
	d.checkSecurity("the document", d.root)
	ids := map[string]string{}
	for path, item := range sorted(object(d.root, "paths")) {
		operation, get := object(item, "post"), object(item, "get")
		if operation == nil || len(object(item)) > 2 || len(object(item)) == 2 && get == nil || !strings.HasPrefix(path, "/") {
			d.fault("%s: want a path with POST alone, or with GET", path)
			continue
		}
		if get != nil && (get["requestBody"] != nil || text(get, "operationId") != text(operation, "operationId")+"-get") {
			d.fault("%s: GET is the same operation, without a body", path)
		}
		id := joined(text(operation, "operationId"))
		if id == "" || ids[id] != "" {
			d.fault("%s: the operationId %q is empty or that of %s", path, id, ids[id])
		}
		ids[id] = path
		d.checkSecurity(path, operation)
		d.checkOperation(path, operation)
	}
}

func (d *document) checkOperation(path string, operation map[string]any) {
	if text(operation, "summary") == "" || text(operation, "description") == "" {
		d.fault("%s needs a summary and a description", path)
	}
	if object(operation, "requestBody", "content", "application/json", "schema") == nil {
		d.fault("%s describes no request", path)
	}
	responses := object(operation, "responses")
	if responses["200"] == nil {
		d.fault("%s describes no success", path)
	}
	if responses["default"] == nil {
		d.fault("%s has no default response", path)
	}
	for status, response := range sorted(responses) {
		if !statusCodes.MatchString(status) {
			d.fault("%s: response %q is no status", path, status)
		}
		response = d.resolved(response)
		if strings.HasPrefix(status, "4") && !condition.MatchString(text(response, "description")) {
			d.fault("%s: response %s names no code with its condition", path, status)
		}
		file := status == "200" && object(response, "content", "text/csv", "schema") != nil
		if text(response, "description") == "" || !file && object(response, "content", "application/json", "schema") == nil {
			d.fault("%s: response %s needs a description and a schema", path, status)
		}
	}
}

// checkReferences checks that every $ref leads to a part of the document.
func (d *document) checkReferences() {
	walk(d.root, "", func(at string, m map[string]any) {
		ref, ok := m["$ref"].(string)
		if !ok {
			return
		}
		pointer, local := strings.CutPrefix(ref, "#/")
		if _, found := lookup(d.root, strings.Split(pointer, "/")...); !local || !found {
			d.fault("%s refers to %s, which is not there", at, ref)
		}
	})
}

// checkSchemas compiles every schema, which checks it against JSON Schema's own rules. A bare reference is left out, since
// its target is compiled. Each further location would cost the compiler a copy of all known locations.
func (d *document) checkSchemas() {
	compile := func(pointer string) {
		if _, err := d.compiler.Compile(documentURL + pointer); err != nil {
			d.fault("%s: %v", pointer, err)
		}
	}
	for name, schema := range sorted(object(d.root, "components", "schemas")) {
		if !schemaNames.MatchString(name) {
			d.fault("%q is no name for a schema", name)
		}
		compile("/components/schemas/" + name)
		for property, of := range sorted(object(schema, "properties")) {
			switch words := text(of, "description"); {
			case words == "":
				d.fault("%s.%s has no description: give the field a doc tag", name, property)
			case null.MatchString(words) && !takesNull(of):
				d.fault("%s.%s may be null by its description, and not by its schema", name, property)
			}
		}
	}
	walk(d.root, "", func(at string, m map[string]any) {
		if m["schema"] != nil && refersTo(m["schema"]) == "" {
			compile(at + "/schema")
		}
	})
}

// takesNull reports whether a schema accepts null.
func takesNull(schema any) bool {
	m := object(schema)
	types, _ := m["type"].([]any)
	choices, _ := m["anyOf"].([]any)
	isNull := func(choice any) bool { return text(choice, "type") == "null" }
	free := m["type"] == nil && m["anyOf"] == nil && m["$ref"] == nil
	return free || slices.Contains(types, any("null")) || slices.ContainsFunc(choices, isNull)
}

// keywords are those of schemas in OpenAPI 3.1 that the document may use. Clients are generated from it, and generators have
// no type for a choice with oneOf.
var keywords = strings.Fields("$ref type format description enum properties required items additionalProperties anyOf allOf " +
	"minimum maximum minLength maxLength minItems maxItems minProperties maxProperties pattern default contentEncoding deprecated")

// checkGenerated checks what generators of clients stumble over: keywords that are none, and schemas that nothing uses.
func (d *document) checkGenerated() {
	used := map[string]bool{}
	walk(d.root, "", func(at string, m map[string]any) {
		if ref, ok := m["$ref"].(string); ok {
			used[ref] = true
		}
	})
	for name, schema := range sorted(object(d.root, "components", "schemas")) {
		if !used["#/components/schemas/"+name] {
			d.fault("nothing refers to the schema %s", name)
		}
		d.checkKeywords(name, schema)
	}
	walk(d.root, "", func(at string, m map[string]any) {
		if m["schema"] != nil {
			d.checkKeywords(at, m["schema"])
		}
	})
}

func (d *document) checkKeywords(at string, schema any) {
	m := object(schema)
	if m == nil {
		return
	}
	for name := range sorted(m) {
		if !strings.HasPrefix(name, "x-") && !slices.Contains(keywords, name) {
			d.fault("%s: the keyword %s", at, name)
		}
	}
	for name, member := range sorted(object(m, "properties")) {
		d.checkKeywords(at+"."+name, member)
	}
	for _, name := range []string{"items", "additionalProperties"} {
		d.checkKeywords(at, m[name])
	}
	for _, name := range []string{"anyOf", "allOf"} {
		list, _ := m[name].([]any)
		for _, one := range list {
			d.checkKeywords(at, one)
		}
	}
}

// joined returns a name as languages that join its words have it: alert-event-list as alerteventlist.
func joined(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// resolved returns the target of a reference, and any other value unchanged.
func (d *document) resolved(v any) any {
	if pointer, ok := strings.CutPrefix(text(v, "$ref"), "#/"); ok {
		v, _ = lookup(d.root, strings.Split(pointer, "/")...)
	}
	return v
}

// refersTo returns the pointer of a schema that consists of a reference alone; empty for any other schema.
func refersTo(schema any) string {
	if m := object(schema); len(m) == 1 {
		return strings.TrimPrefix(text(m, "$ref"), "#")
	}
	return ""
}

func (d *document) checkSecurity(where string, of any) {
	list, _ := lookup(of, "security")
	requirements, _ := list.([]any)
	for _, requirement := range requirements {
		for name := range object(requirement) {
			if object(d.root, "components", "securitySchemes", name) == nil {
				d.fault("%s asks for the security scheme %s, which is not there", where, name)
			}
		}
	}
}

// operations returns every operation by its path.
func (d *document) operations() map[string]map[string]any {
	all := map[string]map[string]any{}
	for path, item := range object(d.root, "paths") {
		if operation := object(item, "post"); operation != nil {
			all[path] = operation
		}
	}
	return all
}

// lookup follows names into nested objects; object and text ask for a kind of value as well.
func lookup(v any, names ...string) (any, bool) {
	for _, name := range names {
		m, ok := v.(map[string]any)
		if !ok || m[name] == nil {
			return nil, false
		}
		v = m[name]
	}
	return v, true
}

func object(v any, names ...string) map[string]any {
	found, _ := lookup(v, names...)
	m, _ := found.(map[string]any)
	return m
}

func text(v any, names ...string) string {
	found, _ := lookup(v, names...)
	s, _ := found.(string)
	return s
}

// sorted iterates over an object in the order of its names, so that faults come in a fixed order.
func sorted(m map[string]any) func(func(string, any) bool) {
	return func(yield func(string, any) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}

// walk visits every object of a document with its JSON pointer, but nothing that is only an example.
func walk(v any, at string, visit func(at string, m map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(at, v)
		for name, member := range sorted(v) {
			if name != "example" && name != "examples" {
				walk(member, at+"/"+escape(name), visit)
			}
		}
	case []any:
		for i, item := range v {
			walk(item, at+"/"+strconv.Itoa(i), visit)
		}
	}
}

// escape encodes a name as a part of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // it came from JSON
	}
	return b
}
