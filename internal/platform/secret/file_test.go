package secret

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock is a time that stands still until pass is called.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func open(t *testing.T, path string, c *clock) *Keyring {
	t.Helper()
	b, err := Open(path, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestFirstUseCreatesFile(t *testing.T) {
	dir, c := t.TempDir(), &clock{}
	path := filepath.Join(dir, "keys")
	// Several processes may start at once: all must end up with one ring.
	rings := make([]*Keyring, 8)
	var group sync.WaitGroup
	for i := range rings {
		group.Go(func() { rings[i], _ = Open(path, c.now) })
	}
	group.Wait()
	s := sealed(t, rings[0])
	for _, b := range rings {
		if got, err := b.Open(s, context); got != secret || err != nil {
			t.Errorf("opened as %q, %v", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
	if _, err := Open(filepath.Join(dir, "no", "keys"), c.now); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
}

func TestFileThatOthersMayReadIsRefused(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	b := open(t, path, c)
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o601, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, c.now); err == nil || !strings.Contains(err.Error(), "0600") {
			t.Errorf("mode %o: %v", mode, err)
		}
		if _, err := b.Rotate(); err == nil {
			t.Errorf("mode %o: rotated", mode)
		}
	}
	for _, mode := range []os.FileMode{0o600, 0o400} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, c.now); err != nil {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// What systemd and Kubernetes pass on belongs to root and is readable through the group or an access list.
func TestMountedFileMayBeReadByItsGroup(t *testing.T) {
	for _, c := range []struct {
		mode        os.FileMode
		owner, self int
		exposed     bool
	}{
		{0o600, 1000, 1000, false},
		{0o440, 0, 1000, false},
		{0o440, 0, 0, true}, // a file of one's own
		{0o440, 1000, 1000, true},
		{0o444, 0, 1000, true},
		{0o460, 0, 1000, true},
		{0o640, 0, 1000, false},
	} {
		if got := exposed(c.mode, c.owner, c.self); got != c.exposed {
			t.Errorf("mode %o of user %d, read by %d: %v", c.mode, c.owner, c.self, got)
		}
	}
}

func TestBrokenFileIsNeitherUsedNorReplaced(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, c.now); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty file: %v", err)
	}
	if b, err := os.ReadFile(path); len(b) != 0 || err != nil {
		t.Errorf("it was replaced by %d bytes, %v", len(b), err)
	}
}

func TestAnotherKeyringReadsRotation(t *testing.T) {
	dir, c := t.TempDir(), &clock{}
	path := filepath.Join(dir, "keys")
	a, b := open(t, path, c), open(t, path, c)
	before := sealed(t, a)

	id, err := a.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	after := sealed(t, a)
	if KeyID(after) != id || KeyID(before) == id {
		t.Errorf("sealed under %s, then %s, want the new key %s", KeyID(before), KeyID(after), id)
	}
	// An unknown key is looked for at once.
	if got, err := b.Open(after, context); got != secret || err != nil {
		t.Errorf("opened as %q, %v", got, err)
	}
	if got, err := b.Open(before, context); got != secret || err != nil {
		t.Errorf("the older one opened as %q, %v", got, err)
	}
	// Sealing follows within a second without having met the new key.
	c.pass(maxAge)
	id, _ = a.Rotate()
	c.pass(maxAge)
	if got := KeyID(sealed(t, b)); got != id {
		t.Errorf("a second later sealed under %s, want %s", got, id)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

func TestUnknownKeysAreReadOnceSecond(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	a, b := open(t, path, c), open(t, path, c)
	if _, err := b.Open("s1.unknown.AAAA", context); err == nil || !strings.Contains(err.Error(), "unknown") {
		t.Errorf("unknown key: %v", err)
	}
	if _, err := a.Rotate(); err != nil {
		t.Fatal(err)
	}
	s := sealed(t, a)
	c.pass(maxAge - 1)
	if _, err := b.Open(s, context); err == nil {
		t.Error("the file was read twice within a second")
	}
	c.pass(1)
	if got, err := b.Open(s, context); got != secret || err != nil {
		t.Errorf("after a second opened as %q, %v", got, err)
	}
}

func TestForget(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	b := open(t, path, c)
	s := sealed(t, b)
	old := KeyID(s)
	if err := b.Forget(old); err == nil || !strings.Contains(err.Error(), old) {
		t.Errorf("the newest key was forgotten: %v", err)
	}
	id, _ := b.Rotate()
	if err := b.Forget(old, "other"); err == nil || !strings.Contains(err.Error(), "other") {
		t.Errorf("a key that is not there was forgotten: %v", err)
	}
	if err := b.Forget(old); err != nil {
		t.Fatal(err)
	}
	if got := b.KeyIDs(); len(got) != 1 || got[0] != id {
		t.Errorf("keys %v, want only %s", got, id)
	}
	if got, err := b.Open(s, context); err == nil {
		t.Errorf("opened under a forgotten key as %q", got)
	}
	if err := newKeyring(t, ringText).Forget("k1"); err == nil {
		t.Error("a ring given as text was changed")
	}
}

// TestConcurrentRotations has several processes rotate at once. If a key were
// lost, the secrets sealed under it would be lost as well.
func TestConcurrentRotations(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	first := open(t, path, c)
	var texts [4][5]string
	var group sync.WaitGroup
	for g := range texts {
		b := open(t, path, c)
		group.Go(func() {
			for i := range texts[g] {
				if _, err := b.Rotate(); err != nil {
					t.Error(err)
				}
				texts[g][i], _ = b.Seal(secret, context)
			}
		})
	}
	group.Wait()
	if _, err := first.Rotate(); err != nil {
		t.Fatal(err)
	}
	if n := len(first.KeyIDs()); n != 1+4*5+1 {
		t.Errorf("%d keys, want %d", n, 1+4*5+1)
	}
	for _, of := range texts {
		for _, s := range of {
			if got, err := first.Open(s, context); got != secret || err != nil {
				t.Errorf("opened as %q, %v", got, err)
			}
		}
	}
}

func TestSymbolicLinkToFileIsKept(t *testing.T) {
	dir, c := t.TempDir(), &clock{}
	file, link := filepath.Join(dir, "real"), filepath.Join(t.TempDir(), "link")
	a := open(t, file, c)
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, link, c).Rotate(); err != nil {
		t.Fatal(err)
	}
	c.pass(maxAge)
	sealed(t, a)
	if n := len(a.KeyIDs()); n != 2 {
		t.Errorf("the file behind the link has %d keys, want 2", n)
	}
}
