// Package deploy tests what deploy/ holds against the program: the unit, the package, the image, the chart's settings, the
// alert rules and the dashboard. Checks whose program a machine lacks are skipped by its name, and ./test.sh names them.
package deploy

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "tocsin/internal/cli" // so that go test does not use cached results when the program has changed
)

// repo is the top of the repository.
const repo = "../.."

var scratch string // of all tests of the package

func TestMain(m *testing.M) {
	var err error
	scratch, err = os.MkdirTemp("", "tocsin-deploy-")
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// binary returns the path of the static binary, built as for a release.
var binary = sync.OnceValue(func() string {
	path := filepath.Join(scratch, "tocsin")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X tocsin/internal/cli.version="+release, "-o", path, "tocsin/cmd/tocsin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("build: %v\n%s", err, out))
	}
	return path
})

// needs skips a test whose program the machine lacks, and returns the program's path.
func needs(t *testing.T, program, install string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		path = "/usr/sbin/" + program
		if !exists(path) {
			t.Skipf("%s is missing: %s", program, install)
		}
	}
	return path
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// run runs a program at the top of the repository and returns its output.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = repo
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repo, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// files returns the files below a folder of the repository.
func files(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(repo, dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			path, err = filepath.Rel(repo, path)
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
