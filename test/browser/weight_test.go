package browser

import (
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// heavy is how large a page may be before compression, in bytes; a page that lists much may be larger by what it lists.
const heavy = 100 << 10

// Every page is light, loads each of its files once and from this server, and does not move while it is drawn.
func TestPagesAreLight(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	c := client(t, w, w.Keys.All)
	paths := c.Pages()
	for _, path := range paths {
		if n := len(c.Get(path).Body); n > heavy {
			t.Errorf("%s has %d bytes", path, n)
		}
	}
	p := signedIn(t, w)
	for _, path := range paths {
		p.Open(path)
		loaded := page.Eval[[]string](p, `performance.getEntriesByType('resource').map(e => e.name)`)
		seen := map[string]bool{}
		for _, address := range loaded {
			file, version, _ := strings.Cut(address, "?")
			if seen[file] && strings.Contains(file, "/assets/") {
				t.Errorf("%s loads %s twice", path, file)
			}
			seen[file] = true
			if !strings.HasPrefix(address, w.URL+"/") {
				t.Errorf("%s loads %s", path, address)
			}
			if strings.Contains(file, "/assets/") && version == "" {
				t.Errorf("%s loads %s by an address that browsers do not keep", path, file)
			}
		}
		shift := page.Eval[float64](p, `new Promise(done => { let sum = 0;
			new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) sum += e.value; }).observe({type: 'layout-shift', buffered: true});
			requestAnimationFrame(() => setTimeout(() => done(sum), 50)); })`)
		if shift > 0.001 {
			t.Errorf("%s moves by %.3f while it is drawn", path, shift)
		}
	}
}
