package app_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// node is the part of a JSON schema that the test reads.
type node struct {
	Ref                  string           `json:"$ref"`
	Type                 any              `json:"type"` // a name, or a list with null
	AnyOf                []node           `json:"anyOf"`
	OneOf                []node           `json:"oneOf"`
	Enum                 []any            `json:"enum"`
	Pattern              string           `json:"pattern"`
	Format               string           `json:"format"`
	MaxLength            *int             `json:"maxLength"`
	MaxItems             *int             `json:"maxItems"`
	MaxProperties        *int             `json:"maxProperties"`
	Items                *node            `json:"items"`
	Properties           map[string]*node `json:"properties"`
	AdditionalProperties json.RawMessage  `json:"additionalProperties"`
}

func (n *node) is(name string) bool {
	list, _ := n.Type.([]any)
	return n.Type == name || slices.Contains(list, any(name))
}

// unbounded collects the arrays, strings and maps below n that may be as long as the body; at is the path of n.
func (n *node) unbounded(at string, named map[string]*node, found, seen map[string]bool) {
	for _, one := range slices.Concat(n.AnyOf, n.OneOf) {
		one.unbounded(at, named, found, seen)
	}
	if name := strings.TrimPrefix(n.Ref, "#/components/schemas/"); n.Ref != "" && !seen[name] {
		seen[name] = true
		named[name].unbounded(name, named, found, seen)
	}
	var values *node
	if n.AdditionalProperties != nil && json.Unmarshal(n.AdditionalProperties, &values) != nil {
		values = nil // true or false
	}
	switch {
	case n.is("array") && n.MaxItems == nil:
		found[at+": array without maxItems"] = true
	case n.is("string") && n.MaxLength == nil && n.Enum == nil && n.Format == "" && !strings.HasSuffix(n.Pattern, "$"):
		found[at+": string without maxLength"] = true
	case values != nil && n.MaxProperties == nil && n.Properties == nil:
		found[at+": map without maxProperties"] = true
	}
	if n.Items != nil {
		n.Items.unbounded(at+"[]", named, found, seen)
	}
	if values != nil {
		values.unbounded(at+".*", named, found, seen)
	}
	for name, property := range n.Properties {
		property.unbounded(at+"."+name, named, found, seen)
	}
}

// TestEveryRequestIsBounded: every list and every string in a request has a bound in the published schema. Values that
// only the body's size bounded have made the server slow more than once.
func TestEveryRequestIsBounded(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	text, err := a.Frame.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct{ Schema node }
				}
			}
		}
		Components struct{ Schemas map[string]*node }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	found, seen := map[string]bool{}, map[string]bool{}
	for path, op := range doc.Paths {
		schema := op.Post.RequestBody.Content["application/json"].Schema
		schema.unbounded(path, doc.Components.Schemas, found, seen)
	}
	if len(seen) < 100 {
		t.Errorf("saw only %d schemas", len(seen))
	}
	for _, what := range slices.Sorted(maps.Keys(found)) {
		t.Error(what)
	}
}
