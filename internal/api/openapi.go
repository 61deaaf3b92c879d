package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// OpenAPI describes every mounted operation in OpenAPI 3.1, generated from the tables and schemas that serve them. The
// same build always returns the same bytes.
func (f *Frame) OpenAPI() ([]byte, error) {
	f.prepareAll()
	published := f.publishedSchemas()
	schemas := published.named()
	schemas.named["ErrorBody"].Properties["code"].Enum = codes()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Tocsin",
			Version: f.Build,
			Description: "Incident response over one JSON API: on-call schedules, alerts, channel rules, incidents, " +
				"monitoring datasources, browser errors, persons and webhook deliveries. " +
				"Every operation is a POST with a JSON body and an app key; some reads take GET as well; " +
				"every success is {request_id, data}, every failure {request_id, error}.",
			License: &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
			Contact: &huma.Contact{Name: "Tocsin"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "The server that this document comes from."}},
		Tags:    f.tags(),
		Components: &huma.Components{
			Schemas:   schemas,
			Responses: sharedResponses(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"app_key": {
					Type: "apiKey", In: "query", Name: "app_key",
					Description: "The app key. It is a secret: prefer the header where logs may keep the URL.",
				},
				"bearer": {Type: "http", Scheme: "bearer", Description: "The same app key as a bearer token. If both are sent, the query wins."},
			},
		},
		Security: []map[string][]string{{"app_key": {}}, {"bearer": {}}},
		Paths:    map[string]*huma.PathItem{},
	}
	for _, op := range f.order {
		doc.Paths[op.Path] = &huma.PathItem{Post: f.describe(op, published)}
		if op.Get {
			get := f.describe(op, published)
			get.OperationID = get.OperationID + "-get"
			get.Parameters = op.parameters()
			get.RequestBody = nil
			doc.Paths[op.Path].Get = get
		}
	}
	return json.Marshal(doc)
}

// tags describes the first parts of the paths, by which the document groups operations.
func (f *Frame) tags() (list []*huma.Tag) {
	for _, op := range f.order {
		name := op.tag()
		if !slices.ContainsFunc(list, func(t *huma.Tag) bool { return t.Name == name }) {
			list = append(list, &huma.Tag{Name: name, Description: "The operations below /" + name + "."})
		}
	}
	slices.SortFunc(list, func(a, b *huma.Tag) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (op *mounted) tag() string { return strings.Split(op.Path, "/")[1] }

// codes returns every code of a failure.
func codes() (list []any) {
	for _, row := range failureRows() {
		list = append(list, row.Code)
	}
	return list
}

// describe returns the OpenAPI operation of a mounted operation, with a response for each status that it may answer.
func (f *Frame) describe(op *mounted, published publishedSchemas) *huma.Operation {
	responses := op.responses()
	responses["200"] = &huma.Response{
		Description: "Done.",
		Headers: map[string]*huma.Param{"Service-Request-Id": {
			Description: "The call's identifier, as in the body.", Schema: &huma.Schema{Type: huma.TypeString},
		}},
		Content: f.content(op, published),
	}
	return &huma.Operation{
		OperationID: operationID(op.Path),
		Tags:        []string{op.tag()},
		Summary:     strings.TrimSuffix(op.Doc, "."),
		Description: op.description(),
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: published.request(op.in), Example: raw([]byte(op.Example))},
		}},
		Responses: responses,
		Extensions: map[string]any{
			"x-permission":     op.permission(),
			"x-rate-limit":     map[string]int{"per_second": f.rate(op).PerSecond, "per_minute": f.rate(op).PerMinute},
			"x-max-body-bytes": op.MaxBody,
		},
	}
}

// answered returns the schema of an operation's data: a write or a list may have warnings although its type
// has no member for them.
func (f *Frame) answered(op *mounted) *huma.Schema {
	if !op.warns() || op.out.Ref == "" || f.replied.SchemaFromRef(op.out.Ref).Properties["warnings"] != nil {
		return op.out
	}
	return &huma.Schema{AllOf: []*huma.Schema{op.out, {Properties: warningsSchema().Properties}}}
}

// warningsSchema returns the schema of Warnings.
func warningsSchema() *huma.Schema {
	own := newSchemas() // not among the named schemas, because no type of a request or reply is Warnings alone
	return own.SchemaFromRef(own.of(reflect.TypeFor[Warnings](), "").Ref)
}

func (op *mounted) description() string {
	text := op.Doc
	if op.Notes != "" {
		text += "\n\n" + op.Notes
	}
	if op.Get {
		text += "\n\n" + getNote
	}
	return text + "\n\nPermission: " + op.permission() + "."
}

// getNote is the paragraph about GET in descriptions.
const getNote = "It also takes GET, with the members of the request in the query."

func (op *mounted) permission() string {
	switch {
	case len(op.Allow) > 0:
		return either(op.Allow)
	case len(op.Narrowed) > 0:
		return "any valid app key; a narrowed one needs " + either(op.Narrowed)
	}
	return "any valid app key"
}

// operationID converts /channel/silence/rule/list into channel-silence-rule-list. Generators join the words: /alert-event/list
// has a word more, because it would have the name of /alert/event/list.
func operationID(path string) string {
	if path == "/alert-event/list" {
		return "alert-event-read-list"
	}
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if head, tail, found := strings.Cut(first, "-"); found {
		first = head + strings.ToUpper(tail[:1]) + tail[1:]
	}
	return first + "-" + strings.ReplaceAll(rest, "/", "-")
}

// raw embeds JSON unchanged; an empty document is no example.
func raw(document []byte) any {
	if len(document) == 0 {
		return nil
	}
	return json.RawMessage(document)
}
