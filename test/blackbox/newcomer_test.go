package blackbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccountMadeByCallsAlone creates an account with the newcomer's script, exports it and applies the file to a
// second server. The second server must have and serve the same account.
func TestAccountMadeByCallsAlone(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is missing: apt-get install bash curl jq (./test.sh names this at its end)", tool)
		}
	}
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0", "--db", "sqlite:first.db", "--limit-per-second", "0", "--limit-per-minute", "0")
	key := s.lines[1]
	script := exec.Command("bash", "../newcomer/build-account.sh", s.url, key)
	out, err := script.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	account := strings.TrimSpace(string(out))

	must(t, dir, "export", "--db", "sqlite:first.db", "--account", account, "account.json")
	plan := must(t, dir, "apply", "--db", "sqlite:second.db", "account.json")
	for _, line := range []string{"create  schedule", "create  escalate_rule", "create  route", "(李梅)", "0 to change, 0 to delete", "applied to account " + account} {
		if !strings.Contains(plan, line) {
			t.Errorf("the plan lacks %q:\n%s", line, plan)
		}
	}
	if again := must(t, dir, "apply", "--db", "sqlite:second.db", "account.json"); !strings.HasPrefix(again, "0 to create, 0 to change, 0 to delete") {
		t.Errorf("applied twice:\n%s", again)
	}
	must(t, dir, "export", "--db", "sqlite:second.db", "--account", account, "again.json")
	first, err := os.ReadFile(filepath.Join(dir, "account.json"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.ReadFile(filepath.Join(dir, "again.json"))
	if err != nil || string(first) != string(second) {
		t.Errorf("the second account exports something else: %v", err)
	}
	if strings.Contains(string(first), "T0/secret") || strings.Contains(string(first), "between us") || strings.Contains(string(first), key) {
		t.Error("the export holds a secret")
	}

	other := serve(t, dir, "serve", "--listen", "127.0.0.1:0", "--db", "sqlite:second.db")
	newKey := must(t, dir, "key", "create", "--db", "sqlite:second.db", "--account", account)
	if a := other.call(newKey, "/channel/list", `{"query":"PAY"}`); a.status != 200 || !strings.Contains(string(a.data), "Everything about money") {
		t.Errorf("%+v", a)
	}
	if a := s.call(key, "/audit/search", `{"start_time":1,"end_time":2}`); a.status != 200 {
		t.Errorf("%+v", a)
	}
}
