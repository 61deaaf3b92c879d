package blackbox

import (
	"strings"
	"testing"
)

// The file of an account whose only channel has no rule, and the rule that it lacks. Its owner can be reached.
const (
	untold = `{"format": "tocsin.account/1", "account": {"account_id": 91, "account_name": "Untold", "time_zone": "UTC", "owner_id": 911},
		"persons": [{"person_id": 911, "person_name": "Olga", "email": "olga@example.com"}],
		"channels": [{"channel_id": 912, "channel_name": "Shop"}]RULES}`
	told = `, "escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 912, "rule_name": "on call", "template_id": "000000000000000000000001",
		"layers": [{"target": {"person_ids": [911], "by": {"follow_preference": true}}}]}]`
)

func TestLintChecksAccountsAndFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "bad.json", strings.Replace(untold, "RULES", "", 1))
	write(t, dir, "good.json", strings.Replace(untold, "RULES", told, 1))
	mail := []string{"--smtp", "127.0.0.1:25", "--smtp-from", "a@example.com"}
	expect := func(code int, says []string, args ...string) {
		t.Helper()
		r := tool(t, dir, append([]string{"lint"}, args...)...)
		if r.code != code {
			t.Errorf("lint %v: exit %d, want %d: %s%s", args, r.code, code, r.out, r.err)
		}
		for _, part := range says {
			if !strings.Contains(r.out+r.err, part) {
				t.Errorf("lint %v says %q, want %q in it", args, r.out+r.err, part)
			}
		}
	}
	// A file is checked without a database, and none is created.
	expect(1, []string{"error channel_without_rule: channel \"Shop\"", "account 91 (Untold): 1 errors", "events can reach no one"}, append(mail, "bad.json")...)
	expect(0, []string{"account 91 (Untold): 0 errors, 0 warnings"}, append(mail, "good.json")...)
	expect(1, []string{"tocsin.db"}, mail...)

	must(t, dir, "import", "bad.json")
	expect(1, []string{"channel_without_rule"}, mail...)
	expect(1, []string{"channel_without_rule"}, append(mail, "--account", "91")...)
	expect(1, []string{"92"}, append(mail, "--account", "92")...)
	expect(0, []string{"0 errors"}, append(mail, "good.json")...)
	expect(1, []string{"channel_without_rule"}, mail...) // the file was not applied
	must(t, dir, "apply", "good.json")
	expect(0, []string{"0 errors"}, mail...)
	expect(1, []string{"error server_sends_nothing", "owner_unreachable"})
	expect(2, nil, "--smtp", "127.0.0.1:25")
}

func TestServeSaysThatItCanSendNothing(t *testing.T) {
	t.Parallel()
	const line = "this server can send nothing: no --smtp, no --gateway, no --twilio-account; pages reach only chats"
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	s.stop()
	if strings.Count(s.log.String(), line) != 1 {
		t.Errorf("the log does not say it once: %s", s.log)
	}
	s = serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--gateway", "https://gateway.example.com")
	s.stop()
	if strings.Contains(s.log.String(), line) {
		t.Errorf("the log says that nothing can be sent: %s", s.log)
	}
}
