package accountfile_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// installation is a database and its keyring.
type installation struct {
	db      *db.DB
	keyring *secret.Keyring
}

func newInstallation(t testing.TB) installation {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return installation{apitest.OpenDB(t), keyring}
}

func (h installation) load(f *accountfile.File, replace bool) error {
	return accountfile.Import(context.Background(), h.db, h.keyring, f, apitest.Now, replace)
}

// export returns the account's file as text.
func (h installation) export(t testing.TB, account int64, secrets bool) string {
	t.Helper()
	f, err := accountfile.Export(context.Background(), h.db, h.keyring, account, secrets)
	if err != nil {
		t.Fatal(err)
	}
	return text(t, f)
}

func text(t testing.TB, f *accountfile.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := accountfile.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func read(t testing.TB, document string) *accountfile.File {
	t.Helper()
	f, err := accountfile.Read(strings.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// byHand returns the file of a realistic account with every section, as a person writes it.
func byHand(t testing.TB) string { return content(t, "testdata/bluewhale.json") }

// full returns the same account as Export writes it with secrets.
func full(t testing.TB) string { return content(t, "testdata/golden/bluewhale.json") }

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// differ reports the first line in which two texts differ.
func differ(t testing.TB, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("%s differs in line %d: got\n%s\nwant\n%s", what, i+1, g[i], w[i])
		}
	}
	t.Fatalf("%s has %d lines, want %d", what, len(g), len(w))
}
