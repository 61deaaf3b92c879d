package api

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// OpenAPI describes every mounted operation in OpenAPI 3.1, generated from the tables and schemas that serve them. The
// same build always returns the same bytes.
func (f *Frame) OpenAPI() ([]byte, error) {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:   "Tocsin",
			Version: f.Build,
			Description: "Incident response over one JSON API: on-call schedules, alerts, channel rules, incidents, " +
				"monitoring datasources, browser errors, persons and webhook deliveries. " +
				"Every operation is a POST with a JSON body and an app key; some reads take GET as well; " +
				"every success is {request_id, data}, every failure {request_id, error}.",
		},
		Components: &huma.Components{
			Schemas: f.schemas,
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
	f.prepareAll()
	for _, op := range f.order {
		doc.Paths[op.Path] = &huma.PathItem{Post: f.describe(op)}
		if op.Get {
			get := f.describe(op)
			get.OperationID, get.Parameters, get.RequestBody = get.OperationID+"-get", op.parameters(), nil
			doc.Paths[op.Path].Get = get
		}
	}
	return json.Marshal(doc)
}

// describe returns the OpenAPI operation of a mounted operation, with a response for each status that it may answer.
func (f *Frame) describe(op *mounted) *huma.Operation {
	callID := &huma.Param{Description: "The call's identifier, as in the body.", Schema: &huma.Schema{Type: huma.TypeString}}
	retryAfter := &huma.Param{
		Description: "Seconds after which to try again, where it is known.", Schema: &huma.Schema{Type: huma.TypeInteger},
	}
	responses := map[string]*huma.Response{"200": {
		Description: "Done.",
		Headers:     map[string]*huma.Param{"Service-Request-Id": callID},
		Content:     f.content(op),
	}}
	for _, w := range wire {
		if w.status == http.StatusMethodNotAllowed { // other methods than those described
			continue
		}
		response := &huma.Response{
			Description: http.StatusText(w.status) + ".",
			Content:     map[string]*huma.MediaType{"application/json": {Schema: f.failure}},
		}
		if w.status == http.StatusTooManyRequests || w.status == http.StatusServiceUnavailable {
			response.Headers = map[string]*huma.Param{"Retry-After": retryAfter}
		}
		responses[strconv.Itoa(w.status)] = response
	}
	return &huma.Operation{
		OperationID: operationID(op.Path),
		Tags:        []string{strings.Split(op.Path, "/")[1]},
		Summary:     strings.TrimSuffix(op.Doc, "."),
		Description: op.description(),
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json": {Schema: op.in, Example: raw([]byte(op.Example))},
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
	if !op.warns() || op.out.Ref == "" || f.schemas.SchemaFromRef(op.out.Ref).Properties["warnings"] != nil {
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

// operationID converts /channel/silence/rule/list into channel-silence-rule-list.
func operationID(path string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if head, tail, found := strings.Cut(first, "-"); found { // /alert-event/list is not /alert/event/list
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
