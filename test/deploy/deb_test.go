package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// release is the version of the package that most tests use.
const release = "v9.8.7"

// build builds the package of a binary and returns its path.
func build(t *testing.T, binary, version, file string) string {
	t.Helper()
	path := filepath.Join(scratch, file)
	read(t, "tools/deb.sh") // so that go test does not use cached results when it has changed
	run(t, "sh", "tools/deb.sh", binary, runtime.GOARCH, version, path)
	return path
}

// released returns the path of the package of the release, which is built once.
func released(t *testing.T) string {
	t.Helper()
	if path := filepath.Join(scratch, "release.deb"); exists(path) {
		return path
	}
	return build(t, binary(), release, "release.deb")
}

// The package has what it needs, with its rights; two builds of the same input are equal.
func TestPackage(t *testing.T) {
	dpkg := needs(t, "dpkg-deb", "apt-get install dpkg")
	file := released(t)
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(build(t, binary(), release, "second.deb")); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a second build differs: %d and %d bytes, %v", len(first), len(second), err)
	}
	info := run(t, dpkg, "--info", file)
	for _, want := range []string{"Package: tocsin\n", "Version: 9.8.7-1\n", "Architecture: " + runtime.GOARCH + "\n", "conffiles", "postinst", "prerm", "postrm"} {
		if !strings.Contains(info, want) {
			t.Errorf("no %q in\n%s", want, info)
		}
	}
	contents := run(t, dpkg, "--contents", file)
	for path, rights := range map[string]string{
		"./usr/bin/tocsin": "-rwxr-xr-x root/root", "./lib/systemd/system/tocsin.service": "-rw-r--r-- root/root", "./etc/tocsin/tocsin.env": "-rw------- root/root",
		"./usr/share/man/man1/tocsin.1.gz": "-rw-r--r-- root/root", "./usr/share/doc/tocsin/copyright": "-rw-r--r-- root/root",
		"./usr/share/doc/tocsin/changelog.Debian.gz": "-rw-r--r-- root/root", "./usr/share/doc/tocsin/examples/postgres.conf": "-rw-r--r-- root/root",
	} {
		found := false
		for line := range strings.Lines(contents) {
			found = found || strings.HasSuffix(line, " "+path+"\n") && strings.HasPrefix(line, rights)
		}
		if !found {
			t.Errorf("no %s with %s in\n%s", path, rights, contents)
		}
	}
}

// Versions of checkouts sort as they were made.
func TestVersionsOfPackages(t *testing.T) {
	dpkg := needs(t, "dpkg", "apt-get install dpkg")
	last := ""
	for i, version := range []string{"2ac43b7-dirty", "dev", "v1.2.0-rc1", "v1.2.0", "v1.2.0-4-gabcdef0", "v1.2.1"} {
		file := build(t, "LICENSE", version, "version.deb") // any file will do
		got := strings.TrimSpace(run(t, "dpkg-deb", "--field", file, "Version"))
		if i > 1 {
			run(t, dpkg, "--compare-versions", last, "lt", got)
		}
		last = got
	}
}

// The package is installed, upgraded, removed and purged in a root of its own. The binary runs there; settings that were
// changed stay, and data always does.
func TestInstallRemovePurge(t *testing.T) {
	dpkg := needs(t, "dpkg", "apt-get install dpkg")
	if os.Getuid() != 0 {
		t.Skip("dpkg needs root")
	}
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/tocsin", "var/log"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("var/lib/dpkg/status", "")
	write("var/lib/dpkg/available", "")
	write("var/lib/tocsin/tocsin.db", "data")
	do := func(args ...string) string {
		return run(t, dpkg, append([]string{"--root=" + root, "--force-depends", "--force-script-chrootless", "--force-confold"}, args...)...)
	}

	do("--install", build(t, "LICENSE", "v1.0.0", "old.deb"))
	write("etc/tocsin/tocsin.env", "TOCSIN_LISTEN=127.0.0.1:1\n")
	do("--install", released(t))
	if text := rooted(t, root, 0, "/usr/bin/tocsin", "version"); !strings.Contains(text, release) {
		t.Errorf("the installed binary says %q", text)
	}
	do("--remove", "tocsin")
	if exists(filepath.Join(root, "usr/bin/tocsin")) || !exists(filepath.Join(root, "etc/tocsin/tocsin.env")) {
		t.Error("removing left the program, or took the settings")
	}
	if text, _ := os.ReadFile(filepath.Join(root, "etc/tocsin/tocsin.env")); string(text) != "TOCSIN_LISTEN=127.0.0.1:1\n" {
		t.Errorf("the settings are %q", text)
	}
	if out := do("--purge", "tocsin"); !strings.Contains(out, "/var/lib/tocsin is kept") {
		t.Error(out)
	}
	if exists(filepath.Join(root, "etc/tocsin")) || !exists(filepath.Join(root, "var/lib/tocsin/tocsin.db")) {
		t.Error("purging left settings, or took data")
	}
}

func TestLintian(t *testing.T) {
	lintian := needs(t, "lintian", "apt-get install lintian")
	c := exec.Command(lintian, "--allow-root", "--fail-on=error,warning", released(t))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
