package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The exposure that systemd computes stays below 3 of 10, and the drop-in for PostgreSQL does not change it.
func TestUnitIsHardened(t *testing.T) {
	analyze := needs(t, "systemd-analyze", "apt-get install systemd")
	dir := t.TempDir()
	unit := filepath.Join(dir, "tocsin.service")
	text := read(t, "deploy/systemd/tocsin.service")
	for _, further := range []string{"", read(t, "deploy/systemd/postgres.conf")} {
		if err := os.WriteFile(unit, []byte(text+further), 0o600); err != nil {
			t.Fatal(err)
		}
		out := run(t, analyze, "security", "--offline=true", "--threshold=30", unit)
		m := regexp.MustCompile(`Overall exposure level for tocsin\.service: ([0-9.]+)`).FindStringSubmatch(out)
		if m == nil {
			t.Fatal(out)
		}
		if level, err := strconv.ParseFloat(m[1], 64); err != nil || level >= 3 {
			t.Errorf("exposure %s, %v", m[1], err)
		}
	}
}

// systemd understands each line of the unit.
func TestUnitIsUnderstood(t *testing.T) {
	analyze := needs(t, "systemd-analyze", "apt-get install systemd")
	text := strings.NewReplacer("/usr/bin/tocsin", "/bin/true", "Documentation=man:tocsin(1)\n", "").
		Replace(read(t, "deploy/systemd/tocsin.service") + read(t, "deploy/systemd/postgres.conf"))
	unit := filepath.Join(t.TempDir(), "tocsin.service")
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, analyze, "verify", "--man=no", unit); strings.Contains(out, "tocsin.service") {
		t.Error(out)
	}
}

// Each way of running the server leaves it the time that requests in flight take at most, and more.
func TestStoppingHasTime(t *testing.T) {
	drain := regexp.MustCompile(`const drain = (\d+) \* time\.Second`).FindStringSubmatch(read(t, "internal/app/http.go"))
	if drain == nil {
		t.Fatal("internal/app/http.go has no drain")
	}
	want, _ := strconv.Atoi(drain[1])
	for path, pattern := range map[string]string{
		"deploy/systemd/tocsin.service":             `TimeoutStopSec=(\d+)`,
		"deploy/compose/compose.yaml":               `stop_grace_period: (\d+)s`,
		"deploy/compose/compose.postgres.yaml":      `stop_grace_period: (\d+)s`,
		"deploy/helm/tocsin/templates/_helpers.tpl": `terminationGracePeriodSeconds: (\d+)`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(t, path))
		if m == nil {
			t.Errorf("%s has no %s", path, pattern)
			continue
		}
		if seconds, _ := strconv.Atoi(m[1]); seconds < want+15 {
			t.Errorf("%s leaves %d seconds; requests alone may take %d", path, seconds, want)
		}
	}
}
