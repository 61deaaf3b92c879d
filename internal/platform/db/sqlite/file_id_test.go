package sqlite

import (
	"os"
	"path/filepath"
	"testing"
)

// A file keeps its identity when it is changed, moved and given to another owner's mode. A copy has another one, also
// in place of the original.
func TestFileID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(path, []byte("x"), 0o600))
	id, err := fileID(path)
	must(err)
	if id.Inode == 0 {
		t.Fatalf("%+v", id)
	}
	same := func(what, path string, want bool) {
		t.Helper()
		now, err := fileID(path)
		must(err)
		if now.Is(id) != want || id.Is(now) != want {
			t.Errorf("%s: %+v, was %+v", what, now, id)
		}
	}
	must(os.WriteFile(path, []byte("longer"), 0o600))
	must(os.Chmod(path, 0o640))
	same("changed", path, true)
	must(os.Rename(path, filepath.Join(dir, "b")))
	same("moved", filepath.Join(dir, "b"), true)
	must(os.WriteFile(path, []byte("longer"), 0o600))
	same("copied", path, false)
	must(os.Rename(path, filepath.Join(dir, "b")))
	same("replaced by a copy", filepath.Join(dir, "b"), false)
	if _, err := fileID(path); err == nil {
		t.Error("the identity of no file")
	}
}
