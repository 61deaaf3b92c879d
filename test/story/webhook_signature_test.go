package story

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// verified reports whether the official library accepts a call under a secret. Its clock is the real one, so the moment
// is checked by the caller.
func verified(t *testing.T, c call, secret string) bool {
	t.Helper()
	v, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return v.VerifyIgnoringTimestamp([]byte(c.body), c.header) == nil
}

// A secret is rotated while messages are sent. Receivers with the old secret and receivers with the new one accept each
// of them, until the old one ends; then only the new one does. Neither is in the ledger.
func TestSecretsAreRotatedWithoutLostMessage(t *testing.T) {
	t.Parallel()
	const first = "whsec_c2VjcmV0IG9mIHRoZSBzdG9yaWVz"
	r := receive(t, nil)
	w := begin(t, hooks("alert", at(r)+fmt.Sprintf(`, "sign_secret": %q`, first)))
	w.push("a", "Critical")
	if c := r.events(t, "a_new")[0]; !verified(t, c, first) {
		t.Error(c.header)
	}
	second := w.do("/integration/secret/rotate", `{"integration_id": %d, "grace_seconds": 3600}`, hook).get("sign_secret")
	w.push("b", "Critical")
	both := r.events(t, "a_new")[0]
	if !verified(t, both, first) || !verified(t, both, second) || verified(t, both, "whsec_b3RoZXI=") {
		t.Error(both.header)
	}
	if stamp, _ := strconv.ParseInt(both.header.Get("Webhook-Timestamp"), 10, 64); stamp != w.clock.Now().Unix() {
		t.Errorf("the timestamp is %d", stamp)
	}
	w.restart()
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.push("c", "Critical")
	if c := r.events(t, "a_new")[0]; !verified(t, c, first) || !verified(t, c, second) {
		t.Error(c.header)
	}
	w.pass(time.Minute)
	w.push("d", "Critical")
	if c := r.events(t, "a_new")[0]; verified(t, c, first) || !verified(t, c, second) {
		t.Error(c.header)
	}
	third := w.do("/integration/secret/rotate", `{"integration_id": %d, "grace_seconds": 3600}`, hook).get("sign_secret")
	w.do("/integration/secret/expire", `{"integration_id": %d}`, hook)
	w.push("e", "Critical")
	if c := r.events(t, "a_new")[0]; verified(t, c, second) || !verified(t, c, third) {
		t.Error(c.header)
	}
	if text := w.do("/integration/info", `{"integration_id": %d}`, hook).String() + w.history("").String(); strings.Contains(text, "whsec_") {
		t.Error(text)
	}
	python(t, both, map[string]string{first: "ok", second: "ok", "whsec_b3RoZXI=": "ValueError('no signature matches')"})
}

// python checks a call with the example in Python, whose standard library knows nothing of ours.
func python(t *testing.T, c call, want map[string]string) {
	t.Helper()
	binary, err := exec.LookPath("python3")
	if err != nil {
		fmt.Fprintln(os.Stderr, "NOT CHECKED: python3 is missing, so the signatures were checked with the library for Go only")
		return
	}
	headers := map[string]string{}
	for name := range c.header {
		headers[strings.ToLower(name)] = c.header.Get(name)
	}
	stamp, _ := strconv.ParseInt(headers["webhook-timestamp"], 10, 64)
	for secret, says := range want {
		in, _ := json.Marshal(map[string]any{"secret": secret, "headers": headers, "body": c.body, "now": stamp + 299})
		late, _ := json.Marshal(map[string]any{"secret": secret, "headers": headers, "body": c.body, "now": stamp + 301})
		run := exec.Command(binary, "../../examples/webhook-receiver/verify.py")
		run.Stdin = bytes.NewReader(append(append(in, '\n'), late...))
		out, err := run.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != says+"\nValueError('too old, or from the future')" {
			t.Errorf("under %s: %q %v, want %q", secret, got, err, says)
		}
	}
}
