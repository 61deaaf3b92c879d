package api

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzParse compares the fast way of reading a body with the common decoder: the same documents are accepted, and they
// are equal.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` [1, -0, 1e3, 9007199254740993, "é\u00e9\n", true, false, null] `, `{"a":{"b":[{}]},"c":[]}`, `{"a":1,"a":2}`, `{} {}`, `[1,]`, `{"a"`,
		"", " ", "\xff", "\"\xff\"", `"\ud800"`, `{"a":tru}`, `nul`, strings.Repeat("[", 20_000), strings.Repeat("[", 99) + strings.Repeat("]", 99),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var want any
		wrong := json.Unmarshal(body, &want, asWritten)
		got, err := parse(body)
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.200q is %.200v, %.200v, want %.200v, %.200v", body, got, err, want, wrong)
		}
	})
}

// TestParseTakesFastWay fails when every body falls back to the common decoder, which no other test would notice.
func TestParseTakesFastWay(t *testing.T) {
	t.Parallel()
	body := strings.NewReader(`{"a":[1,"x",true,null,{"b":[]}],"c":{}}`)
	got, err := untyped(jsontext.NewDecoder(body))
	want := map[string]any{"a": []any{number("1"), "x", true, nil, map[string]any{"b": []any{}}}, "c": map[string]any{}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %#v, %v", got, err)
	}
}

func FuzzQueryValue(f *testing.F) {
	for _, seed := range []string{"app_key=tk_1", "app_key=", "app_key", "", "a=1&app_key=x", "app_key=a=b", "app_key=%41+b", "app_key=a;b", "app%5Fkey=x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u := &url.URL{RawQuery: raw}
		if got, want := queryValue(u, "app_key"), u.Query().Get("app_key"); got != want {
			t.Errorf("%q has %q, want %q", raw, got, want)
		}
	})
}
