package page

import (
	"os"
	"path/filepath"
	"testing"
)

// The shell draws pages before the whole program does, which alone notifies. CHROMIUM names both.
func TestShellIsFoundBeforeWholeChromium(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	t.Setenv("CHROMIUM", "")
	install := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	wants := func(pages, notifies string) {
		t.Helper()
		if got := [2]string{Find(), FindWhole()}; got != [2]string{pages, notifies} {
			t.Errorf("found are %q, want %q and %q", got, pages, notifies)
		}
	}
	wants("", "")
	chrome := install("google-chrome")
	wants(chrome, chrome)
	shell := install("chromium-headless-shell")
	wants(shell, chrome)
	chromium := install("chromium")
	wants(shell, chromium)
	t.Setenv("CHROMIUM", install("other"))
	wants(os.Getenv("CHROMIUM"), os.Getenv("CHROMIUM"))
}
