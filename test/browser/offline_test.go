package browser

import (
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// markOf returns the text of the mark of a kept page; empty: it is hidden.
func markOf(p *page.Page) string {
	return page.Eval[string](p, `(k => k && !k.hidden && k.checkVisibility() ? k.textContent : '')(document.getElementById('kept'))`)
}

// Without a network the pages seen last are shown, marked as old with the time at which they were seen. What was not seen
// is not shown, and with the network the pages are fresh.
func TestKeptPages(t *testing.T) {
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/")
	p.Controlled()
	for _, path := range []string{"/", "/incidents", "/incidents/" + incident} {
		p.Open(path)
		if mark := markOf(p); mark != "" {
			t.Errorf("%s is fresh and says %q", path, mark)
		}
		p.InWorker(`(async () => { for (let n = 0; n < 200 && !await (await caches.open('pages')).match(location.origin + '` + path + `'); n++) await new Promise(done => setTimeout(done, 20)); return ''; })()`)
	}
	w.Clock.Add(2 * time.Hour)
	cut(t, w, true)
	for _, path := range []string{"/", "/incidents", "/incidents/" + incident} {
		p.Open(path)
		p.See("Payments are slow")
		if mark := markOf(p); !strings.Contains(mark, "Not live: seen at Mon 23 Nov, 03:1") {
			t.Errorf("%s says %q", path, mark)
		}
		if path == "/" {
			o := once(t)
			o.note(p.Axe(), "kept")
		}
	}
	p.Open("/schedules")
	p.See("No connection")
	p.See("it was not kept")
	cut(t, w, false)
	p.Open("/")
	p.Lacks("#kept:not([hidden])")
	p.Messages() // the browser notes every failed attempt to connect
}

// After a sign-out nothing of the person is left in the browser.
func TestNothingIsKeptAfterSignOut(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/")
	p.Controlled()
	p.Open("/")
	p.Open("/incidents")
	p.Follow("Sign out")
	p.At("/sign-in")
	if kept := p.InWorker(`(async () => (await (await caches.open('pages')).keys()).map(r => r.url).join(' '))()`); kept != "" {
		t.Errorf("kept are %s", kept)
	}
	cut(t, w, true)
	p.Open("/")
	p.See("No connection")
	p.Lacks("#kept")
	cut(t, w, false)
	p.Messages()
}

// Neither answers to forms nor anything of the API nor other pages are kept.
func TestOnlyThreeKindsOfPagesAreKept(t *testing.T) {
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents/" + incident)
	p.Controlled()
	p.Click("Acknowledge")
	p.See("Acknowledged")
	for _, path := range []string{"/me", "/people", "/alerts", "/incidents/" + incident + "/why", "/incidents/" + incident, "/openapi.json"} {
		page.Eval[int](p, `fetch('`+path+`').then(a => a.text()).then(t => t.length)`)
	}
	p.Open("/incidents")
	kept := p.InWorker(`(async () => {
		for (let n = 0; n < 200 && !await (await caches.open('pages')).match(location.origin + '/incidents'); n++) await new Promise(done => setTimeout(done, 20));
		return (await (await caches.open('pages')).keys()).map(r => r.method + ' ' + new URL(r.url).pathname).sort().join(' ');
	})()`)
	if want := "GET /incidents GET /incidents/" + incident; kept != want {
		t.Errorf("kept are %s, want %s", kept, want)
	}
	p.Messages()
}
