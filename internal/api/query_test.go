package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
)

// found is the request of an operation that takes GET.
type found struct {
	Name  string `json:"name" minLength:"1" maxLength:"5" doc:"A name."`
	Count int64  `json:"count,omitzero" minimum:"1" maximum:"9" doc:"A number."`
	On    *bool  `json:"on,omitempty" doc:"Whether it is on."`
}

// findReplies holds the golden reply of the operation.
var findReplies = fstest.MapFS{"testdata/golden/toy_find.json": {Data: []byte(`{"request_id":"x","data":{"name":"a"}}`)}}

func findToys() []api.Op {
	return []api.Op{{
		Path: "/toy/find", Effect: api.Read, Get: true, Doc: "Finds a toy.", Example: `{"name":"a"}`,
		Do: api.Do(func(_ *api.Call, in found) (found, error) { return in, nil }),
	}}
}

// A read that takes GET answers as with POST: the same types, bounds and errors, and the same checks of the key.
func TestGet(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, findToys())
	for _, c := range []struct{ query, data, code, says string }{
		{"name=a&count=3&on=true", `{"name":"a","count":3,"on":true}`, "", ""},
		{"name=7", `{"name":"7"}`, "", ""},
		{"name=null&other=1", `{"name":"null"}`, "", ""},
		{"name=%22%5C%22", `{"name":"\"\\\""}`, "", ""},
		{"", "", "InvalidParameter", "name"},
		{"name=", "", "InvalidParameter", "name"},
		{"name=abcdef", "", "InvalidParameter", "name"},
		{"name=a&count=10", "", "InvalidParameter", "count"},
		{"name=a&count=x", "", "InvalidParameter", "count"},
		{"name=a&count=", "", "InvalidParameter", "count"},
		{"name=a&count=1.5", "", "InvalidParameter", "count"},
		{"name=a&count=1&count=2", "", "InvalidParameter", "once"},
		{"name=a&count=%5B1%5D", "", "InvalidParameter", "count"},
		{"name=a&on=1", "", "InvalidParameter", "on"},
		{"name=%ff", "", "InvalidParameter", "UTF-8"},
	} {
		r := s.Do(s.Request("GET", "/toy/find?app_key="+apitest.KeyA+"&"+c.query, ""))
		if r.Code != c.code || !strings.Contains(r.Message, c.says) || c.data != "" && !apitest.SameJSON([]byte(c.data), r.Data) {
			t.Errorf("%s: %d %s", c.query, r.Status, r.Body)
		}
	}
	if r := s.Do(s.Request("GET", "/toy/find?name=a", "")); r.Code != "Unauthorized" {
		t.Errorf("without a key: %s", r.Body)
	}
	for _, method := range []string{"PUT", "DELETE"} {
		if r := s.Do(s.Request(method, "/toy/find?name=a&app_key="+apitest.KeyA, "")); r.Status != 405 || r.Header.Get("Allow") != "GET, POST" {
			t.Errorf("%s: %d, Allow %q", method, r.Status, r.Header.Get("Allow"))
		}
	}
	apitest.CheckOpenAPI(t, s.Frame, findReplies)
}

// Whatever the query, the call is answered, and nothing in it is an internal error.
func FuzzGet(f *testing.F) {
	s := apitest.Start(f, findToys())
	for _, query := range []string{"name=a", "name=a&count=1e400", "%zz", "name=a;b", "on={}&name=\x00"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest("GET", "/toy/find", nil)
		r.URL.RawQuery = "app_key=" + apitest.KeyA + "&" + query
		reply := httptest.NewRecorder()
		s.Frame.ServeHTTP(reply, r)
		if reply.Code >= 500 || !json.Valid(reply.Body.Bytes()) {
			t.Errorf("%q: %s", query, reply.Body)
		}
	})
}
