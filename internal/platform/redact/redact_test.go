package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		// A value that is no credential is returned as it was, order and digits included.
		` { "z": [1.50, -0, 1e400, 12345678901234567890], "a": {"é": null, "b": true} } `: `{"z":[1.50,-0,1e400,12345678901234567890],"a":{"é":null,"b":true}}`,
		`"text"`: `"text"`,
		`7`:      `7`,
		`{}`:     `{}`,
		`{"a":1,"a":2,"tls_cert":"pem","layers":[{"mode":0}]}`: `{"a":1,"a":2,"tls_cert":"pem","layers":[{"mode":0}]}`,
		`{"add_snapshot":"x","records_number":"y"}`:            `{"add_snapshot":"x","records_number":"y"}`,

		// Members whose name names a credential.
		`{"payload":{"mysql":{"username":"u","password":"p"}}}`:                          `{"payload":{"mysql":{"username":"u","password":"***"}}}`,
		`{"a":[{"b":[{"Client_Token":"t"}]}]}`:                                           `{"a":[{"b":[{"Client_Token":"***"}]}]}`,
		`{"X-Api-Key":"a","apiKey":"a","APP_KEY":"a","accessKey":"a"}`:                   `{"X-Api-Key":"***","apiKey":"***","APP_KEY":"***","accessKey":"***"}`,
		`{"tls_key":"a","tls_key_pwd":"a","sign_secret":"a","dsn":"a","Cookie":"a"}`:     `{"tls_key":"***","tls_key_pwd":"***","sign_secret":"***","dsn":"***","Cookie":"***"}`,
		`{"token":7,"tokens":["a"],"credentials":{"user":"u"},"secret":[]}`:              `{"token":"***","tokens":"***","credentials":"***","secret":"***"}`,
		`{"password":"","secret":null,"is_private":true,"token":false}`:                  `{"password":"","secret":null,"is_private":true,"token":false}`,
		`{"pa\u0073sword":"a","pa` + "\u017f" + `sword":"a","to` + "\u212a" + `en":"a"}`: `{"password":"***","pa` + "\u017f" + `sword":"***","to` + "\u212a" + `en":"***"}`,

		// Lists of headers and parameters keep the names.
		`{"headers":["Authorization: Basic YTpi","X-Org:7","odd"]}`: `{"headers":["Authorization: ***","X-Org: ***","***"]}`,
		`{"params":["sig=a=b","odd"],"k":["a=b"]}`:                  `{"params":["sig=***","***"],"k":["a=b"]}`,
		`{"request_headers":{"X-Org":"7","n":1,"l":["a"]}}`:         `{"request_headers":{"X-Org":"***","n":"***","l":["***"]}}`,
		`{"headers":[{"name":"X","value":"v"},["a: b"],null,true]}`: `{"headers":[{"name":"***","value":"***"},["***"],null,true]}`,
		`{"headers":"X: v","params":7}`:                             `{"headers":"***","params":"***"}`,

		// URLs, wherever they are.
		`{"address":"http://u:p@h:9090/x?a=1","note":"see https://h/?app_key=k&b=2"}`: `{"address":"http://***@h:9090/x?a=1","note":"see https://h/?app_key=***&b=2"}`,
		`["redis:\/\/:p@h"]`: `["redis://***@h"]`,
		`{"//u:p@h?a=x":1}`:  `{"//***@h?a=x":1}`,

		// What the program's own decoder repairs is repaired.
		"[\"a\xff\",\"\\ud800\"]": "[\"a\ufffd\",\"\ufffd\"]",
	} {
		if got := JSON([]byte(in), 1<<20); got != want {
			t.Errorf("%s\n gives %s\n want  %s", in, got, want)
		}
	}
}

func TestMalformedBodiesAreNotShown(t *testing.T) {
	for _, in := range []string{
		"", " ", "secret", `{"a":"secret"`, `{"a":"secret"}}`, `{"a":"secret"} 1`, `["secret",]`, `{"a":tru}`,
		`{secret:1}`, `{"a":01}`, `"secret`, "\x00", strings.Repeat("[", 100_000), strings.Repeat(`{"token":[`, 100_000),
	} {
		if got := JSON([]byte(in), 1<<20); got != malformed {
			t.Errorf("%.40q gives %.60s", in, got)
		}
	}
}

func TestLongBodiesAreCut(t *testing.T) {
	body := []byte(`{"note":"` + strings.Repeat("x", 200) + `"}`)
	if got := JSON(body, len(body)); got != string(body) {
		t.Errorf("a body of exactly the limit gives %s", got)
	}
	for _, limit := range []int{len(body) - 1, Least, 0, -1} {
		if got, want := JSON(body, limit), `{"redacted":"too long","size":211}`; got != want {
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
		`{"a":[1,"//u:p@h?token=x",null],"password":{"b":1}}`, `{"headers":["A: b"],"params":["a=b"]}`,
		`"http://u:p/q@h?a=b&app_key=c#d"`, `[`, `{"a":1}{`, "[\"\xff\"]", `{"token":"","dsn":1e5}`,
	} {
		f.Add([]byte(s), 200)
	}
	f.Fuzz(func(t *testing.T, body []byte, limit int) {
		got := JSON(body, limit)
		if !json.Valid([]byte(got)) || !utf8.ValidString(got) {
			t.Fatalf("%q gives %q, which is not JSON", body, got)
		}
		if len(got) > max(limit, Least) {
			t.Fatalf("%q gives %d bytes, more than %d", body, len(got), limit)
		}
		if json.Valid(body) == (got == malformed) && len(body) < 1000 && string(body) != malformed {
			t.Fatalf("%q gives %q", body, got)
		}
		if again := JSON([]byte(got), max(limit, len(got))); again != got {
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
			value = map[string]any{before + name + after: pick(secret, before+secret+after)}
		case 1:
			value = map[string]any{before + name: []any{before, map[string]any{after: secret}}}
		case 2:
			value = map[string]any{"headers": []string{before, "X-Org: " + secret + after, "X-Org:" + before + secret}}
		case 3:
			value = map[string]any{"params": []string{after, "key=" + secret, "key=" + before + secret}}
		case 4:
			value = before + pick("http", "postgres", "a+b") + "://" + pick("u:", ":", "") + secret + "@" + after
		case 5:
			value = before + pick("?", "&", ";", " ", "#") + pick("app_key=", "integration_key=", "token=") + secret + after
		}
		for range r.IntN(5) {
			if r.IntN(2) == 0 {
				value = []any{before, value}
			} else {
				value = map[string]any{before: value}
			}
		}
		body, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := JSON(body, 1<<20); strings.Contains(got, secret) || got == malformed {
			t.Fatalf("%s gives %s", body, got)
		}
	})
}

func BenchmarkJSON(b *testing.B) {
	body := []byte(`{"type_ident":"prometheus","name":"main","payload":{"prometheus":{"basic_auth_password":"p","headers":["X-Org: 7"]}},"address":"http://u:p@h:9090/?a=1"}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		JSON(body, 1<<20)
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
