package db

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

// What one side does not know is not compared: a kernel that begins to store the time of creation must hold no server.
func TestFileIDComparesWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b FileID
		is   bool
	}{
		{FileID{}, FileID{7, 9}, true},
		{FileID{7, 0}, FileID{7, 9}, true},
		{FileID{7, 9}, FileID{7, 9}, true},
		{FileID{7, 8}, FileID{7, 9}, false},
		{FileID{6, 9}, FileID{7, 9}, false},
		{FileID{6, 0}, FileID{7, 9}, false},
	} {
		if c.a.Is(c.b) != c.is || c.b.Is(c.a) != c.is {
			t.Errorf("%+v, %+v: want %v", c.a, c.b, c.is)
		}
	}
}
