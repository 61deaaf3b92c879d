// Package peer runs Tocsin against the real programs that send to it, and behind a real proxy. They are Debian's packages
// prometheus, prometheus-alertmanager, nginx-light and zabbix-proxy-sqlite3; without them the tests are skipped, and make test
// reports it.
package peer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/mailtest"
	"tocsin/test/pgserver"
)

const (
	account = `{
		"format": "tocsin.account/1",
		"account": {"account_id": 1, "account_name": "Peer", "time_zone": "UTC", "owner_id": 11},
		"app_keys": [{"name": "owner", "person_id": 11, "app_key": "key-of-the-peer-tests-0123456789012"}],
		"persons": [{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}],
		"channels": [{"channel_id": 41, "channel_name": "Nodes"}],
		"integrations": [{"integration_id": 51, "integration_name": "Prometheus", "integration_type": "prometheus", "channel_id": 41, "integration_key": "00112233445566778899aabbccddeeff131"}],
		"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 41, "rule_name": "Olga", "template_id": "000000000000000000000001", "layers": [{"target": {"person_ids": [11], "by": {"follow_preference": true}}}]}]
	}`
	timeout = 90 * time.Second
)

// An alert fires in Prometheus, passes Alertmanager and reaches Tocsin, and the page arrives as a mail. So does the
// notification of its end.
func TestPrometheusPagesAndResolves(t *testing.T) {
	for _, program := range []string{"prometheus", "prometheus-alertmanager"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed: apt-get install prometheus prometheus-alertmanager", program)
		}
	}
	keyring := mailtest.New(t, mailtest.Options{})
	tocsin := serve(t, keyring)
	var down atomic.Bool
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		value := 0
		if down.Load() {
			value = 1
		}
		fmt.Fprintf(w, "node_broken %d\n", value)
	}))
	defer target.Close()

	dir := t.TempDir()
	manager, prometheus := pgserver.PortOf(t), pgserver.PortOf(t)
	write(t, dir, "alertmanager.yml", fmt.Sprintf(`
route: {receiver: tocsin, group_by: [alertname], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}
receivers:
- name: tocsin
  webhook_configs: [{url: "%s/event/push/alert/prometheus?integration_key=00112233445566778899aabbccddeeff131", send_resolved: true}]
`, tocsin))
	write(t, dir, "rules.yml", `
groups:
- name: nodes
  rules: [{alert: NodeBroken, expr: node_broken > 0, labels: {severity: critical}, annotations: {description: "The node says that it is broken."}}]
`)
	write(t, dir, "prometheus.yml", fmt.Sprintf(`
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
alerting: {alertmanagers: [{static_configs: [{targets: ["127.0.0.1:%d"]}]}]}
scrape_configs: [{job_name: node, static_configs: [{targets: ["%s"]}]}]
`, manager, strings.TrimPrefix(target.URL, "http://")))
	run(t, dir, "prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=am", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", manager), "--cluster.listen-address=")
	run(t, dir, "prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=prom", fmt.Sprintf("--web.listen-address=127.0.0.1:%d", prometheus))

	down.Store(true)
	began := time.Now()
	page := mail(t, keyring, 0)
	t.Logf("the page arrived %s after the node broke", time.Since(began).Round(time.Millisecond))
	if page.To != "olga@example.com" || !strings.Contains(page.Data, "Subject: [Critical] NodeBroken::") || !strings.Contains(page.Data, "The node says that it is broken.") {
		t.Errorf("the page is %s", page.Data)
	}
	down.Store(false)
	began = time.Now()
	over := mail(t, keyring, 1)
	t.Logf("the end was told %s after the node was mended", time.Since(began).Round(time.Millisecond))
	if !strings.Contains(over.Data, "Subject: [Resolved] NodeBroken::") {
		t.Errorf("the end is %s", over.Data)
	}
}

// serve starts Tocsin as it runs in production, with the mailbox as its mail server.
func serve(t *testing.T, keyring *mailtest.Mailbox) (url string) {
	t.Helper()
	return serveWith(t, keyring, func(*app.Config) {})
}

// serveWith is serve with a program that change configures differently.
func serveWith(t *testing.T, keyring *mailtest.Mailbox, change func(*app.Config)) (url string) {
	t.Helper()
	c := app.Config{
		DB: dbtest.New(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Listen: "127.0.0.1:0", Clock: clock.System, Version: "test", Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Senders: app.Senders{Mail: email.Server{Host: keyring.Host, Port: keyring.Port, From: "tocsin@example.com", Insecure: true}},
	}
	change(&c)
	a, err := app.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	f, err := accountfile.Read(strings.NewReader(account))
	if err == nil {
		err = accountfile.Import(context.Background(), a.DB, a.Keyring, f, time.Now(), false)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	})
	return s.URL
}

// mail waits for the mail with this number.
func mail(t *testing.T, keyring *mailtest.Mailbox, n int) mailtest.Mail {
	t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if mails := keyring.Mails(); len(mails) > n {
			return mails[n]
		}
	}
	t.Fatalf("mail %d did not arrive within %s", n, timeout)
	return mailtest.Mail{}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts a program that ends with the test, together with the processes that it started: nginx's workers outlive a
// master that is killed, and Wait would wait for them, as they have its output open. The output is logged when the test has
// failed. stop ends it before.
func run(t *testing.T, dir, program string, args ...string) (stop func()) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Stdout = &said
	cmd.Stderr = &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Errorf("%s: %v", program, err)
		}
		cmd.Wait()
	})
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, said.String())
		}
	})
	return stop
}
