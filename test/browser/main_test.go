// Package browser tests the console as people use it: the whole program with the demo's account, in a real Chromium and,
// where a browser would add nothing, with a client that follows links and sends forms.
package browser

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// The browsers of all tests, by path: each starts with the first test that opens a page in it.
var (
	browsers     = map[string]*page.Browser{}
	browsersLock sync.Mutex
)

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "2"); err != nil { // pages at a time: a browser and its server share the machine
		panic(err)
	}
	code := m.Run()
	for _, b := range browsers {
		b.Close()
	}
	if err := endWorlds(); err != nil {
		fmt.Println(err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// chromium returns the browser with a path.
func chromium(t *testing.T, path string) *page.Browser {
	t.Helper()
	if path == "" {
		t.Fatal("Chromium is missing: install it (apt-get install chromium) or name it in CHROMIUM")
	}
	browsersLock.Lock()
	defer browsersLock.Unlock()
	if b := browsers[path]; b != nil {
		return b
	}
	b, err := page.Start(path)
	if err != nil {
		t.Fatal(err)
	}
	browsers[path] = b
	return b
}

// begin starts a program with the demo's account, for a test that changes it.
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

// The worlds that tests share which change nothing.
var (
	full = shared(func(t *testing.T, dir string) *world.World { // the demo's account, in which something happens
		w := world.Begin(t, dir, nil)
		world.PushDemo(t, w)
		return w
	})
	empty   = shared(func(t *testing.T, dir string) *world.World { return world.BeginEmpty(t, dir) })
	hostile = shared(func(t *testing.T, dir string) *world.World { // strangers have written every text
		w := world.Begin(t, dir, func(f *accountfile.File) { world.MakeHostile(t, f) })
		world.PushHostile(t, w)
		return w
	})
)

var (
	worlds     = map[*world.World]string{} // with the folder of each
	worldsLock sync.Mutex
)

// shared returns a function that starts a world when it is first called, and returns it.
func shared(start func(*testing.T, string) *world.World) func(*testing.T) *world.World {
	var once sync.Once
	var w *world.World
	return func(t *testing.T) *world.World {
		t.Helper()
		once.Do(func() {
			dir, err := os.MkdirTemp("", "tocsin")
			if err != nil {
				t.Fatal(err)
			}
			w = start(t, dir)
			worldsLock.Lock()
			defer worldsLock.Unlock()
			worlds[w] = dir
		})
		if w == nil {
			t.Fatal("the world did not start")
		}
		return w
	}
}

func endWorlds() (err error) {
	for w, dir := range worlds {
		err = errors.Join(err, w.Close(), os.RemoveAll(dir))
	}
	return err
}

// open opens an empty page. Whatever it writes to the console fails the test, unless the test reads it.
func open(t *testing.T, w *world.World) *page.Page {
	t.Helper()
	return openIn(t, w, page.Find())
}

// openIn is open in the browser with a path.
func openIn(t *testing.T, w *world.World, browser string) *page.Page {
	t.Helper()
	p := chromium(t, browser).New(t, w.URL)
	t.Cleanup(func() {
		if !t.Failed() {
			p.Quiet()
		}
		p.Close()
	})
	return p
}

// signedIn opens the first page as the owner.
func signedIn(t *testing.T, w *world.World) *page.Page {
	t.Helper()
	return signIn(t, w, open(t, w))
}

// signIn opens the first page as the owner, without the form, which takes a page of its own.
func signIn(t *testing.T, w *world.World, p *page.Page) *page.Page {
	t.Helper()
	for _, c := range client(t, w, w.Keys.All).Cookies() {
		p.Cookie(c.Name, c.Value)
	}
	p.Open("/")
	return p
}

// client returns a client without scripts that is signed in with a key.
func client(t *testing.T, w *world.World, key string) *world.Client {
	t.Helper()
	c := w.Client(t)
	c.SignIn(key)
	return c
}
