// Package browser tests the console as people use it: the whole program with the demo's account, in a real Chromium and,
// where a browser would add nothing, with a client that follows links and sends forms.
package browser

import (
	"os"
	"sync"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// chromium is the browser of all tests; it starts with the first test that opens a page.
var chromium = sync.OnceValues(func() (*page.Browser, error) { return page.Start(page.Find()) })

func TestMain(m *testing.M) {
	code := m.Run()
	if started {
		if b, err := chromium(); err == nil {
			b.Close()
		}
	}
	os.Exit(code)
}

var started bool

// begin starts a program with the demo's account.
func begin(t *testing.T) *world.World {
	t.Helper()
	return ended(t, world.Begin(t, t.TempDir(), nil))
}

// ended closes a program at the end of its test, after the pages that show it.
func ended(t *testing.T, w *world.World) *world.World {
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// open opens an empty page. Whatever it writes to the console fails the test, unless the test reads it.
func open(t *testing.T, w *world.World) *page.Page {
	t.Helper()
	if page.Find() == "" {
		t.Fatal("Chromium is missing: install it (apt-get install chromium) or name it in CHROMIUM")
	}
	started = true
	b, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	p := b.New(t, w.URL)
	t.Cleanup(func() {
		if !t.Failed() {
			p.Quiet()
		}
		p.Close()
	})
	return p
}

// signedIn opens a page as the owner.
func signedIn(t *testing.T, w *world.World) *page.Page {
	t.Helper()
	p := open(t, w)
	p.SignIn(w.Keys.All)
	return p
}

// client returns a client without scripts that is signed in with a key.
func client(t *testing.T, w *world.World, key string) *world.Client {
	t.Helper()
	c := w.Client(t)
	c.SignIn(key)
	return c
}
