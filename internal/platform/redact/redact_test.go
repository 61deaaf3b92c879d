package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// typed is the shape of the requests of these tests.
var typed = func() *Shape {
	text := &Shape{Show: Text}
	s := &Shape{Members: map[string]*Shape{
		"name": text, "count": text, "password": {}, "endpoint": {Show: Host}, "texts": {Items: text}, "labels": {Others: text},
		"headers": {Items: &Shape{Show: ":"}}, "params": {Items: &Shape{Show: "="}}, "contacts": {Others: &Shape{Show: Host}},
		"settings": {Others: &Shape{}}, "free": Free,
		"lists": {Forms: []*Shape{{Items: &Shape{Items: text}}, {Items: text}}},
		"bag":   {Members: map[string]*Shape{"name": text}, Others: &Shape{}},
	}}
	s.Members["inner"] = s
	return s
}()

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		// What the type shows is returned as it was, order and digits included.
		` { "texts": ["é", null, "b"], "count": 12345678901234567890, "name": "n" } `: `{"texts":["é",null,"b"],"count":12345678901234567890,"name":"n"}`,
		`{}`: `{}`,
		`{"name":"a","name":"b","inner":{"inner":{"count":1e400}}}`: `{"name":"a","name":"b","inner":{"inner":{"count":1e400}}}`,
		`{"lists":[["a"]],"inner":{"lists":["b"]}}`:                 `{"lists":[["a"]],"inner":{"lists":["b"]}}`,

		// What it marks is hidden, at any depth, whatever it is.
		`{"password":"p","inner":{"password":7}}`:                       `{"password":"***","inner":{"password":"***"}}`,
		`{"password":{"a":"p"},"settings":{"alias":"a","x":[{"y":1}]}}`: `{"password":"***","settings":{"alias":"***","x":"***"}}`,
		`{"password":"","settings":{"a":null,"b":true}}`:                `{"password":"","settings":{"a":null,"b":true}}`,
		`{"headers":["Authorization: Basic YTpi","X-Org:7","odd"]}`:     `{"headers":["Authorization: ***","X-Org: ***","***"]}`,
		`{"params":["sig=a=b","odd"]}`:                                  `{"params":["sig=***","***"]}`,
		`{"endpoint":"https://h.example/T0/B1/x"}`:                      `{"endpoint":"https://h.example/***"}`,
		`{"contacts":{"slack":"https://h/x","telegram":"1:a/2"}}`:       `{"contacts":{"slack":"https://h/***","telegram":"***"}}`,

		// So is what it does not know, and what is of another kind.
		`{"pasword":"p","b":[1],"c":{"d":"e"},"f":7,"g":null,"h":false}`: `{"pasword":"***","b":"***","c":"***","f":"***","g":null,"h":false}`,
		`{"bag":{"name":"n","other":"o"}}`:                               `{"bag":{"name":"n","other":"***"}}`,
		`{"name":["p"],"texts":"p","labels":["p"],"inner":"p"}`:          `{"name":"***","texts":"***","labels":"***","inner":"***"}`,
		`"text"`: `"***"`,
		`["p"]`:  `"***"`,

		// Names decide where the sender chooses them.
		`{"labels":{"host":"h","api_key":"p"}}`:                                                   `{"labels":{"host":"h","api_key":"***"}}`,
		`{"free":{"mysql":{"username":"u","password":"p"},"add_snapshot":"x"}}`:                   `{"free":{"mysql":{"username":"u","password":"***"},"add_snapshot":"x"}}`,
		`{"free":[{"Client_Token":"t","X-Api-Key":"a","APP_KEY":7,"credentials":{"user":"u"}}]}`:  `{"free":[{"Client_Token":"***","X-Api-Key":"***","APP_KEY":"***","credentials":"***"}]}`,
		`{"free":{"pa\u0073sword":"a","pa` + "\u017f" + `sword":"a","to` + "\u212a" + `en":"a"}}`: `{"free":{"password":"***","pa` + "\u017f" + `sword":"***","to` + "\u212a" + `en":"***"}}`,

		// URLs, wherever they are.
		`{"name":"http://u:p@h:9090/x?a=1","free":"see https://h/?app_key=k&b=2"}`: `{"name":"http://***@h:9090/x?a=1","free":"see https://h/?app_key=***&b=2"}`,
		`{"texts":["redis:\/\/:p@h"]}`:                                             `{"texts":["redis://***@h"]}`,
		`{"//u:p@h?a=x":true}`:                                                     `{"//***@h?a=x":true}`,

		// What the program's own decoder repairs is repaired.
		"{\"texts\":[\"a\xff\",\"\\ud800\"]}": "{\"texts\":[\"a\ufffd\",\"\ufffd\"]}",
	} {
		if got := JSON([]byte(in), typed, 1<<20); got != want {
			t.Errorf("%s\n gives %s\n want  %s", in, got, want)
		}
	}
}

func TestMalformedBodiesAreNotShown(t *testing.T) {
	for _, in := range []string{
		"", " ", "secret", `{"a":"secret"`, `{"a":"secret"}}`, `{"a":"secret"} 1`, `["secret",]`, `{"a":tru}`,
		`{secret:1}`, `{"a":01}`, `"secret`, "\x00", strings.Repeat("[", 100_000), strings.Repeat(`{"token":[`, 100_000),
	} {
		if got := JSON([]byte(in), typed, 1<<20); got != malformed {
			t.Errorf("%.40q gives %.60s", in, got)
		}
	}
}

func TestLongBodiesAreCut(t *testing.T) {
	body := []byte(`{"name":"` + strings.Repeat("x", 200) + `"}`)
	if got := JSON(body, typed, len(body)); got != string(body) {
		t.Errorf("a body of exactly the limit gives %s", got)
	}
	for _, limit := range []int{len(body) - 1, Least, 0, -1} {
		if got, want := JSON(body, typed, limit), `{"redacted":"too long","size":211}`; got != want {
			t.Errorf("limit %d gives %s, want %s", limit, got, want)
		}
	}
}

func TestURL(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "",
		"https://h/p?a=b#c":  "https://h/p?a=b#c",
		"https://h/@scope/x": "https://h/@scope/x",
		"http://h:80/a@b":    "http://h:80/a@b",
		"http://[::1]:80/x":  "http://[::1]:80/x",

		"http://user@h/":          "http://***@h/",
		"http://u:p@h":            "http://***@h",
		"http://u:p@q@h/x@y":      "http://***@h/x@y",
		"http://u:p/q?r#s@h":      "http://***@h",
		"a http://u:p@h //v:w@i.": "a http://***@h //***@i.",
		"http://a:b@h,http://c@i": "http://***@h,http://***@i",

		"/schedule/info?app_key=k":      "/schedule/info?app_key=***",
		"/push?integration_key=k&x=1":   "/push?integration_key=***&x=1",
		"/x?a=1&Token=k#f":              "/x?a=1&Token=***#f",
		"/x?app%5Fkey=k":                "/x?app%5Fkey=***",
		"/x?access_token=a;b?c":         "/x?access_token=***",
		"/x#access_token=a":             "/x#access_token=***",
		"/x?next=/y?token=a&z=1":        "/x?next=/y?token=***&z=1",
		"app_key=k&a=1":                 "app_key=***&a=1",
		"/x?app_key&token=":             "/x?app_key&token=***",
		"host=h user=u password=p db=d": "host=h user=u password=*** db=d",
		"/x?%zz=1&%zztoken=1":           "/x?%zz=1&%zztoken=***",
	} {
		if got := URL(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// TestLongURLs would not end if the work grew with the square of the length.
func TestLongURLs(t *testing.T) {
	for _, part := range []string{"//", "//:x", "//:x?", "?a=", "&", "a ", "//[", "=;#"} {
		s := strings.Repeat(part, 1<<18/len(part))
		for _, in := range []string{s, "@" + s, s + " @"} {
			if got := URL(in); got != in {
				t.Errorf("%q, repeated, gives %.60q", part, got)
			}
		}
	}
}

// FuzzJSON checks what must hold of any result, whatever came in.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"free":[1,"//u:p@h?token=x",null],"password":{"b":1}}`, `{"headers":["A: b"],"params":["a=b"],"lists":[["a"],"b"],"endpoint":"http://h/x"}`,
		`"http://u:p/q@h?a=b&app_key=c#d"`, `[`, `{"a":1}{`, "[\"\xff\"]", `{"token":"","dsn":1e5}`,
	} {
		f.Add([]byte(s), 200)
	}
	f.Fuzz(func(t *testing.T, body []byte, limit int) {
		got := JSON(body, typed, limit)
		if !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Fatalf("%q gives %q, which is not JSON", body, got)
		}
		if len(got) > max(limit, Least) {
			t.Fatalf("%q gives %d bytes, more than %d", body, len(got), limit)
		}
		if json.Valid(body) == (got == malformed) && len(body) < 1000 && string(body) != malformed {
			t.Fatalf("%q gives %q", body, got)
		}
		if again := Again(got, typed); again != got {
			t.Fatalf("%q gives %q, which gives %q", body, got, again)
		}
	})
}

// FuzzSecret hides a secret in each of the places where it must be found, deep
// in an innocent document, with the fuzzer's text beside it.
func FuzzSecret(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed, "text", "more")
		f.Add(seed, "http://h:1/?a=b&", "//")
		f.Add(seed, `a"\b`, "\xff?")
	}
	f.Fuzz(func(t *testing.T, seed uint64, before, after string) {
		const secret = "S3cr3tS3cr3t"
		r := rand.New(rand.NewPCG(seed, 0))
		pick := func(s ...string) string { return s[r.IntN(len(s))] }
		name := pick("password", "Passwd", "my_secret", "token", "apiKey", "app_key", "access-key", "TLS_KEY", "private",
			"credential", "Authorization", "cookie", "dsn", "sign_secret", "verify_token", "client_token", "service_token")
		var value any
		switch r.IntN(6) {
		case 0:
			value = map[string]any{"password": pick(secret, before+secret+after), "settings": map[string]any{after: secret}}
		case 1:
			value = map[string]any{"free": map[string]any{before + name + after: []any{before, map[string]any{after: secret}}}}
		case 2:
			value = map[string]any{"headers": []string{before, "X-Org: " + secret + after, "X-Org:" + before + secret}}
		case 3:
			value = map[string]any{"params": []string{after, "key=" + secret, "key=" + before + secret}}
		case 4:
			value = map[string]any{"free": before + pick("http", "postgres", "a+b") + "://" + pick("u:", ":", "") + secret + "@" + after}
		case 5:
			value = map[string]any{"name": before + pick("?", "&", ";", " ", "#") + pick("app_key=", "integration_key=", "token=") + secret + after}
		}
		for range r.IntN(5) {
			value = map[string]any{pick("inner", before): value}
		}
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := JSON(body, typed, 1<<20); strings.Contains(got, secret) || got == malformed {
			t.Fatalf("%s gives %s", body, got)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	body := []byte(`{"name":"main","inner":{"inner":{"password":"p","headers":["X-Org: 7"]}},"endpoint":"http://u:p@h:9090/?a=1","labels":{"host":"h"}}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		JSON(body, typed, 1<<20)
	}
}

// TestFoldedNames holds the names that fold returns unread to what it returns for the others.
func TestFoldedNames(t *testing.T) {
	for r := '_'; r <= 'z'; r++ {
		if got, want := fold("A"+string(r)), "a"+fold(string(r)); got != want {
			t.Errorf("A%c is %q, want %q", r, got, want)
		}
	}
}
