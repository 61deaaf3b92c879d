package blackbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/sender/mailtest"
)

// withMail imports an account into a new database. The flags make a server on it send mail to a mail server.
func withMail(t *testing.T, database string, mails *mailtest.Mailbox) (dir, key string, flags []string) {
	t.Helper()
	dir = t.TempDir()
	write(t, dir, "account.json", crashAccount)
	write(t, dir, "password", "secret\n")
	must(t, dir, "import", "account.json", "--db", database)
	key = must(t, dir, "key", "create", "--account", "1", "--person", "11", "--db", database)
	return dir, key, []string{"--smtp", fmt.Sprintf("127.0.0.1:%d", mails.Port), "--smtp-from", "tocsin@example.com",
		"--smtp-user", "tocsin", "--smtp-password-file", "password", "--smtp-insecure"}
}

// A drill tests the whole chain of a running server, up to a mail that arrives. When a hop is broken it names the hop
// and fails.
func TestDrillTimesEveryHop(t *testing.T) {
	t.Parallel()
	mails := mailtest.New(t, mailtest.Options{User: "tocsin:secret"})
	dir, key, mail := withMail(t, "sqlite:drill.db", mails)
	s := serve(t, dir, append([]string{"serve", "--db", "sqlite:drill.db", "--listen", "127.0.0.1:0", "--public-url", "https://tocsin.example.com/"}, mail...)...)
	drill := []string{"drill", "--server", s.url, "--app-key", key, "--integration-key", "00112233445566778899aabbccddeeff131"}
	r := tool(t, dir, drill...)
	if r.code != 0 || !strings.Contains(r.out, "decided: opened") || !strings.Contains(r.out, "sent over email") || !strings.Contains(r.out, "1 sent, all hops work") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := tool(t, dir, append(drill, "--label", "service=checkout", "--label", "why=a;b=c", "--channel", "41", "--keep")...); r.code != 0 {
		t.Errorf("with labels and a channel: exit %d\n%s%s", r.code, r.out, r.err)
	} else if a := s.call(key, "/alert/list", fmt.Sprintf(`{"start_time": %d, "end_time": %d}`, time.Now().Unix()-600, time.Now().Unix()+60)); !strings.Contains(string(a.data), `"service":"checkout"`) || !strings.Contains(string(a.data), `"why":"a;b=c"`) {
		t.Errorf("the event has not the labels: %d %s", a.status, a.data)
	}
	if r := tool(t, dir, append(drill, "--channel", "42")...); r.code != 1 || !strings.Contains(r.err, "went to channel 41, not 42") {
		t.Errorf("with another channel: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := tool(t, dir, "drill", "--server", s.url, "--app-key", key, "--channel", "41"); r.code != 0 || !strings.Contains(r.out, "all hops work") {
		t.Errorf("with a channel alone: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := tool(t, dir, "drill", "--server", s.url, "--app-key", key, "--channel", "77"); r.code != 1 || !strings.Contains(r.err, "channel 77 has no enabled integration") {
		t.Errorf("with a channel without an integration: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := tool(t, dir, "drill", "--server", s.url, "--app-key", key); r.code != 2 || !strings.Contains(r.err, "--integration-key or --channel") {
		t.Errorf("with neither: exit %d\n%s%s", r.code, r.out, r.err)
	}
	sent := mails.Mails()
	if len(sent) == 0 || !strings.Contains(sent[0].Data, "Subject: [Drill] [Critical] Drill: nothing is wrong") || !strings.Contains(sent[0].Data, "https://tocsin.example.com/ack/") {
		t.Errorf("%+v", sent)
	}
	if a := s.call(key, "/preference/update", `{"trigger_notify": {"critical": ["email", "ntfy"], "warning": [], "info": []}, "contacts": {"ntfy": "http://127.0.0.1:9/nobody"}}`); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	if r := tool(t, dir, drill...); r.code == 0 || !strings.Contains(r.err, "not all notifications were sent") || !strings.Contains(r.out, "failed over ntfy") || strings.Contains(r.out, "all hops work") {
		t.Errorf("with one method broken: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if a := s.call(key, "/channel/disable", `{"channel_id": 41}`); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	if r := tool(t, dir, drill...); r.code == 0 || !strings.Contains(r.err, "no incident was opened") || !strings.Contains(r.err, "because the channel is disabled") {
		t.Errorf("with the channel disabled: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r := tool(t, dir, append(drill, "--integration-key", "nobodys")...); r.code == 0 || !strings.Contains(r.err, "not a valid one") {
		t.Errorf("with a wrong key: exit %d\n%s", r.code, r.err)
	}
	if left, err := os.ReadFile(filepath.Join(dir, "drill.db")); err != nil || strings.Contains(string(left), key) {
		t.Errorf("the key is in the database (%v)", err)
	}
}
