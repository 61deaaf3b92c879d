package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// golden mounts the toy operations with their answers to their examples as golden replies.
func golden(t *testing.T) (*apitest.Server, []api.Op) {
	once.Do(func() {
		s := withToys(apitest.Start(t, toys()))
		s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountA)
		files := fstest.MapFS{}
		for _, op := range toys() {
			body := op.Example
			if op.Path == broken {
				body = `{"name":"bytes"}`
			}
			files[api.GoldenFile(op.Path)] = &fstest.MapFile{Data: s.Call(apitest.KeyA, op.Path, body).Body}
		}
		answered = api.WithReplies(files, toys())
	})
	return apitest.StartWith(t, ratelimit.Rate{PerSecond: 50, PerMinute: 1000}, answered), answered
}

var (
	once     sync.Once
	answered []api.Op
)

func TestDocumentKeepsRules(t *testing.T) {
	t.Parallel()
	s, _ := golden(t)
	apitest.CheckOpenAPI(t, s.Frame)
}

func TestDocumentDescribesOperations(t *testing.T) {
	t.Parallel()
	s, _ := golden(t)
	b, err := s.Frame.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]struct {
			Post struct {
				OperationID string `json:"operationId"`
				Summary     string
				Description string
				Tags        []string
				Permission  string         `json:"x-permission"`
				Limits      map[string]int `json:"x-rate-limit"`
				MaxBody     int            `json:"x-max-body-bytes"`
				Responses   map[string]any
			}
		}
		Components struct {
			Schemas map[string]struct {
				Required   []string
				Properties map[string]map[string]any
			}
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	post := doc.Paths[echo].Post
	if post.OperationID != "toy-echo" || post.Summary != "Gives back what it got" || post.Tags[0] != "toy" || post.Permission != "Schedules Read (on-call) or Schedules Manage (on-call)" || post.Limits["per_second"] != 50 || post.Limits["per_minute"] != 1000 || post.MaxBody != 2000 {
		t.Errorf("%+v", post)
	}
	for path, want := range map[string]string{
		echo: "200 400 401 403 413 429 500 503 default", info: "200 400 401 403 404 413 429 500 503 default", open: "200 400 401 413 429 500 503 default",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(doc.Paths[path].Post.Responses)), " "); got != want {
			t.Errorf("%s: responses %s, want %s", path, got, want)
		}
	}
	if text := fmt.Sprint(doc.Paths[info].Post.Responses["404"]); !strings.Contains(text, "ResourceNotFound: No toy has the id.") {
		t.Errorf("the condition of 404: %s", text)
	}
	reply := doc.Components.Schemas["Api_testToys"]
	if strings.Join(reply.Required, " ") != "name count maybe" || reply.Properties["kind"]["type"] != "string" {
		t.Errorf("the reply: required %v, kind %v", reply.Required, reply.Properties["kind"])
	}
	toys := doc.Components.Schemas["Api_testToysInput"]
	if strings.Join(toys.Required, " ") != "name count maybe" {
		t.Errorf("required: %v", toys.Required)
	}
	for field, want := range map[string]string{
		"name":   `{"type":"string","description":"What it is called.","minLength":1,"maxLength":5}`,
		"huge":   `{"type":["integer","null"],"format":"int64","description":"Any unsigned 64-bit integer.","minimum":0}`,
		"small":  `{"type":["integer","null"],"format":"int8","description":"A small integer."}`,
		"mode":   `{"type":["integer","null"],"format":"int64","description":"0 or 1.","enum":[0,1,null]}`,
		"maybe":  `{"description":"A part, or null for none.","anyOf":[{"$ref":"#/components/schemas/Api_testPartInput"},{"type":"null"}]}`,
		"bag":    `{"description":"Where it is kept.","anyOf":[{"$ref":"#/components/schemas/Api_testBagInput"},{"type":"null"}]}`,
		"parts":  `{"type":["array","null"],"description":"What it is made of.","items":{"$ref":"#/components/schemas/Api_testPartInput"}}`,
		"free":   `{"description":"Any document."}`,
		"shapes": `{"type":["array","null"],"description":"Lists, or one of them.","items":{"type":"array","items":{"type":"string","maxLength":4}}}`,
		"ids":    `{"type":["array","null"],"description":"Identifiers.","items":{"type":"integer","format":"int64","minimum":0},"maxItems":4}`,
		"id":     `{"type":["string","null"],"description":"Its identifier.","pattern":"^[0-9a-f]{4}$","x-patternDescription":"4 hexadecimal digits"}`,
	} {
		got, err := json.Marshal(toys.Properties[field])
		if err != nil || !apitest.SameJSON(got, []byte(want)) {
			t.Errorf("%s: %s\nwant %s", field, got, want)
		}
	}
	if doc.Components.Schemas["ItemsApi_testToy"].Properties == nil || doc.Components.Schemas["ErrorResponse"].Properties == nil {
		t.Errorf("schema names: %s", b)
	}
}

func TestDocumentIsServed(t *testing.T) {
	t.Parallel()
	s, _ := golden(t)
	want, err := s.Frame.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	h := s.Frame.OpenAPIHandler()
	get := func(method, tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/openapi.json", nil)
		if tag != "" {
			r.Header.Set("If-None-Match", tag)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	w := get("GET", "")
	tag := w.Header().Get("ETag")
	if w.Code != 200 || w.Body.String() != string(want) || w.Header().Get("Content-Type") != "application/json" || len(tag) < 10 {
		t.Errorf("GET: %d %v", w.Code, w.Header())
	}
	if w := get("HEAD", ""); w.Code != 200 || w.Body.Len() != 0 || w.Header().Get("ETag") != tag {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
	if w := get("GET", tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("unchanged: %d", w.Code)
	}
	if w := get("GET", `"another"`); w.Code != 200 {
		t.Errorf("changed: %d", w.Code)
	}
	for _, method := range []string{"POST", "PUT", "DELETE"} {
		if w := get(method, ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}
