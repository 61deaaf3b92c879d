package secret

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

func TestDerivedKeysDependOnPurposeAndRing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	derive := func(purpose string) []byte {
		b, err := Open(path, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		k, err := b.DeriveKey(purpose)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	cursor := derive("cursor")
	if len(cursor) != 32 || !bytes.Equal(cursor, derive("cursor")) {
		t.Error("the same ring and purpose must derive the same 32 bytes, also after a restart")
	}
	if bytes.Equal(cursor, derive("links")) {
		t.Error("two purposes derive one key")
	}
	b, err := Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rotate(); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(cursor, derive("cursor")) {
		t.Error("a rotated ring derives the old key")
	}
}
