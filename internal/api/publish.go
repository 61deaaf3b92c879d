package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// inputSuffix ends the name of a type in requests where its form in replies differs.
const inputSuffix = "Input"

// publishedSchemas converts the schemas of requests and replies into those of the document. A type that requests and
// replies share is one schema if both forms are equal, else its form in requests has a name of its own.
type publishedSchemas struct {
	requests, replies *schemas
	inputs            map[string]bool // the names of the types with two forms
}

func (f *Frame) publishedSchemas() publishedSchemas {
	p := publishedSchemas{f.schemas, f.replied, map[string]bool{}}
	shared := []string{}
	for name := range p.requests.named {
		if p.replies.named[name] == nil {
			continue
		}
		shared = append(shared, name)
		if !sameSchema(p.request(p.requests.named[name]), p.reply(p.replies.named[name])) {
			p.inputs[name] = true
		}
	}
	for found := true; found; { // the types that hold such a type have two forms, too
		found = false
		for _, name := range shared {
			if !p.inputs[name] && slices.ContainsFunc(references(p.replies.named[name]), func(inner string) bool { return p.inputs[inner] }) {
				p.inputs[name], found = true, true
			}
		}
	}
	return p
}

// named returns all schemas by name, as a registry for the document.
func (p publishedSchemas) named() *schemas {
	all := newSchemas()
	for name, schema := range p.replies.named {
		all.named[name] = p.reply(schema)
	}
	for name, schema := range p.requests.named {
		if p.inputs[name] {
			name += inputSuffix
		}
		all.named[name] = p.request(schema)
	}
	return all
}

// request returns the published form of a schema of requests: null stands for any optional member.
func (p publishedSchemas) request(schema *huma.Schema) *huma.Schema {
	return publish(schema, func(of *huma.Schema) {
		if p.inputs[schemaOf(of.Ref)] {
			of.Ref += inputSuffix
		}
		for name, member := range of.Properties {
			if !slices.Contains(of.Required, name) {
				orNull(member)
			}
		}
	})
}

// reply returns the published form of a schema of replies.
func (p publishedSchemas) reply(schema *huma.Schema) *huma.Schema {
	return publish(schema, func(*huma.Schema) {})
}

// publish returns a copy of a schema as clients can use it, after change was called with each of its parts. Of a value in
// several forms the first is described, because generators have no type for a choice among lists. Identifiers are below
// 2^63, so that clients need no unsigned type.
func publish(schema *huma.Schema, change func(*huma.Schema)) *huma.Schema {
	if schema == nil {
		return nil
	}
	of := *schema
	if len(of.OneOf) > 0 {
		form := *of.OneOf[0]
		form.Description = of.Description
		of = form
	}
	if of.Format == "uint64" {
		of.Format = "int64"
	}
	if of.PatternDescription != "" {
		of.Extensions = maps.Clone(of.Extensions)
		if of.Extensions == nil {
			of.Extensions = map[string]any{}
		}
		of.Extensions["x-patternDescription"] = of.PatternDescription
		of.PatternDescription = ""
	}
	of.Items = publish(of.Items, change)
	if values, ok := of.AdditionalProperties.(*huma.Schema); ok {
		of.AdditionalProperties = publish(values, change)
	}
	of.Properties = maps.Clone(of.Properties)
	for name, member := range of.Properties {
		of.Properties[name] = publish(member, change)
	}
	of.AnyOf = published(of.AnyOf, change)
	of.AllOf = published(of.AllOf, change)
	change(&of)
	if of.Nullable && of.Enum != nil {
		of.Enum = append(slices.Clone(of.Enum), nil) // else null would be refused, whatever the type
	}
	return &of
}

func published(list []*huma.Schema, change func(*huma.Schema)) []*huma.Schema {
	if list == nil {
		return nil
	}
	copied := make([]*huma.Schema, len(list))
	for i, schema := range list {
		copied[i] = publish(schema, change)
	}
	return copied
}

// orNull lets a published schema accept null.
func orNull(of *huma.Schema) {
	switch {
	case of.Ref != "":
		of.AnyOf = []*huma.Schema{{Ref: of.Ref}, {Type: "null"}}
		of.Ref = ""
	case of.Type != "" && !of.Nullable:
		of.Nullable = true
		if of.Enum != nil {
			of.Enum = append(slices.Clone(of.Enum), nil)
		}
	}
}

func sameSchema(a, b *huma.Schema) bool {
	one, errOne := json.Marshal(a)
	other, errOther := json.Marshal(b)
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
}

// references returns the names of the schemas that a schema refers to.
func references(schema *huma.Schema) (names []string) {
	publish(schema, func(of *huma.Schema) {
		if of.Ref != "" {
			names = append(names, strings.TrimPrefix(of.Ref, schemaPrefix))
		}
	})
	return names
}
