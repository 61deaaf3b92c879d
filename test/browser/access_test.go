package browser

import (
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// Every page, in both languages, wide and on a phone, in light and dark: axe-core finds nothing, nothing must be scrolled
// sideways, nothing moves while it is drawn, and nothing is written to the console.
func TestEveryPageIsAccessible(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	paths := client(t, w, w.Keys.All).Pages()
	for _, lang := range []string{"en", "zh"} {
		t.Run(lang, func(t *testing.T) {
			o := once(t)
			p := signedIn(t, w)
			p.Language(lang)
			for _, path := range paths {
				p.Size(1360, 900)
				p.Open(path)
				inspect(o, w, p)
				for name, width := range map[string]int{"wide": 1360, "phone": 390} {
					p.Size(width, 900)
					p.Dark(false)
					o.note(p.Axe(), path, name, "light")
					p.Dark(true)
					o.note(p.Axe("color-contrast"), path, name, "dark") // no other rule looks at colours
				}
				p.Size(390, 844)
				o.note(tooSmall(p), path, "for a thumb")
				squeeze(o, p, path)
				o.note(p.Messages(), path)
			}
		})
	}
}

// The pages of an empty account differ: they name the next step.
func TestEveryEmptyPageIsAccessible(t *testing.T) {
	w := ended(t, world.BeginEmpty(t, t.TempDir()))
	o := once(t)
	p := signedIn(t, w)
	for _, path := range client(t, w, w.Keys.All).Pages() {
		p.Size(1360, 900)
		p.Open(path)
		o.note(p.Axe(), path)
		squeeze(o, p, path)
		o.note(p.Messages(), path)
	}
}

// No name, title or label breaks a page: nothing of it runs, and nothing must be scrolled sideways.
func TestHostileTextBreaksNothing(t *testing.T) {
	w := ended(t, world.Begin(t, t.TempDir(), hostileAccount(t)))
	world.PushHostile(t, w)
	o := once(t)
	p := signedIn(t, w)
	for _, path := range client(t, w, w.Keys.All).Pages() {
		p.Size(1360, 900)
		p.Open(path)
		fits(o, p, path)
		squeeze(o, p, path)
		if page.Eval[int](p, "document.querySelectorAll('img[src=x]').length") > 0 {
			o.note([]string{"an element that someone smuggled in"}, path)
		}
		o.note(p.Messages(), path)
	}
}

// inspect looks at what was loaded and drawn.
func inspect(o *problems, w *world.World, p *page.Page) {
	seen := map[string]bool{}
	for _, address := range page.Eval[[]string](p, `performance.getEntriesByType('resource').map(e => e.name)`) {
		file, version, _ := strings.Cut(address, "?")
		asset := strings.Contains(file, "/assets/")
		switch {
		case !strings.HasPrefix(address, w.URL+"/"):
			o.note([]string{"loads " + address}, p.Path())
		case asset && seen[file]:
			o.note([]string{"loads twice: " + file}, p.Path())
		case asset && version == "":
			o.note([]string{"loads by an address that browsers do not keep: " + file}, p.Path())
		}
		seen[file] = true
	}
	shift := page.Eval[float64](p, `new Promise(done => { let sum = 0;
		new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) sum += e.value; }).observe({type: 'layout-shift', buffered: true});
		requestAnimationFrame(() => setTimeout(() => done(sum), 50)); })`)
	if shift > 0.001 {
		o.note([]string{"moves while it is drawn"}, p.Path())
	}
	o.note(page.Eval[[]string](p, `[...document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])')].map(e => 'changes the order of focus: ' + e.outerHTML.slice(0, 120))`), p.Path())
	p.ForcedColors()
	o.note(page.Eval[[]string](p, `[...document.querySelectorAll('.btn, input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea')]
		.filter(e => e.checkVisibility() && parseFloat(getComputedStyle(e).borderTopWidth) === 0).map(e => 'no border in forced colours: ' + e.outerHTML.slice(0, 120))`), p.Path())
}

// squeeze makes the window narrow and the text large.
func squeeze(o *problems, p *page.Page, path string) {
	p.Size(320, 800)
	fits(o, p, path, "at 320 pixels")
	p.TextSize(200)
	p.Size(1360, 900)
	fits(o, p, path, "with large text")
	p.Size(390, 844)
	fits(o, p, path, "with large text on a phone")
	p.TextSize(100)
}

func fits(o *problems, p *page.Page, where ...string) {
	if over, who := p.Sideways(); over > 0 {
		o.note([]string{"must be scrolled sideways\n    " + who}, where...)
	}
}

// tooSmall returns the controls that a thumb would miss.
func tooSmall(p *page.Page) []string {
	return page.Eval[[]string](p, `[...document.querySelectorAll('.btn, main button, input:not([type=hidden], [type=checkbox], [type=radio]), select, .dock a')]
		.filter(e => e.checkVisibility() && e.getClientRects().length && e.getBoundingClientRect().height < 43.5)
		.map(e => Math.round(e.getBoundingClientRect().height) + ' pixels high: ' + e.outerHTML.slice(0, 100).replace(/\d+/g, '0'))`)
}
