package accountfile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/fault"
)

// TestReadRefuses reads the full file with one fault at a time.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, says string }{
		{"another format", `"tocsin.account/1"`, `"tocsin.account/2"`, `format: must be tocsin.account/1, got "tocsin.account/2"`},
		{"another format, before members that only it has", `"tocsin.account/1",`, `"tocsin.account/2", "planets": [],`, `format: must be tocsin.account/1`},
		{"no format", `"format": "tocsin.account/1",`, ``, `format: is required`},
		{"format of another type", `"tocsin.account/1"`, `1`, `format: must be a string, got a number`},
		{"unknown section", `"roles": [`, `"planets": [], "roles": [`, `planets: is not a member that is known here`},
		{"section in another case", `"roles": [`, `"Roles": [`, `Roles: is not a member`},
		{"section twice", `"teams": [`, `"roles": [], "teams": [`, `roles: is given twice`},
		{"unknown member deep inside", `"layer_name": "nights",`, `"layer_name": "nights", "foo": 1,`, `schedules[0].layers[1].foo: is not a member`},
		{"unknown member of a block", `"basic_auth_enabled": true,`, `"basic_auth_enabled": true, "foo": {},`, `datasources[0].payload.prometheus.foo: is not a member`},
		{"unknown member of an embedded struct", `"rule_name": "Nights and weekends",`, `"rule_name": "Nights and weekends", "foo": 1,`, `silence_rules[1].foo: is not a member`},
		{"unknown member of a person", `"person_name": "Bob",`, `"person_name": "Bob", "mail": 1,`, `persons[3].mail: is not a member`},
		{"member twice", `"person_name": "Bob",`, `"person_name": "Bob", "person_name": "Bob",`, `persons[3].person_name: is given twice`},
		{"a number for a text", `"person_name": "Bob"`, `"person_name": 7`, `persons[3].person_name: must be a string, got a number`},
		{"a text for a number", `"person_id": 3790925372131,`, `"person_id": "secret-looking",`, `persons[3].person_id: must be an integer from -9223372036854775808 to 9223372036854775807, got a string`},
		{"beyond 64 bits signed", `"role_id": 9223372036854775807`, `"role_id": 9223372036854775808`, `roles[3].role_id: must be an integer from -9223372036854775808 to 9223372036854775807, got 9223372036854775808`},
		{"beyond 64 bits unsigned", `"id": 18446744073709551615`, `"id": 18446744073709551616`, `datasources[3].id: must be an integer from 0 to 18446744073709551615, got 18446744073709551616`},
		{"negative unsigned", `"id": 18446744073709551615`, `"id": -1`, `datasources[3].id: must be an integer from 0 to 18446744073709551615, got -1`},
		{"a fraction for an integer", `"advance_in_time": 900`, `"advance_in_time": 900.5`, `schedules[0].notify.advance_in_time: must be an integer from -9223372036854775808 to 9223372036854775807, got 900.5`},
		{"a text for true or false", `"is_private": true`, `"is_private": "true"`, `channels[1].is_private: must be true or false, got a string`},
		{"an object for a list", `"roles": [`, `"roles": {}, "x": [`, `roles: must be an array, got an object`},
		{"a list for an object", `"payload": {
        "sls": {`, `"payload": [], "x": {
        "sls": {`, `datasources[3].payload: must be an object, got an array`},
		{"no time", `"event_time": "2026-04-01T00:00:00.000000+08:00"`, `"event_time": "today"`, `webhook_deliveries[1].event_time: `},
		{"not JSON", `"roles": [`, `"roles": [,`, `the file is not valid JSON at byte`},
		{"not UTF-8", `"person_name": "Bob"`, "\"person_name\": \"B\xffb\"", `persons[3].person_name: the file is not valid JSON at byte`},
	} {
		t.Run(c.name, func(t *testing.T) {
			document := full(t)
			if !strings.Contains(document, c.old) {
				t.Fatalf("the file has no %s", c.old)
			}
			refused(t, strings.Replace(document, c.old, c.new, 1), c.says)
		})
	}
	t.Run("trailing garbage", func(t *testing.T) { refused(t, full(t)+"{}", "the file is not valid JSON at byte") })
	t.Run("cut off", func(t *testing.T) { refused(t, full(t)[:9000], "the file is not valid JSON at byte 9000") })
	t.Run("empty", func(t *testing.T) { refused(t, "", "the file is not valid JSON at byte 0") })
	t.Run("a list", func(t *testing.T) { refused(t, "[]", "must be an object, got an array") })
	t.Run("null", func(t *testing.T) { refused(t, "null", "format: is required") })
	t.Run("a failing disk", func(t *testing.T) {
		_, err := accountfile.Read(iotest.ErrReader(errors.New("input/output error")))
		if err == nil || !strings.Contains(err.Error(), "the file cannot be read: ") || !strings.Contains(err.Error(), "input/output error") {
			t.Error(err)
		}
	})
	t.Run("a long name", func(t *testing.T) {
		refused(t, `{"`+strings.Repeat("é", 1<<20)+`": 1}`, strings.Repeat("é", 40)+": is not a member")
	})
}

func refused(t *testing.T, document, says string) {
	t.Helper()
	_, err := accountfile.Read(strings.NewReader(document))
	if err == nil || !strings.Contains(err.Error(), says) || fault.KindOf(err) != fault.InvalidParameter || len(err.Error()) > 400 {
		t.Errorf("%v, want %s", err, says)
	}
}

// TestReadLeavesOut: a section that is missing or null is empty.
func TestReadLeavesOut(t *testing.T) {
	want := text(t, read(t, `{"format": "tocsin.account/1"}`))
	differ(t, "the file with null", text(t, read(t, `{"roles": null, "account": null, "format": "tocsin.account/1", "datasources": null}`)), want)
	if !strings.Contains(want, "\"roles\": [],\n") || !strings.HasSuffix(want, "[]\n}\n") {
		t.Errorf("%q", want)
	}
}

// FuzzRead checks that Read never panics, and that a file that was read and written reads the same.
func FuzzRead(f *testing.F) {
	for name, section := range sections(f) {
		f.Add(`{"format": "tocsin.account/1", "` + name + `": ` + section + `}`)
	}
	f.Add(`{"format": "tocsin.account/1", "datasources": [{"id": 18446744073709551615, "payload": {"oracle": {"options": {"a": "b"}}}}]}`)
	f.Add(`{"format": "tocsin.account/1", "schedules": [{"notify": {"webhooks": [{"settings": {"x": [1, {}]}}]}, "start": 1, "warnings": []}]}`)
	f.Fuzz(func(t *testing.T, document string) {
		read, err := accountfile.Read(strings.NewReader(document))
		if err != nil {
			if fault.KindOf(err) != fault.InvalidParameter || err.Error() == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		once := text(t, read)
		again, err := accountfile.Read(strings.NewReader(once))
		if err != nil {
			t.Fatalf("%v in what was written:\n%s", err, once)
		}
		differ(t, "what was written again", text(t, again), once)
	})
}

// sections returns the sections of the full file, each with its first element only: the fuzzer is slow on
// large documents.
func sections(t testing.TB) map[string]string {
	t.Helper()
	var whole map[string]jsontext.Value
	if err := json.Unmarshal([]byte(full(t)), &whole); err != nil {
		t.Fatal(err)
	}
	small := map[string]string{}
	for name, section := range whole {
		var list []jsontext.Value
		if json.Unmarshal(section, &list) == nil && len(list) > 0 {
			section = jsontext.Value(`[` + string(list[0]) + `]`)
		}
		if err := section.Compact(); err != nil {
			t.Fatal(err)
		}
		small[name] = string(section)
	}
	delete(small, "format")
	return small
}

// TestAccountWithoutTimeZone: an account without a time zone has UTC, as after the first start. An empty name and a
// missing one mean the same, and the exported file has UTC.
func TestAccountWithoutTimeZone(t *testing.T) {
	for _, zone := range []string{`"time_zone": "", `, ``, `"time_zone": "UTC", `} {
		f, err := accountfile.Read(strings.NewReader(`{"format": "tocsin.account/1", "account": {"account_id": 7, "account_name": "Acme", ` + zone + `"owner_id": 1},
			"persons": [{"person_id": 1, "person_name": "Olga"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		d, keyring := apitest.OpenDB(t), apitest.Box(t)
		if err := accountfile.Import(t.Context(), d, keyring, f, apitest.Now, false); err != nil {
			t.Fatalf("%s: %v", zone, err)
		}
		out, err := accountfile.Export(t.Context(), d, keyring, 7, false)
		if err != nil || out.Account.TimeZone != "UTC" {
			t.Errorf("%s: %+v %v", zone, out, err)
		}
		plan, err := accountfile.Apply(t.Context(), d, keyring, f, apitest.Now, accountfile.Options{DryRun: true})
		if err != nil || !plan.Empty() {
			t.Errorf("%s: applying the same file changes %+v %v", zone, plan, err)
		}
	}
}
