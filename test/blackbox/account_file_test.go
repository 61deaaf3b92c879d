package blackbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// second is the account of testdata/second.json. The file is exactly as `export --secrets` writes it, except that its
// app keys are in clear.
const second = "7310045520077"

// The app keys in the file.
const (
	ownerKey    = "jequitiba-owner-key-0123456789-abcdef"
	narrowKey   = "jequitiba-narrow-key-0123456789-abcdef"
	disabledKey = "jequitiba-disabled-key-0123456789-abcd"
)

// secrets maps the other secrets of the file to their form in an export without secrets.
var secrets = []string{
	`"telegram-bot-token-77"`, `""`,
	`"senha-da-réplica"`, `""`,
	`"X-Api-Key: chave-do-loki"`, `"X-Api-Key: "`,
	`"chave-elástica"`, `""`,
	`"77aa77aa77aa77aa77aa77aa77aa77aa077"`, `""`,
}

var (
	keySection = regexp.MustCompile(`(?s)"app_keys": \[.*?\n  \]`)
	keyMember  = regexp.MustCompile(`"app_key": "([^"]*)"`)
)

// withoutSecrets returns the file as `export` writes it.
func withoutSecrets(file string) string {
	return strings.NewReplacer(secrets...).Replace(keySection.ReplaceAllString(file, `"app_keys": []`))
}

// withHashes returns the file as `export --secrets` writes it.
func withHashes(file string) string {
	return keyMember.ReplaceAllStringFunc(file, func(member string) string {
		sum := sha256.Sum256([]byte(keyMember.FindStringSubmatch(member)[1]))
		return `"key_hash": "` + hex.EncodeToString(sum[:]) + `"`
	})
}

// imported returns a new folder whose tocsin.db holds the second account, and the file it was imported from.
func imported(t *testing.T) (dir, file string) {
	t.Helper()
	dir, file = t.TempDir(), read(t, "testdata", "second.json")
	write(t, dir, "second.json", file)
	if out := must(t, dir, "import", "second.json"); !strings.Contains(out, second) {
		t.Errorf("import says %q", out)
	}
	return dir, file
}

func export(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	r := tool(t, dir, append([]string{"export", "--account", second}, flags...)...)
	if r.code != 0 {
		t.Fatalf("export: exit %d: %s", r.code, r.err)
	}
	return r.out
}

// same compares two documents and shows the first line that differs.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s: line %d is\n%s\nwant\n%s", what, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s: %d lines, want %d", what, len(g), len(w))
}

func TestExportEqualsItsImport(t *testing.T) {
	t.Parallel()
	dir, file := imported(t)
	plain, secret := withoutSecrets(file), withHashes(file)
	if plain == file || secret == file {
		t.Fatal("the file has no secrets")
	}
	same(t, "export", export(t, dir), plain)
	same(t, "export --secrets", export(t, dir, "--secrets"), secret)
	if out := export(t, dir, "--secrets", "copy.json"); out != "" {
		t.Errorf("export to a file also prints %q", out)
	}
	same(t, "export to a file", read(t, dir, "copy.json"), secret)

	// Another database has its own sealing keys.
	for _, c := range []struct {
		file  string
		flags []string
	}{{plain, nil}, {secret, []string{"--secrets"}}} {
		other := t.TempDir()
		write(t, other, "file.json", c.file)
		must(t, other, "import", "file.json")
		same(t, "the second database", export(t, other, c.flags...), c.file)
	}
}

func TestImportedAccountIsServed(t *testing.T) {
	t.Parallel()
	dir, file := imported(t)
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	var f map[string]any
	decode(t, []byte(file), &f)
	record := func(section string, i int, drop ...string) map[string]any {
		r := map[string]any{}
		for k, v := range f[section].([]any)[i].(map[string]any) {
			r[k] = v
		}
		for _, k := range drop {
			delete(r, k)
		}
		return r
	}
	items := func(list ...map[string]any) map[string]any {
		all := []any{}
		for _, r := range list {
			all = append(all, r)
		}
		return map[string]any{"items": all}
	}
	idle := func(r map[string]any) map[string]any { r["is_effective"] = false; return r }
	observer := func(i int) map[string]any {
		r := record("persons", i, "role_ids")
		r["as"], r["status"] = "responder", "active"
		return r
	}
	rumIDs := `{"application_ids": ["JeQuizLeituristaAppXXX", "unknown", "JeQuiPortaLdoCLienteXX"]}`
	for _, c := range []struct {
		path, body string
		want       map[string]any
	}{
		{"/alert/info", `{"alert_id": "7310a0000000000000000a01"}`, record("alerts", 0)},
		{"/channel/silence/rule/list", `{"channel_id": 21}`, items(idle(record("silence_rules", 0)), idle(record("silence_rules", 1)))},
		{"/channel/unsubscribe/rule/list", `{"channel_id": 22}`, items(record("drop_rules", 1))},
		{"/incident/war-room/default-observers", `{"incident_id": "7310a0000000000000000c01"}`, map[string]any{"observers": []any{observer(2), observer(1)}}},
		{"/monit/datasource/info", `{"id": 3}`, record("datasources", 0)},
		{"/monit/datasource/info", `{"id": 18446744073709551615}`, record("datasources", 2)},
		{"/rum/application/infos", rumIDs, items(record("rum_applications", 1), record("rum_applications", 0))},
		{"/rum/issue/info", `{"issue_id": "JeQuixErroDaFaturaXXXX"}`, record("rum_issues", 0)},
		{"/person/infos", `{"person_ids": [7310045521003, 7310045521001]}`, items(record("persons", 2, "phone", "role_ids"), record("persons", 0, "phone"))},
		{"/webhook/history/list", `{"limit": 10, "start_time": 1000000000000, "end_time": 9999999999999}`,
			merged(items(record("webhook_deliveries", 2), record("webhook_deliveries", 1), record("webhook_deliveries", 0)), map[string]any{"search_after_ctx": "", "total": json.Number("3")})},
	} {
		a := s.call(ownerKey, c.path, c.body)
		var got map[string]any
		if a.status != 200 {
			t.Errorf("%s %s: %+v", c.path, c.body, a)
			continue
		}
		decode(t, a.data, &got)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s:\n%s\nwant\n%v", c.path, c.body, a.data, c.want)
		}
	}
	schedule := s.call(ownerKey, "/schedule/info", `{"schedule_id": 7310045524001, "start": 1771300000, "end": 1771400000}`)
	for _, part := range []string{`"schedule_name":"Plantão da rede"`, `"token":"telegram-bot-token-77"`, `"start":1771300000,"end":1771383600`, `"group_name":"Todos"`} {
		if !strings.Contains(string(schedule.data), part) {
			t.Errorf("/schedule/info has no %s: %s", part, schedule.data)
		}
	}
}

func TestKeysOfFile(t *testing.T) {
	t.Parallel()
	dir, _ := imported(t)
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	schedule, alert := `{"schedule_id": 7310045524001}`, `{"alert_id": "7310a0000000000000000a01"}`
	for _, c := range []struct{ key, path, body, code string }{
		{ownerKey, "/schedule/info", schedule, ""},
		{ownerKey, "/alert/info", alert, ""},
		{narrowKey, "/schedule/info", schedule, ""},
		{narrowKey, "/alert/info", alert, "AccessDenied"},
		{disabledKey, "/schedule/info", schedule, "Unauthorized"},
		{ownerKey + "x", "/schedule/info", schedule, "Unauthorized"},
	} {
		if a := s.call(c.key, c.path, c.body); a.code != c.code {
			t.Errorf("%s %s: %+v, want code %q", c.key, c.path, a, c.code)
		}
	}
	if a := s.call(narrowKey, "/schedule/info", schedule); strings.Contains(string(a.data), "telegram-bot-token-77") {
		t.Error("a key that may only read sees a secret")
	}
}

func TestAccountIsReplacedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	dir, file := imported(t)
	must(t, dir, "key", "create", "--account", second, "--name", "later")
	before := export(t, dir, "--secrets")
	if r := tool(t, dir, "import", "second.json"); r.code != 1 || !strings.Contains(r.err, second) || !strings.Contains(r.err, "exists") {
		t.Errorf("import again: %+v", r)
	}
	same(t, "after the refusal", export(t, dir, "--secrets"), before)
	write(t, dir, "renamed.json", edit(t, file, `"account_name": "Jequitibá Energia S/A"`, `"account_name": "Jequitibá"`))
	must(t, dir, "import", "--replace", "renamed.json")
	same(t, "after --replace", export(t, dir, "--secrets"), withHashes(read(t, dir, "renamed.json")))
}

func TestBrokenFileChangesNothing(t *testing.T) {
	t.Parallel()
	dir, file := imported(t)
	before, empty := export(t, dir, "--secrets"), t.TempDir()
	for _, c := range []struct {
		name, old, new string
		says           []string
	}{
		{"an unknown member deep inside", `"rotation_unit": "week",`, `"rotation_unit": "week", "rotation_unlt": 1,`, []string{"schedules[0].layers[0].rotation_unlt"}},
		{"a wrong type", `"weight": -3`, `"weight": "heavy"`, []string{"schedules[0].layers[1].weight", "integer"}},
		{"a number beyond its bounds", `"mode": 1`, `"mode": 2`, []string{"schedules[0].layers[2].mode", "2"}},
		{"no format", `"format": "tocsin.account/1",`, ``, []string{"format", "tocsin.account/1"}},
		{"another format", `tocsin.account/1`, `tocsin.account/2`, []string{"format", "tocsin.account/2"}},
		{"an owner who does not exist", `"owner_id": 7310045521001`, `"owner_id": 7310045521009`, []string{"account.owner_id", "7310045521009"}},
		{"a key of a person who does not exist", "\"name\": \"só plantões\",\n      \"person_id\": 7310045521002", "\"name\": \"só plantões\",\n      \"person_id\": 7310045521009", []string{"app_keys[1].person_id", "7310045521009"}},
		{"a role that does not exist", "7,\n        12", "7,\n        13", []string{"persons[1].role_ids[1]", "13"}},
		{"an identifier twice", `"channel_id": 22,` + "\n      \"channel_name\"", `"channel_id": 21,` + "\n      \"channel_name\"", []string{"channels[1].channel_id", "21"}},
		{"a rule of a channel that does not exist", `"channel_id": 22,` + "\n      \"priority\"", `"channel_id": 29,` + "\n      \"priority\"", []string{"drop_rules[1].channel_id", "29"}},
		{"another account's record", "\"datasources\": [\n    {\n      \"id\": 3,\n      \"account_id\": 7310045520077", "\"datasources\": [\n    {\n      \"id\": 3,\n      \"account_id\": 1", []string{"datasources[0].account_id", second}},
		{"a zone that does not exist", `America/Manaus`, `America/Manau`, []string{"schedules[1].time_zone", "America/Manau"}},
		{"a secret that is too short", ownerKey, `short-secret`, []string{"app_keys[0].app_key", "12"}},
		{"a fault in the last record", `"status_code": 200,`, `"status_code": -200,`, []string{"webhook_deliveries[2].status_code", "-200"}},
		{"a member twice", `"owner_id": 7310045521001`, `"owner_id": 7310045521001, "owner_id": 7310045521001`, []string{"account.owner_id", "twice"}},
		{"trailing garbage", "\n  ]\n}\n", "\n  ]\n}\n{}\n", []string{"JSON"}},
		{"half a file", "\n  ]\n}\n", "\n", []string{"JSON"}},
		{"bytes that are no text", `Jequitibá Energia`, "Jequitib\xe1 Energia", []string{"account.account_name"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, dir, "broken.json", edit(t, file, c.old, c.new))
			r := tool(t, dir, "import", "--replace", "broken.json")
			if r.code != 1 || r.out != "" || strings.Count(r.err, "\n") != 1 {
				t.Errorf("exit %d, want 1 with one line on standard error: %s%s", r.code, r.out, r.err)
			}
			for _, part := range append(c.says, "broken.json") {
				if !strings.Contains(r.err, part) {
					t.Errorf("the error does not name %q: %s", part, r.err)
				}
			}
			for _, secret := range []string{"short-secret", "jequitiba-", "telegram-bot", "chave-"} {
				if strings.Contains(r.err, secret) {
					t.Errorf("the error repeats a secret: %s", r.err)
				}
			}
			write(t, empty, "broken.json", edit(t, file, c.old, c.new))
			tool(t, empty, "import", "broken.json")
		})
	}
	same(t, "the account after all of them", export(t, dir, "--secrets"), before)
	if r := tool(t, empty, "export", "--account", second); r.code != 1 {
		t.Errorf("a part of one was imported into an empty database: %s", r.out)
	}
}

// edit replaces the last occurrence of a part of a text.
func edit(t *testing.T, text, old, replacement string) string {
	t.Helper()
	i := strings.LastIndex(text, old)
	if i < 0 {
		t.Fatalf("the file has no %q", old)
	}
	return text[:i] + replacement + text[i+len(old):]
}

// decode keeps every digit of numbers.
func decode(t *testing.T, document []byte, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(document)))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatal(fmt.Errorf("%w in %s", err, document))
	}
}

func merged(a, b map[string]any) map[string]any {
	for k, v := range b {
		a[k] = v
	}
	return a
}
