package browser

import (
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// widths are those of a wide window and a phone.
var widths = map[string]int{"wide": 1360, "phone": 390}

// axe-core finds nothing on any page, in both themes, both languages, wide and narrow; no page writes to the console.
func TestAccess(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	paths := client(t, w, w.Keys.All).Pages()
	for _, lang := range []string{"en", "zh"} {
		t.Run(lang, func(t *testing.T) {
			p := signedIn(t, w)
			p.Language(lang)
			for _, path := range paths {
				for name, width := range widths {
					p.Size(width, 900)
					p.Open(path)
					p.Dark(false)
					report(t, path+" "+name+" light", p.Axe())
					p.Dark(true)
					report(t, path+" "+name+" dark", p.Axe("color-contrast")) // no other rule looks at colours
				}
				p.Quiet()
			}
		})
	}
}

// The empty account has pages of its own: they say what to do next.
func TestAccessOfEmptyPages(t *testing.T) {
	w := ended(t, world.BeginEmpty(t, t.TempDir()))
	p := signedIn(t, w)
	for _, path := range client(t, w, w.Keys.All).Pages() {
		p.Open(path)
		report(t, path, p.Axe())
	}
}

func report(t *testing.T, where string, found []string) {
	t.Helper()
	for _, f := range found {
		t.Errorf("%s: %s", where, f)
	}
}

// No page must be scrolled sideways: not at 320 pixels, not with text of twice the size, not with hostile words.
func TestNothingIsScrolledSideways(t *testing.T) {
	full := begin(t)
	world.PushDemo(t, full)
	hostile := ended(t, world.Begin(t, t.TempDir(), hostileAccount(t)))
	world.PushHostile(t, hostile)
	for name, w := range map[string]*world.World{"demo": full, "hostile": hostile} {
		t.Run(name, func(t *testing.T) {
			p := signedIn(t, w)
			for _, path := range client(t, w, w.Keys.All).Pages() {
				p.Size(320, 800)
				p.Open(path)
				fits(t, p, path+" at 320 pixels")
				p.Size(1360, 900)
				p.TextSize(200)
				fits(t, p, path+" with large text")
				p.Size(390, 844)
				fits(t, p, path+" with large text on a phone")
				if scripts := page.Eval[int](p, "document.querySelectorAll('img[src=x]').length"); scripts > 0 {
					t.Errorf("%s holds an element that someone smuggled in", path)
				}
				p.Quiet()
			}
		})
	}
}

func fits(t *testing.T, p *page.Page, where string) {
	t.Helper()
	if over, who := p.Sideways(); over > 0 {
		t.Errorf("%s: %d pixels too wide\n    %s", where, over, who)
	}
}

// What a reader types into, clicks on and reads is there in the reader's own colours, too.
func TestForcedColours(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	p := signedIn(t, w)
	p.ForcedColors()
	for _, path := range client(t, w, w.Keys.All).Pages() {
		p.Open(path)
		if bare := page.Eval[[]string](p, `[...document.querySelectorAll('.btn, input:not([type=hidden]), select, textarea')].filter(e => e.checkVisibility() && parseFloat(getComputedStyle(e).borderTopWidth) === 0 && e.type !== 'checkbox' && e.type !== 'radio').map(e => e.outerHTML.slice(0, 120))`); len(bare) > 0 {
			t.Errorf("%s: controls without a border:\n    %s", path, strings.Join(bare, "\n    "))
		}
	}
}

// Every control can be reached and seen with the keyboard alone: the first key shows the way past the menu, focus is
// visible, and nothing on a phone is too small for a thumb.
func TestKeyboardAndThumb(t *testing.T) {
	w := begin(t)
	world.PushDemo(t, w)
	p := signedIn(t, w)
	for _, path := range client(t, w, w.Keys.All).Pages() {
		p.Size(1360, 900)
		p.Open(path)
		if n := page.Eval[int](p, `document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').length`); n > 0 {
			t.Errorf("%s: %d elements change the order of focus", path, n)
		}
		p.Size(390, 844)
		if small := page.Eval[[]string](p, `[...document.querySelectorAll('.btn, main button, input:not([type=hidden]):not([type=checkbox]):not([type=radio]), select, .dock a')]
			.filter(e => e.checkVisibility() && e.getClientRects().length && e.getBoundingClientRect().height < 43.5).map(e => Math.round(e.getBoundingClientRect().height) + ' px: ' + e.outerHTML.slice(0, 120))`); len(small) > 0 {
			t.Errorf("%s: too small for a thumb:\n    %s", path, strings.Join(small, "\n    "))
		}
	}
	p.Size(1360, 900)
	p.Open("/")
	p.Key("\t")
	if at := page.Eval[string](p, `document.activeElement.getAttribute('href')`); at != "#main" && !strings.HasPrefix(at, "#") {
		// a field with the cursor in it may come first
		t.Errorf("the first key leads to %s", at)
	}
	if !page.Eval[bool](p, `getComputedStyle(document.activeElement).outlineStyle !== 'none'`) {
		t.Error("focus cannot be seen")
	}
}
