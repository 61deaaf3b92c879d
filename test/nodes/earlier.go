package nodes

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Earlier is a build of an earlier commit.
type Earlier struct {
	Commit, Why string
	Binary      string
	Schema      int64 // the newest that it knows
}

// ErrNoHistory is the error of an earlier build on a machine that has today's files alone.
var ErrNoHistory = errors.New("UPGRADES WERE NOT TESTED: the earlier commits of test/nodes/earlier.txt are not here (a copy without git's history)")

// readEarlier reads the commits of earlier.txt.
func readEarlier() (all []Earlier, err error) {
	text, err := os.ReadFile("earlier.txt")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if commit, why, ok := strings.Cut(strings.TrimSpace(line), " "); ok && commit != "#" {
			all = append(all, Earlier{Commit: commit, Why: why})
		}
	}
	return all, nil
}

// Build builds the commit below a directory, from the packages that today's build has too: nothing is downloaded.
func (e *Earlier) Build(dir string) error {
	if exec.Command("git", "cat-file", "-e", e.Commit+"^{tree}").Run() != nil { //nolint:gosec // of earlier.txt
		return ErrNoHistory
	}
	archive, err := exec.Command("git", "-C", "../..", "archive", e.Commit, "go.mod", "go.sum", "cmd", "internal").Output() //nolint:gosec // as above
	if err != nil {
		return fmt.Errorf("git archive %s: %w", e.Commit, err)
	}
	source := filepath.Join(dir, "source")
	if err := unpack(bytes.NewReader(archive), source); err != nil {
		return err
	}
	e.Schema, err = newestMigration(filepath.Join(source, "internal/platform/db/migrations"))
	if err != nil {
		return err
	}
	e.Binary = filepath.Join(dir, "tocsin-"+e.Commit)
	build := exec.Command("go", "build", "-trimpath", "-o", e.Binary, "./cmd/tocsin") //nolint:gosec // as above
	build.Dir = source
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", e.Commit, err, out)
	}
	return nil
}

// unpack writes the files of an archive below a directory.
func unpack(archive io.Reader, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(archive); ; {
		h, err := files.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case h.Typeflag == tar.TypeDir:
			err = root.MkdirAll(h.Name, 0o700)
		case h.Typeflag == tar.TypeReg:
			var text []byte
			text, err = io.ReadAll(files)
			if err == nil {
				err = root.WriteFile(h.Name, text, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
}

// newestMigration returns the highest number among the files of a directory.
func newestMigration(dir string) (newest int64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "[0-9]*.sql"))
	for _, name := range names {
		number, _, _ := strings.Cut(filepath.Base(name), "_")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0, err
		}
		newest = max(newest, n)
	}
	return newest, err
}
