package api_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
)

// with returns a request that has one more field than it needs.
func with(field string) string {
	return `{"name":"a","count":1,"maybe":null,` + field + `}`
}

func TestFields(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	const bad = "InvalidParameter"
	s.Scenarios(t, echo, []apitest.Scenario{
		{Name: "least", Body: minimal, Data: minimal},
		{Name: "required missing", Body: `{"count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "is required"}},
		{Name: "the first in order of declaration speaks", Body: `{}`, Code: bad, Says: []string{"parameter name", "is required"}},
		{Name: "required null", Body: `{"name":null,"count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "must be a string, got null"}},
		{Name: "nullable missing", Body: `{"name":"a","count":1}`, Code: bad, Says: []string{"parameter maybe", "is required"}},
		{Name: "nullable given", Body: `{"name":"a","count":1,"maybe":{"weight":3}}`, Data: `{"name":"a","count":1,"maybe":{"weight":3}}`},
		{Name: "nullable of another type", Body: `{"name":"a","count":1,"maybe":[]}`, Code: bad, Says: []string{"parameter maybe", "must be an object, got an array of 0"}},
		{Name: "optional null is absent", Body: with(`"big":null,"huge":null,"small":null,"mode":null,"ratio":null,"on":null,"kind":null,"id":null,"code":null,"tags":null,"ids":null,"labels":null,"counts":null,"parts":null,"from":null,"colour":null`), Data: minimal},
		{Name: "nested optional null is absent", Body: with(`"parts":[{"weight":1,"label":null,"inner":null,"parts":null}]`), Data: with(`"parts":[{"weight":1}]`)},
		{Name: "null in a list", Body: with(`"ids":[1,null]`), Code: bad, Says: []string{"parameter ids[1]", "got null"}},
		{Name: "null in a list of objects", Body: with(`"parts":[null]`), Code: bad, Says: []string{"parameter parts[0]", "must be an object, got null"}},
		{Name: "null in a map", Body: with(`"labels":{"b":null}`), Code: bad, Says: []string{"parameter labels.b", "must be a string, got null"}},
		{Name: "false is not absent", Body: with(`"on":false`), Data: with(`"on":false`)},
		{Name: "embedded", Body: with(`"colour":"red"`), Data: with(`"colour":"red"`)},
		{Name: "embedded beyond", Body: with(`"colour":"pink"`), Code: bad, Says: []string{"parameter colour", "at most 3 characters", `"pink"`}},
		{Name: "unknown is ignored", Body: with(`"zebra":{"a":[1,2]}`), Data: minimal},
		{Name: "another case is unknown", Body: with(`"Big":7,"KIND":"green"`), Data: minimal},
		{Name: "required in another case is missing", Body: `{"Name":"a","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "is required"}},
		{Name: "any document", Body: with(`"free":{"x":[1.50, null, "\u0041"]}`), Data: with(`"free":{"x":[1.50,null,"A"]}`)},

		{Name: "length at least", Body: `{"name":"","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "at least 1 characters", `got ""`}},
		{Name: "length at the bound", Body: `{"name":"abcde","count":1,"maybe":null}`, Data: `{"name":"abcde","count":1,"maybe":null}`},
		{Name: "length beyond", Body: `{"name":"abcdef","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "at most 5 characters", `got "abcdef"`}},
		{Name: "length counts characters", Body: `{"name":"值班表名字","count":1,"maybe":null}`, Data: `{"name":"值班表名字","count":1,"maybe":null}`},
		{Name: "length beyond in characters", Body: `{"name":"值班表的名字","count":1,"maybe":null}`, Code: bad, Says: []string{"at most 5 characters", "值班表的名字"}},
		{Name: "a long value is not repeated", Body: `{"name":"` + strings.Repeat("é", 61) + `","count":1,"maybe":null}`, Code: bad, Says: []string{"a string of 61 characters"}},
		{Name: "a string with a zero character", Body: `{"name":"a\u0000","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "U+0000"}},
		{Name: "minimum", Body: `{"name":"a","count":0,"maybe":null}`, Code: bad, Says: []string{"parameter count", "at least 1", "got 0"}},
		{Name: "maximum", Body: `{"name":"a","count":100,"maybe":null}`, Data: `{"name":"a","count":100,"maybe":null}`},
		{Name: "beyond the maximum", Body: `{"name":"a","count":101,"maybe":null}`, Code: bad, Says: []string{"parameter count", "at most 100", "got 101"}},
		{Name: "float at the bound", Body: with(`"ratio":0.5`), Data: with(`"ratio":0.5`)},
		{Name: "float in another notation", Body: with(`"ratio":5E-1`), Data: with(`"ratio":0.5`)},
		{Name: "float beyond", Body: with(`"ratio":0.50001`), Code: bad, Says: []string{"parameter ratio", "at most 0.5", "got 0.50001"}},
		{Name: "float out of range", Body: with(`"ratio":1e400`), Code: bad, Says: []string{"parameter ratio", "got 1e400"}},
		{Name: "empty optional texts", Body: with(`"kind":"","id":""`), Data: minimal},
		{Name: "blank name", Body: `{"name":" \u3000","count":1,"maybe":null}`, Code: bad, Says: []string{"name", "must not be blank"}},
		{Name: "unknown float out of range", Body: with(`"zebra":1e400`), Data: minimal},
		{Name: "enum", Body: with(`"kind":"green"`), Code: bad, Says: []string{"parameter kind", "one of red, blue", `got "green"`}},
		{Name: "enum in another case", Body: with(`"kind":"Red"`), Code: bad, Says: []string{"one of red, blue"}},
		{Name: "enum of integers", Body: with(`"mode":1`), Data: with(`"mode":1`)},
		{Name: "enum of integers beyond", Body: with(`"mode":2`), Code: bad, Says: []string{"parameter mode", "one of 0, 1", "got 2"}},
		{Name: "pattern", Body: with(`"id":"00ff"`), Data: with(`"id":"00ff"`)},
		{Name: "pattern missed", Body: with(`"id":"00fg"`), Code: bad, Says: []string{"parameter id", "must be 4 hexadecimal digits", `got "00fg"`}},
		{Name: "pattern without words", Body: with(`"code":"ab"`), Code: bad, Says: []string{"parameter code", "must match ^[A-Z]*$"}},
		{Name: "items at least", Body: with(`"tags":[]`), Code: bad, Says: []string{"parameter tags", "at least 1 items", "an array of 0"}},
		{Name: "items at the bound", Body: with(`"tags":["a","b","c"]`), Data: with(`"tags":["a","b","c"]`)},
		{Name: "items beyond", Body: with(`"tags":["a","b","c","d"]`), Code: bad, Says: []string{"parameter tags", "at most 3 items", "an array of 4"}},
		{Name: "item beyond", Body: with(`"tags":["a","bbbbb"]`), Code: bad, Says: []string{"parameter tags[1]", "at most 4 characters", "bbbbb"}},
		{Name: "deep field", Body: with(`"parts":[{"weight":0},{"weight":1,"inner":{"weight":2,"parts":[{"weight":-1}]}}]`), Code: bad, Says: []string{"parameter parts[1].inner.parts[0].weight", "at least 0", "got -1"}},
		{Name: "map value", Body: with(`"counts":{"a.b":1,"c":"x"}`), Code: bad, Says: []string{"parameter counts.c", "must be an integer", `got "x"`}},
		{Name: "map value under a name like a path", Body: with(`"counts":{"a.b":true}`), Code: bad, Says: []string{`parameter counts["a.b"]`, "got true"}},
		{Name: "map name with a zero character", Body: with(`"labels":{"a\u0000":"x"}`), Code: bad, Says: []string{`labels["a\x00"]`, "U+0000"}},
		{Name: "time", Body: with(`"at":"2026-04-13T12:00:00.5+08:00"`), Data: with(`"at":"2026-04-13T12:00:00.5+08:00"`)},
		{Name: "no time", Body: with(`"at":"yesterday"`), Code: bad, Says: []string{"parameter at", "must be a time", `got "yesterday"`}},
		{Name: "a day that is not in the calendar", Body: with(`"at":"2026-02-30T12:00:00Z"`), Code: bad, Says: []string{"parameter at", "must be a time"}},
		{Name: "a type that reads itself", Body: with(`"colours":["0","359"]`), Data: with(`"colours":["0","359"]`)},
		{Name: "a type that refuses", Body: with(`"colours":["0","360"]`), Code: bad, Says: []string{"parameter colours[1]", "must be from 0 to 359, got 360"}},
		{Name: "a type that reads texts", Body: with(`"colours":[7]`), Code: bad, Says: []string{"parameter colours[0]", "must be a string, got 7"}},
		{Name: "members without a field", Body: with(`"bag":{"size":1,"zip":[true,null],"note":"x"}`), Data: with(`"bag":{"size":1,"note":"x","zip":[true,null]}`)},
		{Name: "optional and always there", Body: with(`"bag":{"size":1}`), Data: with(`"bag":{"size":1,"note":null}`)},
		{Name: "a field beside members without one", Body: with(`"bag":{"size":0,"zip":1}`), Code: bad, Says: []string{"parameter bag.size", "at least 1"}},
		{Name: "a hidden field is no member", Body: with(`"bag":{"size":1,"Others":{"a":1}}`), Data: with(`"bag":{"size":1,"note":null,"Others":{"a":1}}`)},
		{Name: "rule between fields", Body: with(`"from":5,"to":4`), Code: bad, Says: []string{"parameter to", "from 5", "got 4"}},

		{Name: "string for a number", Body: `{"name":"a","count":"1","maybe":null}`, Code: bad, Says: []string{"parameter count", `must be an integer, got "1"`}},
		{Name: "number for a string", Body: `{"name":7,"count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "must be a string, got 7"}},
		{Name: "bool", Body: with(`"on":0`), Code: bad, Says: []string{"parameter on", "must be true or false, got 0"}},
		{Name: "array", Body: with(`"ids":{}`), Code: bad, Says: []string{"parameter ids", "must be an array, got an object"}},
		{Name: "float", Body: with(`"ratio":"x"`), Code: bad, Says: []string{"parameter ratio", "must be a number"}},
		{Name: "object", Body: with(`"labels":"x"`), Code: bad, Says: []string{"parameter labels", "must be an object"}},

		{Name: "a secret is not repeated", Body: with(`"token":"hunter2-hunter2"`), Code: bad, Says: []string{"parameter token", "at most 8 characters", "a string of 15 characters"}},
		{Name: "nor one that is a number", Body: with(`"token":12345`), Code: bad, Says: []string{"must be a string, got a number of 5 digits"}},
		{Name: "a long name is cut", Body: with(`"counts":{"` + strings.Repeat("x", 1000) + `":null}`), Code: bad, Says: []string{"parameter counts.xxx", "xxx...xxx", "must be an integer, got null"}},
	})
}

func TestIntegers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	scenarios := []apitest.Scenario{}
	for _, c := range []struct {
		field string
		fine  []string
		bad   []string
		bound string
	}{
		{"big", []string{"9223372036854775807", "-9223372036854775808", "9007199254740993"}, []string{"9223372036854775808", "-9223372036854775809", "123456789012345678901234567890"}, "from -9223372036854775808 to 9223372036854775807"},
		{"huge", []string{"18446744073709551615", "9223372036854775808", "9007199254740993"}, []string{"18446744073709551616", "-1"}, "from 0 to 18446744073709551615"},
		{"small", []string{"127", "-128"}, []string{"128", "-129"}, "from -128 to 127"},
		{"big", nil, []string{"1.0", "1e3", "1E3", "1.5", "-0.0"}, "without point or exponent"},
		{"huge", nil, []string{"1.0", "1e3", "1e400"}, "without point or exponent"},
	} {
		for _, v := range c.fine {
			scenarios = append(scenarios, apitest.Scenario{Name: c.field + " " + v, Body: with(`"` + c.field + `":` + v), Data: with(`"` + c.field + `":` + v)})
		}
		for _, v := range c.bad {
			scenarios = append(scenarios, apitest.Scenario{Name: c.field + " " + v, Body: with(`"` + c.field + `":` + v), Code: "InvalidParameter", Says: []string{"parameter " + c.field, c.bound, "got " + v}})
		}
	}
	s.Scenarios(t, echo, append(scenarios,
		apitest.Scenario{Name: "extremes in a list", Body: with(`"ids":[0,18446744073709551615]`), Data: with(`"ids":[0,18446744073709551615]`)},
		apitest.Scenario{Name: "beyond in a list", Body: with(`"ids":[0,18446744073709551616]`), Code: "InvalidParameter", Says: []string{"ids[1]"}},
		apitest.Scenario{Name: "zero with a sign", Body: with(`"big":-0`), Data: minimal},
	))
}

func TestJSONSyntax(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	const bad = "InvalidParameter"
	s.Scenarios(t, echo, []apitest.Scenario{
		{Name: "white space around", Body: " \n\t" + minimal + "\r\n ", Data: minimal},
		{Name: "trailing garbage", Body: minimal + "x", Code: bad, Says: []string{"not valid JSON at byte 35"}},
		{Name: "two documents", Body: minimal + minimal, Code: bad, Says: []string{"not valid JSON"}},
		{Name: "half a document", Body: minimal[:12], Code: bad, Says: []string{"not valid JSON at byte 12"}},
		{Name: "white space alone", Body: " ", Code: bad, Says: []string{"not valid JSON"}},
		{Name: "not an object", Body: `[1]`, Code: bad, Says: []string{"the body must be an object, got an array of 1"}},
		{Name: "null", Body: `null`, Code: bad, Says: []string{"the body must be an object, got null"}},
		{Name: "a string", Body: `"x"`, Code: bad, Says: []string{`the body must be an object, got "x"`}},
		{Name: "name twice", Body: `{"name":"a","name":"b","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "given twice"}},
		{Name: "name twice in disguise", Body: `{"name":"a","n\u0061me":"b","count":1,"maybe":null}`, Code: bad, Says: []string{"given twice"}},
		{Name: "name twice within", Body: with(`"parts":[{"weight":1,"weight":2}]`), Code: bad, Says: []string{"parameter parts[0].weight", "given twice"}},
		{Name: "unknown name twice", Body: with(`"x":1,"x":2`), Code: bad, Says: []string{"given twice"}},
		{Name: "invalid UTF-8", Body: "{\"name\":\"\xff\",\"count\":1,\"maybe\":null}", Code: bad, Says: []string{"parameter name", "invalid UTF-8"}},
		{Name: "invalid UTF-8 in a name", Body: "{\"\xff\":1}", Code: bad, Says: []string{"invalid UTF-8"}},
		{Name: "half a surrogate pair", Body: `{"name":"\ud800","count":1,"maybe":null}`, Code: bad, Says: []string{"parameter name", "surrogate"}},
		{Name: "a surrogate pair is one character", Body: `{"name":"\ud83d\ude00bcde","count":1,"maybe":null}`, Data: `{"name":"😀bcde","count":1,"maybe":null}`},
		{Name: "deep nesting of something unknown", Body: with(`"x":` + strings.Repeat("[", 900) + strings.Repeat("]", 900)), Data: minimal},
		{Name: "comment", Body: "{}//", Code: bad, Says: []string{"not valid JSON"}},
		{Name: "leading zero", Body: with(`"big":01`), Code: bad, Says: []string{"not valid JSON"}},
		{Name: "not a number", Body: with(`"ratio":NaN`), Code: bad, Says: []string{"not valid JSON"}},
	})
	deep := s.Call(apitest.KeyA, list, strings.Repeat("[", 20_000))
	if deep.Code != bad || len(deep.Body) > 500 || !strings.Contains(deep.Message, "depth") {
		t.Errorf("%.600s", deep.Body)
	}
	part := `{"weight":1,"inner":`
	deepPart := s.Call(apitest.KeyA, create, `{"name":"`+strings.Repeat("x", 100_000)+`","x":`+strings.Repeat(part, 5000)+"1"+strings.Repeat("}", 5000)+"}")
	if deepPart.Code != bad || len(deepPart.Body) > 500 {
		t.Errorf("%.600s", deepPart.Body)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	fill := func(n int) string { // a body of n bytes
		return `{"name":"a","count":1,"maybe":null,"x":"` + strings.Repeat("y", n-42) + `"}`
	}
	for _, c := range []struct {
		name, path, kind, body string
		chunked                bool
		code                   string
		says                   string
	}{
		{"empty without type", list, "", "", false, "", ""},
		{"empty with type", list, "application/json", "", false, "", ""},
		{"empty is an empty object", echo, "", "", false, "InvalidParameter", "parameter name"},
		{"empty with a wrong type", list, "text/plain", "", false, "InvalidContentType", `"text/plain"`},
		{"charset", echo, "application/json; charset=utf-8", minimal, false, "", ""},
		{"capitals", echo, "Application/JSON;charset=UTF-8", minimal, false, "", ""},
		{"text", echo, "text/plain", minimal, false, "InvalidContentType", `"text/plain"`},
		{"form", echo, "application/x-www-form-urlencoded", minimal, false, "InvalidContentType", "must be application/json"},
		{"no type", echo, "", minimal, false, "InvalidContentType", `""`},
		{"something like it", echo, "application/json-patch", minimal, false, "InvalidContentType", ""},
		{"broken type", echo, "application/json; charset", minimal, false, "InvalidContentType", ""},
		{"at the cap", echo, "application/json", fill(2000), false, "", ""},
		{"beyond the cap", echo, "application/json", fill(2001), false, "EntityTooLarge", "2000 bytes"},
		{"chunked", echo, "application/json", minimal, true, "", ""},
		{"chunked at the cap", echo, "application/json", fill(2000), true, "", ""},
		{"chunked beyond the cap", echo, "application/json", fill(2001), true, "EntityTooLarge", "2000 bytes"},
		{"beyond the usual cap", list, "application/json", fill(1<<20 + 1), false, "EntityTooLarge", "1048576 bytes"},
		{"chunked beyond the usual cap", list, "application/json", fill(1<<20 + 1), true, "EntityTooLarge", "1048576 bytes"},
		{"at the usual cap", list, "application/json", fill(1 << 20), false, "", ""},
		{"chunked and empty", list, "", "", true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.Request("POST", c.path+"?app_key="+apitest.KeyA, c.body)
			if c.chunked {
				r.ContentLength, r.Body = -1, io.NopCloser(bytes.NewBufferString(c.body))
			}
			if c.kind != "" {
				r.Header.Set("Content-Type", c.kind)
			}
			if got := s.Do(r); got.Code != c.code || !strings.Contains(got.Message, c.says) {
				t.Errorf("%d %s", got.Status, got.Body)
			}
		})
	}
}

// TestBodyThatEndsEarly claims more bytes than it sends.
func TestBodyThatEndsEarly(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, toys())
	reader, writer := io.Pipe()
	r, err := http.NewRequest("POST", s.URL+echo+"?app_key="+apitest.KeyA, reader)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	go func() {
		fmt.Fprint(writer, minimal[:10])
		writer.CloseWithError(io.ErrUnexpectedEOF)
	}()
	if _, err := http.DefaultClient.Do(r); err == nil {
		t.Error("the client did not notice its own end")
	}
	if got := s.Call(apitest.KeyA, echo, minimal); got.Code != "" {
		t.Errorf("the next call: %s", got.Body)
	}
}
