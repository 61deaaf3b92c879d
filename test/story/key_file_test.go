package story

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/secret"
)

// logged collects what a program logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

// TestSpoiledKeyFileStopsNoPage: persons are paged while the key file is of no use, the operator learns of it once, and a
// repair ends it.
func TestSpoiledKeyFileStopsNoPage(t *testing.T) {
	t.Parallel()
	for kind, spoil := range map[string]func(path string) error{
		"exposed":    func(path string) error { return os.Chmod(path, 0o644) },
		"malformed":  func(path string) error { return os.Truncate(path, 0) },
		"missing":    os.Remove,
		"other_keys": func(path string) error { return os.WriteFile(path, []byte(secret.NewKey()), 0o600) },
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			log := &logged{}
			w := beginWith(t, func(c *app.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) }, notifyAnn)
			path := filepath.Join(w.dir, "tocsin.db.key")
			content, err := os.ReadFile(path)
			w.must(err)
			w.must(spoil(path))
			w.pass(10 * time.Second)
			w.push("cpu", "Critical")
			w.notified(newPage("ann"))
			if status, body := w.page("/health/ready"); status != 200 || !strings.Contains(body, `"key_file":"`+kind+`"`) || strings.Contains(body, path) {
				t.Errorf("%d %s", status, body)
			}
			if got := w.do("/account/health/info", `{}`); got.get("key_file") != kind || strings.Contains(got.String(), path) {
				t.Error(got)
			}
			if _, body := w.page("/metrics"); !strings.Contains(body, "tocsin_key_file_trouble 1") {
				t.Error("the metric does not show it")
			}
			w.pass(time.Minute)
			if p := w.last(); !strings.Contains(p.subject, "The key file of ") {
				t.Error(p.subject)
			}
			w.notified(newPage("olga"))
			w.pass(time.Hour)
			w.newPages() // ann is reminded by the rule
			if n := log.count("the key file cannot be used"); n != 1 {
				t.Errorf("%d lines in the log", n)
			}
			w.must(os.WriteFile(path, content, 0o600))
			w.must(os.Chmod(path, 0o600))
			w.pass(10 * time.Second)
			if p := w.last(); !strings.Contains(p.subject, "Over: The key file of ") {
				t.Error(p.subject)
			}
			w.notified(newPage("olga"))
			if _, body := w.page("/health/ready"); strings.Contains(body, "key") {
				t.Error(body)
			}
		})
	}
}
