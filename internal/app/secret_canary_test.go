package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/credential"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// canaries are calls of all operations that have a secret in their request. $s stands for a secret, a new one each time,
// and $u for one in a free document under a name that no credential has, so that it is not sealed. $channel, $integration,
// $rule and $schedule stand for what an earlier call made. A call succeeds unless fails is set. odd calls are sent with
// wrong values in place of each secret as well.
var canaries = []struct {
	path, body string
	odd, fails bool
}{
	{path: "/channel/create", body: `{"channel_name":"Canaries","team_id":0}`},
	{path: "/integration/create", odd: true, body: `{"integration_name":"a","integration_type":"webhook_incident","settings":{"endpoint":"https://h.example/$s",
		"headers":{"X-Org":"$s"},"sign_secret":"$s"}}`},
	{path: "/integration/update", odd: true, body: `{"integration_id":$integration,"settings":{"endpoint":"https://h.example/x?y=$s","headers":{"X-Org":"$s"},
		"sign_secret":"$s","previous_sign_secret":"$s"}}`},
	{path: "/integration/create", odd: true, body: `{"integration_name":"b","integration_type":"slack_app","settings":{"app":{"token":"$s"},"previous_sign_secret":"$s"}}`},
	{path: "/integration/update", fails: true, body: `{"integration_id":$integration,"settings":{"app":{"token":"$s","other":"$s"}}}`},
	{path: "/channel/escalate/rule/create", odd: true, body: `{"channel_id":$channel,"rule_name":"r","template_id":"000000000000000000000001","layers":[{"max_times":1,
		"notify_step":5,"escalate_window":30,"target":{"person_ids":[$owner],"by":{"follow_preference":true},"webhooks":[{"type":"slack",
		"settings":{"token":"$s","url":"https://h.example/$s","key_of_the_door":"$u","more":{"password":"$s"}}}]}}]}`},
	{path: "/channel/escalate/rule/update", body: `{"channel_id":$channel,"rule_id":"$rule","rule_name":"r","template_id":"000000000000000000000001","layers":[{"max_times":1,
		"notify_step":5,"escalate_window":30,"target":{"person_ids":[$owner],"by":{"follow_preference":true},"webhooks":[{"type":"slack","settings":{"token":"$s"}}]}}]}`},
	{path: "/incident/escalation/preview", odd: true, body: `{"channel_id":$channel,"incident_severity":"Critical","rule":{"channel_id":$channel,"rule_name":"r",
		"template_id":"000000000000000000000001","layers":[{"max_times":1,"notify_step":5,"escalate_window":30,"target":{"person_ids":[$owner],
		"by":{"follow_preference":true},"webhooks":[{"type":"slack","settings":{"token":"$s","url":"https://h.example/$s","more":{"password":"$s"}}}]}}]}}`},
	{path: "/schedule/create", odd: true, body: `{"schedule_name":"s","notify":{"webhooks":[{"type":"slack","settings":{"token":"$s","verify_token":"$s","sign_secret":"$s",
		"password":"$s","proxy":"https://u:$s@h.example/$s"}}]}}`},
	{path: "/schedule/update", body: `{"schedule_id":$schedule,"schedule_name":"s","notify":{"webhooks":[{"type":"slack","settings":{"token":"$s","verify_token":"$s","sign_secret":"$s",
		"url":"$s"}}]}}`},
	{path: "/schedule/preview", body: `{"schedule_name":"s","start":1776009600,"end":1776096000,"notify":{"webhooks":[{"type":"slack","settings":{"token":"$s","verify_token":"$s",
		"sign_secret":"$s","url":"$s"}}]}}`},
	{path: "/preference/update", odd: true, body: `{"contacts":{"slack":"https://hooks.example.com/$s","telegram":"1:$s/2","ntfy":"https://u:$s@ntfy.example/x"}}`},
	{path: "/person/push/subscribe", odd: true, body: `{"endpoint":"https://push.example.com/$s",
		"keys":{"p256dh":"BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk","auth":"zqbxT6JKstKSY9JKibZLSQ"}}`},
	{path: "/person/push/subscribe", odd: true, fails: true, body: `{"endpoint":"https://push.example.com/$s","keys":{
		"p256dh":"$s$s$s$s$s$s$s","auth":"$s$s"}}`},
	{path: "/person/second-factor/begin", body: `{"password":"$p"}`},
	{path: "/person/password/update", body: `{"password":"$p","new_password":"$s$s"}`},
	{path: "/person/second-factor/confirm", odd: true, fails: true, body: `{"one_time_password":"4815162342"}`},
	{path: "/person/second-factor/remove", odd: true, fails: true, body: `{"password":"$s"}`},
	{path: "/person/password/update", odd: true, fails: true, body: `{"password":"$s","new_password":"$s"}`},
}

// datasourceSecrets are the payloads of all types with all secrets that they have.
var datasourceSecrets = map[string][2]string{
	"prometheus":    {"http://p:9090", httpSecrets},
	"loki":          {"http://l:3100", httpSecrets},
	"victorialogs":  {"http://v:9428", httpSecrets},
	"mysql":         {"m:3306", `{"password":"$s","tls_cert":"c","tls_key":"$s","tls_key_pwd":"$s"}`},
	"oracle":        {"o:1521", `{"password":"$s","options":{"wallet_password":"x"}}`},
	"postgres":      {"p:5432", `{"password":"$s","tls_cert":"c","tls_key":"$s"}`},
	"clickhouse":    {"c:9000", `{"password":"$s","tls_cert":"c","tls_key":"$s","tls_key_pwd":"$s"}`},
	"elasticsearch": {"http://e:9200", `{"deployment":"self-managed","password":"$s","api_key":"$s","service_token":"$s","headers":["X-Org: $s"]}`},
	"sls":           {"cn-hangzhou.log.aliyuncs.com", `{"access_key_secret":"$s","headers":["X-Org: $s"]}`},
}

const httpSecrets = `{"basic_auth_password":"$s","headers":["X-Org: $s"],"params":["a=$s"],"tls_cert":"c","tls_key":"$s","tls_key_pwd":"$s"}`

// canaryRun is an account with secrets, and what must not repeat them.
type canaryRun struct {
	t       *testing.T
	url     string
	key     string
	known   map[string]string // what earlier calls made, by the placeholder
	secrets []string          // of all calls
	kept    []string          // the secrets that are stored sealed
	log     lockedBuffer
}

type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

// placeholder matches a text of a body that holds secrets.
var placeholder = regexp.MustCompile(`"[^"]*\$[su][^"]*"`)

// fill replaces placeholders; each secret is a new one.
func (r *canaryRun) fill(body string) (filled string, secrets []string) {
	for name, value := range r.known {
		body = strings.ReplaceAll(body, name, value)
	}
	filled = regexp.MustCompile(`\$[su]`).ReplaceAllStringFunc(body, func(kind string) string {
		s := fmt.Sprintf("S3cr%06dT", len(r.secrets))
		r.secrets = append(r.secrets, s)
		if kind == "$s" {
			secrets = append(secrets, s)
		}
		return s
	})
	return filled, secrets
}

// call makes a call. A reply that refuses it must repeat no secret.
func (r *canaryRun) call(key, path, body string) (status int, reply string) {
	r.t.Helper()
	filled, secrets := r.fill(body)
	q, err := http.Post(r.url+path+"?app_key="+key, "application/json", strings.NewReader(filled))
	if err != nil {
		r.t.Fatal(err)
	}
	defer q.Body.Close()
	b, err := io.ReadAll(q.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if q.StatusCode == http.StatusOK {
		if path != "/integration/create" && path != "/integration/update" { // whose endpoint is not sealed
			r.kept = append(r.kept, secrets...)
		}
		return q.StatusCode, string(b)
	}
	for _, s := range secrets {
		if strings.Contains(string(b), s) {
			r.t.Errorf("%s repeats a secret of %.300s: %.500s", path, filled, b)
		}
	}
	return q.StatusCode, string(b)
}

// odd calls an operation once for each wrong value of each secret.
func (r *canaryRun) odd(path, body string) {
	r.t.Helper()
	long := strings.Repeat("x", 1<<18+1)
	for _, at := range placeholder.FindAllStringIndex(body, -1) {
		text := body[at[0]+1 : at[1]-1]
		for _, wrong := range []string{
			`"` + text + long + `"`, `{"x":"` + text + `"}`, `["` + text + `"]`, `[{"x":"` + text + `"}]`, `"` + text + "\\u0001\"",
			`"http://u:` + text + `@%zz/` + text + `"`, `"` + text + `","pasword":"` + strings.ReplaceAll(text, "$s", "$u") + `"`, `"` + text, `"` + text + `"}]`,
		} {
			r.call(r.key, path, body[:at[0]]+wrong+body[at[1]:])
		}
	}
	r.call(r.key, path, strings.TrimSuffix(body, "}")+`,"pasword":"$s","more":{"x":["$s"]}}`)
	r.call(r.key, path, "["+body+"]")
	r.call(r.key+"x", path, body)
}

// TestNoSecretOfRequestIsShown calls every operation that has a secret in its request, rightly and wrongly. No secret is in
// a refusal, the audit log, the log or an export without secrets, and none that is stored is in clear in the database.
func TestNoSecretOfRequestIsShown(t *testing.T) {
	t.Parallel()
	ctx, r := context.Background(), &canaryRun{t: t, known: map[string]string{}}
	dsn := dbtest.Migrated(t)
	a, err := app.New(ctx, app.Config{DB: dsn, SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System,
		Log: slog.New(slog.NewJSONHandler(&r.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := a.FirstStart(ctx, "UTC")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	r.url, r.key = server.URL, first.Key
	r.secrets = append(r.secrets, "the password of the owner")
	r.known["$owner"], r.known["$p"] = fmt.Sprint(first.OwnerID), r.secrets[0]
	if err := a.DB.Write(ctx, func(tx *db.Tx) error {
		return credential.SetPassword(tx, first.AccountID, first.OwnerID, credential.Hash(r.secrets[0]), clock.System.Now())
	}); err != nil {
		t.Fatal(err)
	}
	seen := map[string][]string{}
	right := func(path, body string, fails bool) {
		t.Helper()
		status, reply := r.call(r.key, path, body)
		if !fails && status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, reply)
		}
		var made struct{ Data map[string]any }
		decoder := json.NewDecoder(strings.NewReader(reply))
		decoder.UseNumber()
		_ = decoder.Decode(&made)
		for member, name := range map[string]string{"channel_id": "$channel", "integration_id": "$integration", "rule_id": "$rule", "schedule_id": "$schedule"} {
			if id := made.Data[member]; id != nil {
				r.known[name] = fmt.Sprint(id)
			}
		}
		seen[path] = append(seen[path], body)
	}
	for _, c := range canaries {
		right(c.path, c.body, c.fails)
		if c.odd {
			r.odd(c.path, c.body)
		}
	}
	for typed, d := range datasourceSecrets {
		body := fmt.Sprintf(`{"type_ident":%q,"name":"d","address":%q,"edge_cluster_name":"e","payload":{%q:%s}}`, typed, d[0], typed, d[1])
		right("/monit/datasource/create", body, false)
		r.odd("/monit/datasource/create", body)
		right("/monit/datasource/update", `{"id":1,`+body[1:], false)
		if strings.HasPrefix(d[0], "http") {
			body = strings.Replace(body, d[0], "http://127.0.0.1:9", 1) // which the policy refuses: nothing is dialled
		}
		right("/monit/datasource/test", body, false)
		r.odd("/monit/datasource/test", body)
	}
	r.covers(seen, requestMembers(t, a.Frame))
	server.Close()

	r.nowhere("the log", r.log.Bytes(), r.secrets)
	var bodies []string
	if err := a.DB.Read(ctx, func(tx *db.Tx) (err error) {
		bodies, err = db.All(tx, db.Column[string], `SELECT body FROM audit_log`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(bodies) < 100 {
		t.Errorf("the audit log has only %d entries", len(bodies))
	}
	r.nowhere("the audit log", []byte(strings.Join(bodies, "\n")), r.secrets)
	file, err := accountfile.Export(ctx, a.DB, a.Keyring, first.AccountID, false)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	r.nowhere("the export", exported, r.kept)
	a.Close()
	if dbtest.Server != "" {
		return
	}
	b, err := os.ReadFile(strings.TrimPrefix(dsn, "sqlite:")) // its log was written back when it was closed
	if err != nil {
		t.Fatal(err)
	}
	r.nowhere("the database", b, r.kept)
}

// nowhere fails for each secret that a text holds.
func (r *canaryRun) nowhere(what string, text []byte, secrets []string) {
	r.t.Helper()
	for _, s := range secrets {
		if i := bytes.Index(text, []byte(s)); i >= 0 {
			r.t.Errorf("%s holds a secret: ...%q...", what, text[max(0, i-300):min(len(text), i+50)])
			return
		}
	}
}

// covers fails for marked members that no call has.
func (r *canaryRun) covers(seen map[string][]string, all map[string][]requestMember) {
	r.t.Helper()
	for op, members := range all {
		marked := slices.DeleteFunc(slices.Clone(members), func(m requestMember) bool { return m.mark == "" })
		for _, m := range marked {
			names := slices.DeleteFunc(strings.Split(m.path, "."), func(s string) bool { return s == "*" || s == "[]" })
			if !slices.ContainsFunc(seen[op], func(body string) bool { return strings.Contains(body, `"`+names[len(names)-1]+`":`) }) {
				r.t.Errorf("no call of %s has %s: add one", op, m.path)
			}
		}
	}
}
