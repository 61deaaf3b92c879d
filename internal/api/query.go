package api

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
)

// methods returns the methods that an operation takes, as the header Allow has them.
func (op *mounted) methods() string {
	if op.Get {
		return "GET, POST"
	}
	return http.MethodPost
}

// takes reports whether an operation may be called with a method.
func (op *mounted) takes(method string) bool {
	return method == http.MethodPost || op.Get && method == http.MethodGet
}

// queryBody returns the members in the query of a GET as the body that a POST would have. As in bodies, members that
// the operation does not know are ignored.
func (op *mounted) queryBody(query url.Values) ([]byte, error) {
	body := map[string]jsontext.Value{}
	for name, values := range query {
		schema := op.members[name]
		if schema == nil {
			continue
		}
		if len(values) > 1 {
			return nil, fault.Invalid(name, "must be given once, got %d times", len(values))
		}
		value, err := memberValue(schema, values[0])
		if err != nil {
			return nil, fault.Invalid(name, "must be UTF-8")
		}
		body[name] = value
	}
	return json.Marshal(body)
}

// memberValue returns a value of a query as JSON of the schema's type. What is not of the type stays a text, which the
// check of the request then rejects.
func memberValue(schema *huma.Schema, text string) (jsontext.Value, error) {
	value := jsontext.Value(text)
	if schema.Type != huma.TypeString && value.IsValid() {
		switch value.Kind() {
		case '0', 't', 'f':
			return value, nil
		}
	}
	return json.Marshal(text)
}

// parameters describes the members of a request as parameters of a query.
func (op *mounted) parameters() (list []*huma.Param) {
	for _, name := range slices.Sorted(maps.Keys(op.members)) {
		schema := *publish(op.members[name], func(*huma.Schema) {})
		description := schema.Description
		schema.Description = ""
		list = append(list, &huma.Param{
			Name: name, In: "query", Description: description, Required: slices.Contains(op.required, name), Schema: &schema,
		})
	}
	return list
}
