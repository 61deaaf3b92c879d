package secret

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestKeysInMemorySurviveTheirFile: a file that others can read, that is empty or gone while the server runs stops
// neither sealing nor opening, and a repaired one ends the trouble.
func TestKeysInMemorySurviveTheirFile(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"readable by others": func(path string) error { return os.Chmod(path, 0o644) },
		"empty":              func(path string) error { return os.Truncate(path, 0) },
		"removed":            os.Remove,
		"no text of keys":    func(path string) error { return os.WriteFile(path, []byte("lost"), 0o600) },
	} {
		path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
		b := open(t, path, c)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		c.pass(maxAge)
		if got, err := b.Open(sealed(t, b), context); got != secret || err != nil {
			t.Errorf("%s: opened as %q, %v", name, got, err)
		}
		if err := b.Trouble(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: trouble %v", name, err)
		}
		if _, err := b.Open("s1.unknown.AAAA", context); err == nil || errors.As(err, new(*lostError)) {
			t.Errorf("%s: a key that the file may hold counts as lost: %v", name, err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		c.pass(maxAge)
		if err := b.Check(never(t)); err != nil || b.Trouble() != nil {
			t.Errorf("%s: after the repair: %v", name, err)
		}
	}
}

// never is a judge that is not asked.
func never(t *testing.T) func(map[string]string) (bool, error) {
	return func(map[string]string) (bool, error) {
		t.Error("a file that continues the keys is asked about")
		return false, nil
	}
}

// TestOtherKeysAreRefused: a file without the key in use, or with another key of its id, is used only if the database
// holds no secret under the keys before.
func TestOtherKeysAreRefused(t *testing.T) {
	for name, content := range map[string]string{
		"another key":                NewKey(),
		"another key of the same id": "",
	} {
		path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
		b := open(t, path, c)
		if content == "" {
			_, text, _ := strings.Cut(NewKey(), " ")
			content = b.KeyIDs()[0] + " " + text
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c.pass(maxAge)
		if _, err := b.Seal(secret, context); err == nil {
			t.Errorf("%s: sealed before it is known which keys are right", name)
		}
		unknown := errors.New("the database does not answer")
		if err := b.Check(func(map[string]string) (bool, error) { return false, unknown }); !errors.Is(err, unknown) {
			t.Errorf("%s: checked with %v", name, err)
		}
		asked := 0
		for range 3 {
			c.pass(maxAge)
			if err := b.Check(func(prints map[string]string) (bool, error) { asked++; return len(prints) != 1, nil }); err != nil {
				t.Error(err)
			}
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times", name, asked)
		}
		if got, err := b.Open(sealed(t, b), context); got != secret || err != nil {
			t.Errorf("%s: opened as %q, %v", name, got, err)
		}
		if err := b.Trouble(); err == nil || !strings.Contains(err.Error(), "other keys") || strings.Contains(err.Error(), content[9:]) {
			t.Errorf("%s: trouble %v", name, err)
		}
	}
}

// TestRotationThatWasMissedIsAdopted: a process that stood still while the keys were rotated seals nothing under the
// forgotten key.
func TestRotationThatWasMissedIsAdopted(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "keys"), &clock{}
	a, b := open(t, path, c), open(t, path, c)
	old := a.KeyIDs()[0]
	id, err := a.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Forget(old); err != nil {
		t.Fatal(err)
	}
	c.pass(time.Minute)
	if got, err := b.Seal(secret, context); err == nil {
		t.Errorf("sealed under %s", KeyID(got))
	}
	if err := b.Check(func(prints map[string]string) (bool, error) { return prints[id] != "", nil }); err != nil {
		t.Fatal(err)
	}
	if got := KeyID(sealed(t, b)); got != id || b.Trouble() != nil {
		t.Errorf("sealed under %s, want %s; %v", got, id, b.Trouble())
	}
}
