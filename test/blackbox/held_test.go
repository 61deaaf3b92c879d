package blackbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/sender/mailtest"
)

// A backup of a running server, restored beside it, takes events and notifies no one until it is released; the server
// that it was made from goes on.
func TestBackupRestoreRelease(t *testing.T) {
	t.Parallel()
	mails := mailtest.New(t, mailtest.Options{User: "tocsin:secret"})
	dir, key, mail := withMail(t, "sqlite:first.db", mails)
	start := func(name string, more ...string) *server {
		t.Helper()
		return serve(t, dir, slices.Concat([]string{"serve", "--db", "sqlite:" + name, "--listen", "127.0.0.1:0"}, mail, more)...)
	}
	drill := func(s *server, want ...string) {
		t.Helper()
		r := tool(t, dir, "drill", "--server", s.url, "--app-key", key, "--integration-key", "00112233445566778899aabbccddeeff131", "--timeout", "20s")
		for _, text := range want {
			if !strings.Contains(r.out+r.err, text) {
				t.Errorf("the drill lacks %q: exit %d\n%s%s", text, r.code, r.out, r.err)
			}
		}
	}
	first := start("first.db")
	out := must(t, dir, "backup", "--db", "sqlite:first.db", "backup.db")
	if !strings.Contains(out, "wrote backup.db: ") || !strings.Contains(out, "checked") || !strings.Contains(out, "first.db.key; keep a copy") {
		t.Error(out)
	}
	if info, err := os.Stat(filepath.Join(dir, "backup.db")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "backup.db.key")); err == nil {
		t.Error("the key file was copied")
	}
	if r := tool(t, dir, "backup", "--db", "sqlite:first.db", "backup.db"); r.code != 1 || !strings.Contains(r.err, "exists already") {
		t.Errorf("%+v", r)
	}
	if r := tool(t, dir, "restore", "--db", "sqlite:first.db", "backup.db", "--replace"); r.code != 1 || !strings.Contains(r.err, "stop the server first") {
		t.Errorf("over a running server: %+v", r)
	}
	must(t, dir, "backup", "--db", "sqlite:first.db", "both.db", "--with-key")
	if info, err := os.Stat(filepath.Join(dir, "both.db.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	out = must(t, dir, "restore", "--db", "sqlite:second.db", "both.db")
	if !strings.Contains(out, "the key file is missing: copy the one of the backup to second.db.key") || !strings.Contains(out, "tocsin release --db sqlite:second.db") {
		t.Error(out)
	}
	if err := os.Rename(filepath.Join(dir, "both.db.key"), filepath.Join(dir, "second.db.key")); err != nil {
		t.Fatal(err)
	}
	second := start("second.db")
	if len(second.lines) != 1 || !strings.Contains(second.lines[0], "HELD, nothing is sent: this database was restored from both.db; to send: tocsin release --db sqlite:second.db") {
		t.Errorf("the start line: %q", second.lines)
	}
	drill(second, "is held: nothing is sent until tocsin release")
	if n := len(mails.Mails()); n != 0 {
		t.Errorf("the copy sent %d mails", n)
	}
	drill(first, "1 sent, all hops work")
	if out := must(t, dir, "release", "--db", "sqlite:second.db"); !strings.Contains(out, "released sqlite:second.db, which was held because this database was restored") {
		t.Error(out)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, ready := second.get("/health/ready"); strings.Contains(ready, `"status":"ok"`) {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the server did not notice: %s", ready)
		}
	}
	drill(second, "1 sent, all hops work")
	second.stop()
	if !strings.Contains(second.log.String(), "the server is held") || !strings.Contains(second.log.String(), "the server was released") {
		t.Error("the log does not say so")
	}
	if again := start("second.db"); len(again.lines) != 0 {
		t.Errorf("after a restart: %q", again.lines)
	}
	if out := must(t, dir, "release", "--db", "sqlite:second.db"); !strings.Contains(out, "was not held") {
		t.Error(out)
	}
	if r := tool(t, dir, "serve", "--db", "sqlite:first.db", "--hold", "--listen", strings.TrimPrefix(first.url, "http://")); r.code != 1 {
		t.Errorf("a second server at the address of the first: %+v", r)
	}
	first.stop()
	first = start("first.db")
	if len(first.lines) != 0 {
		t.Errorf("a second server that could not start has held the first: %q", first.lines)
	}
	if r := tool(t, dir, "serve", "--hold", "--release"); r.code != 2 {
		t.Errorf("%+v", r)
	}
	if r := tool(t, dir, "restore", "--db", "sqlite:typo.db", "missing.db"); r.code != 1 || !strings.Contains(r.err, "missing.db") {
		t.Errorf("%+v", r)
	}
}
