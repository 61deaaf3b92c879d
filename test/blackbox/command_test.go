package blackbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "empty.json", `{}`)
	write(t, dir, "bad.yaml", "listn: 127.0.0.1:0\n")
	write(t, dir, "token.txt", "hush\n")
	write(t, dir, "empty.txt", "\n")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--help", 0, "demo"},
		{"serve --help", 0, "--limit-per-second"},
		{"version", 0, "sqlite 3."},
		{"version", 0, "tocsin " + release + "\n"},
		{"", 2, "expected one of"},
		{"sevre", 2, "sevre"},
		{"serve --prot 80", 2, "--prot"},
		{"serve --limit-per-second many", 2, "many"},
		{"serve --limit-per-second=-1", 2, "0 or more"},
		{"serve --database-gib 1", 2, "--database-gib is for PostgreSQL: the disk of an embedded database is measured"},
		{"serve --db postgres://u@127.0.0.1/x --database-gib=-1", 2, "--database-gib must be from 0 to 1073741824, got -1"},
		{"serve --limit-wait 31s", 2, "--limit-wait must be from 0s to 30s, got 31s"},
		{"serve --trusted-proxies everyone", 2, "everyone"},
		{"serve --datasource-allow everything", 2, "everything"},
		{"serve --secret-env TOCSIN_SEAL_KEY=db.example.com", 2, "TOCSIN_"},
		{"serve --secret-env PASSWORD", 2, "NAME=host"},
		{"serve --log-format xml", 2, "xml"},
		{"serve --twilio-from +15550199", 2, "--twilio-account"},
		{"serve " + twilioFlags("--twilio-account AC1"), 2, "AC1"},
		{"serve " + twilioFlags("--twilio-token-file missing.txt"), 1, "missing.txt"},
		{"serve " + twilioFlags("--twilio-token-file empty.txt"), 2, "--twilio-token-file"},
		{"serve " + twilioFlags("--twilio-from 0151"), 2, "international form"},
		{"serve " + twilioFlags("--twilio-messaging-service AC1"), 2, "--twilio-messaging-service"},
		{"serve " + twilioFlags("--gateway http://localhost:1/"), 2, "exclude each other"},
		{"serve " + twilioFlags("--public-url="), 2, "--public-url"},
		{"export", 2, "--account"},
		{"serve --config bad.yaml", 2, "listn"},
		{"serve --config missing.yaml", 2, "missing.yaml"},
		{"serve --db mysql://root:hush@localhost/x", 1, "sqlite:PATH"},
		{"serve --db sqlite:/dev/null/x.db", 1, "/dev/null/x.db"},
		{"serve --db sqlite:new.db --listen 127.0.0.1:99999", 1, "99999"},
		{"serve --db sqlite:new.db --time-zone Mars/Base", 1, "Mars/Base"},
		{"export --db sqlite:typo.db --account 1", 1, "typo.db"},
		{"export --db sqlite:new.db --account 1", 1, "1"},
		{"import --db sqlite:new.db missing.json", 1, "missing.json"},
		{"import --db sqlite:new.db empty.json", 1, "format"},
		{"key create --db sqlite:new.db --account 1", 1, "account 1"},
		{"key create --account 1 --wait 31s", 2, "--wait must be whole seconds from 0s to 30s, got 31s"},
		{"key create --account 1 --wait 1500ms", 2, "--wait must be whole seconds from 0s to 30s, got 1.5s"},
		{"key list --db sqlite:new.db --account 1", 1, "account 1"},
		{"key disable --db sqlite:new.db 12", 1, "12"},
		{"migrate --db sqlite:other.db", 0, "0001_account.sql"},
		{"migrate --db sqlite:other.db", 0, "up to date"},
	} {
		r := tool(t, dir, strings.Fields(c.args)...)
		if r.code != c.code {
			t.Errorf("tocsin %s: exit %d, want %d: %s", c.args, r.code, c.code, r.err)
		}
		if !strings.Contains(r.out+r.err, c.says) {
			t.Errorf("tocsin %s does not say %q: %s%s", c.args, c.says, r.out, r.err)
		}
		if c.code != 0 && (strings.Count(r.err, "\n") != 1 || r.out != "") {
			t.Errorf("tocsin %s: want one line on standard error and nothing else:\n%s%s", c.args, r.out, r.err)
		}
		if strings.Contains(r.err, "hush") {
			t.Errorf("tocsin %s shows a password: %s", c.args, r.err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "typo.db")); err == nil {
		t.Error("a mistyped path was answered with a new database")
	}
}

func TestFlagBeatsEnvironmentBeatsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "tocsin.yaml", "db: sqlite:file.db\nlisten: 127.0.0.1:0\ntrusted-proxies: [10.0.0.0/8, 192.168.0.0/16]\n")
	database := func(env []string, args ...string) string {
		r := toolWith(t, dir, env, append([]string{"migrate", "--config", "tocsin.yaml"}, args...)...)
		if r.code != 0 {
			t.Fatal(r.err)
		}
		for _, name := range []string{"flag.db", "env.db", "file.db"} {
			if os.Remove(filepath.Join(dir, name)) == nil {
				return name
			}
		}
		return ""
	}
	if got := database(nil); got != "file.db" {
		t.Errorf("from the file alone: %s", got)
	}
	if got := database([]string{"TOCSIN_DB=sqlite:env.db"}); got != "env.db" {
		t.Errorf("environment over file: %s", got)
	}
	if got := database([]string{"TOCSIN_DB=sqlite:env.db"}, "--db", "sqlite:flag.db"); got != "flag.db" {
		t.Errorf("flag over environment: %s", got)
	}
	s := serve(t, dir, "serve", "--config", "tocsin.yaml")
	if status, _ := s.get("/health"); status != 200 {
		t.Errorf("health %d", status)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	account := strings.Fields(s.lines[0])[2]
	full := must(t, dir, "key", "create", "--account", account, "--name", "ci")
	narrow := must(t, dir, "key", "create", "--account", account, "--permission", "Schedules Read (on-call)", "--expires", "2999-12-31")
	if strings.ContainsAny(full+narrow, " \n") {
		t.Fatalf("create prints more than the key: %q %q", full, narrow)
	}
	create := `{"schedule_name":"x"}`
	if a := s.call(full, "/schedule/create", create); a.status != 200 {
		t.Errorf("a key with everything: %+v", a)
	}
	if a := s.call(narrow, "/schedule/create", create); a.code != "AccessDenied" || !strings.Contains(a.msg, "Schedules Manage (on-call)") {
		t.Errorf("a narrowed key: %+v", a)
	}
	if a := s.call(narrow, "/schedule/list", `{}`); a.status != 200 {
		t.Errorf("a narrowed key: %+v", a)
	}
	if r := tool(t, dir, "key", "create", "--account", account, "--permission", "Everything"); r.code != 1 || !strings.Contains(r.err, "Schedules Read (on-call)") {
		t.Errorf("a permission that does not exist: %+v", r)
	}
	list := must(t, dir, "key", "list", "--account", account)
	if strings.Contains(list, full) || !strings.Contains(list, "ci") {
		t.Errorf("key list:\n%s", list)
	}
	id := ""
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == "ci" {
			id = f[0]
		}
	}
	must(t, dir, "key", "disable", id)
	eventually(t, "a disabled key is refused", func() bool { return s.call(full, "/schedule/list", `{}`).code == "Unauthorized" })
	must(t, dir, "key", "enable", id)
	eventually(t, "an enabled key is accepted", func() bool { return s.call(full, "/schedule/list", `{}`).status == 200 })
	must(t, dir, "key", "delete", id)
	eventually(t, "a deleted key is refused", func() bool { return s.call(full, "/schedule/list", `{}`).code == "Unauthorized" })
}

func TestSealingKeysAreRotatedUnderRunningServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	create := `{"type_ident":"mysql","name":"orders","edge_cluster_name":"default","address":"db:3306","payload":{"mysql":{"username":"app","password":"open sesame"}}}`
	if a := s.call(s.lines[1], "/monit/datasource/create", create); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	before := read(t, dir, "tocsin.db.key")
	// The password and the key of Web Push.
	if out := must(t, dir, "key", "rotate"); !strings.Contains(out, "sealed 2 secrets") {
		t.Errorf("rotate says %q", out)
	}
	if after := read(t, dir, "tocsin.db.key"); after == before || strings.Count(after, "\n") != strings.Count(before, "\n") {
		t.Errorf("the key file is\n%s\nafter\n%s", after, before)
	}
	if a := s.call(s.lines[1], "/monit/datasource/info", `{"id":1}`); !strings.Contains(string(a.data), "open sesame") {
		t.Errorf("after rotation: %+v", a)
	}
	s.stop()
	for _, name := range []string{"tocsin.db", "tocsin.db-wal"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && strings.Contains(string(b), "open sesame") {
			t.Errorf("%s holds the password in clear", name)
		}
	}
}

// A server whose key file is lost reports it and does not start, until a command abandons the secrets.
func TestLostKeyFile(t *testing.T) {
	t.Parallel()
	dir, _ := imported(t)
	if err := os.Remove(filepath.Join(dir, "tocsin.db.key")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"serve --listen 127.0.0.1:0", "key rotate", "import --replace second.json", "export --secrets --account " + second} {
		r := tool(t, dir, strings.Fields(command)...)
		if r.code != 1 || !strings.Contains(r.err, "sealed under the key") || !strings.Contains(r.err, "--new-seal-key") || strings.Count(r.err, "\n") != 1 {
			t.Errorf("tocsin %s: exit %d: %s", command, r.code, r.err)
		}
	}
	if out := export(t, dir); strings.Contains(out, "s1.") {
		t.Errorf("an export without secrets shows sealed text")
	}
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0", "--new-seal-key")
	if a := s.call(ownerKey, "/monit/datasource/list", `{}`); a.status != 200 {
		t.Errorf("%+v", a)
	}
	s.stop()
	if code := serve(t, dir, "serve", "--listen", "127.0.0.1:0").stop(); code != 0 {
		t.Errorf("the next start: exit %d", code)
	}
}

// eventually waits until a condition holds that is promised within one second. It waits a minute, for slow machines.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Errorf("not true: %s", what)
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
