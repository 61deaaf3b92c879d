package browser

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// thorough has every page looked at in every way (make browser). Otherwise each page is drawn at every width in one theme, the next
// page in the other; axe-core reads it once, every second page wide, the others narrow, and its colours once more in the other theme;
// its text is made larger once. Pages with a query are looked at in the full account alone; in an empty one and at the end of stories
// axe-core reads the pages with new kinds of elements. All combinations take four times as long.
var thorough = os.Getenv("TOCSIN_BROWSER") == "all"

// widths are those at which every page is drawn, in pixels: of a desk, of a wall, of a phone, and of the narrowest phone.
var widths = []int{1280, 4000, 390, 320}

// Every page of a full and of an empty account, in both languages, wide and narrow, in light and dark: axe-core finds
// nothing, nothing must be scrolled sideways, also with large text, nothing moves while it is drawn, everything keeps an
// edge in forced colours, and nothing is written to the console.
func TestEveryPageIsAccessible(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(*testing.T) *world.World{"full": full, "empty": empty} {
		for _, lang := range []string{"en", "zh"} {
			if (name == "full") != (lang == "en") && !thorough {
				continue
			}
			t.Run(name+" "+lang, func(t *testing.T) {
				t.Parallel()
				w := start(t)
				paths := surveyed(t, w, w.Keys.All).pages
				if name == "empty" && !thorough {
					paths = templates(paths)
				}
				var weight weights
				o := once(t)
				p := signedIn(t, w)
				p.Language(lang)
				p.Cookie("tocsin-second", "waits") // as between the password and the code
				for i, path := range paths {
					look(o, p, path, i%2 == 1, name == "full", func() { weight.add(o, p, w.URL) })
					o.note(p.Messages(), path)
				}
				t.Logf("%d pages, %s", len(paths), weight)
			})
		}
	}
}

// colours are the rules of axe-core that another theme can break.
var colours = []string{"color-contrast", "link-in-text-block"}

// look draws a page at all widths, for which the dark theme changes with each; axe-core, if it is to read the page, and large text have
// it wide, or narrow. Of pages that differ in their query, the widest and the narrowest are drawn. drawn is called once the page is there.
func look(o *problems, p *page.Page, path string, narrow, read bool, drawn func()) {
	for i, width := range widths {
		if i%3 != 0 && strings.Contains(path, "?") && !thorough {
			continue
		}
		dark := (i%2 == 1) != narrow
		p.Size(width, 900)
		p.Dark(dark)
		draw(o, p, path, width)
		if i == 0 {
			drawn()
			read = read || unread(p)
		}
		if width == 390 {
			o.note(tooSmall(p), path, "for a thumb")
		}
		if read && width == map[bool]int{true: 320, false: 1280}[narrow] || thorough {
			readByAxe(o, p, path, width, dark)
		}
	}
	p.ForcedColors()
	o.note(edges(p), path, "in forced colours")
	squeeze(o, p, path, narrow)
}

// readByAxe has axe-core read a page in its theme, and its colours in the other one. The window is as high as the page: what a bar at its
// end covers can be scrolled into sight.
func readByAxe(o *problems, p *page.Page, path string, width int, dark bool) {
	p.Size(width, max(900, page.Eval[int](p, "document.documentElement.scrollHeight")))
	o.note(p.Axe(), path, "at", strconv.Itoa(width), theme(dark))
	p.Dark(!dark)
	o.note(p.Axe(colours...), path, "at", strconv.Itoa(width), theme(!dark))
}

func theme(dark bool) string { return map[bool]string{true: "dark", false: "light"}[dark] }

// draw loads a page at a width: nothing moves, and nothing must be scrolled sideways.
func draw(o *problems, p *page.Page, path string, width int) {
	p.Open(path)
	moved := still(p)
	if len(moved) > 0 { // a machine under load may draw before all of the page has arrived: once is no proof
		p.Open(p.Path())
		moved = still(p)
	}
	o.note(moved, path, "at", strconv.Itoa(width))
	fits(o, p, path, "at", strconv.Itoa(width))
}

// No name, title or label breaks a page: nothing of it runs, and nothing must be scrolled sideways.
func TestHostileTextBreaksNothing(t *testing.T) {
	t.Parallel()
	w := hostile(t)
	o := once(t)
	p := signedIn(t, w)
	paths := surveyed(t, w, w.Keys.All).pages
	if !thorough {
		paths = templates(paths)
	}
	for i, path := range paths {
		p.Size(1360, 900)
		p.Open(path)
		fits(o, p, path)
		squeeze(o, p, path, i%2 == 1)
		p.Size(320, 800)
		fits(o, p, path, "at 320 pixels")
		if page.Eval[int](p, "document.querySelectorAll('img[src=x]').length") > 0 {
			o.note([]string{"an element that someone smuggled in"}, path)
		}
		o.note(p.Messages(), path)
	}
}

// weights are the bytes of the first load of pages, before compression: of the page, and of all that it loads with it.
type weights struct {
	pages, page, all  int
	heaviest, fullest string
}

// add notes what a page has loaded.
func (s *weights) add(o *problems, p *page.Page, base string) {
	type file struct {
		Name string `json:"name"`
		Size int    `json:"size"`
		Sent int    `json:"sent"` // 0: it came from what was loaded before
	}
	at := p.Path()
	seen := map[string]bool{}
	all := 0
	files := page.Eval[[]file](p, `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
		.filter(e => !e.name.endsWith('/live')).map(e => ({name: e.name, size: e.decodedBodySize, sent: e.transferSize}))`)
	for i, f := range files {
		name, version, _ := strings.Cut(f.Name, "?")
		asset := strings.Contains(name, "/assets/")
		switch {
		case !strings.HasPrefix(f.Name, base+"/"):
			o.note([]string{"loads " + f.Name}, at)
		case asset && seen[name] && f.Sent > 0:
			o.note([]string{"loads twice: " + name}, at)
		case asset && version == "":
			o.note([]string{"loads by an address that browsers do not keep: " + name}, at)
		}
		seen[name] = true
		all += f.Size
		if i == 0 && f.Size > s.page {
			s.page, s.heaviest = f.Size, at
		}
	}
	if all > s.all {
		s.all, s.fullest = all, at
	}
	s.pages++
}

func (s weights) String() string {
	return fmt.Sprintf("at most %d KB of HTML (%s), %d KB with all that it loads (%s)", s.page>>10, s.heaviest, s.all>>10, s.fullest)
}

// still wants a page that is drawn in place: nothing moves later, and focus follows the order of the text. A page that
// reads itself again, because something happened in its account, may move: its own address is then among what it loaded.
func still(p *page.Page) []string {
	problems := page.Eval[[]string](p, `document.fonts.ready.then(() => new Promise(done => { const moved = [];
		const read = () => performance.getEntriesByName(location.href, 'resource')[0]?.startTime ?? Infinity;
		new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput && e.startTime < read()) moved.push(
			'moves while it is drawn: ' + e.sources.slice(0, 2).map(s => s.node?.outerHTML?.slice(0, 80)).join(', ') +
			(document.querySelector('.stale:not([hidden])')?.innerText ?? '')); }).observe({type: 'layout-shift', buffered: true});
		requestAnimationFrame(() => setTimeout(() => done(moved), 30)); }))`)
	return append(problems, page.Eval[[]string](p, `[...document.querySelectorAll('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])')]
		.map(e => 'changes the order of focus: ' + e.outerHTML.slice(0, 120))`)...)
}

// edges returns the controls and marks without an edge where the reader's colours replace the page's.
func edges(p *page.Page) []string {
	return page.Eval[[]string](p, `[...document.querySelectorAll('.btn, .tag, .b .t, input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea')]
		.filter(e => e.checkVisibility() && e.getClientRects().length && parseFloat(getComputedStyle(e).borderTopWidth) === 0)
		.map(e => 'no edge: ' + e.outerHTML.slice(0, 100).replace(/[0-9]+/g, '0'))`)
}

// squeeze makes the text twice as large on a wide page or on a narrow one.
func squeeze(o *problems, p *page.Page, path string, narrow bool) {
	p.TextSize(200)
	if thorough || !narrow {
		p.Size(1360, 900)
		fits(o, p, path, "with large text")
	}
	if thorough || narrow {
		p.Size(390, 844)
		fits(o, p, path, "with large text on a phone")
	}
	p.TextSize(100)
}

func fits(o *problems, p *page.Page, where ...string) {
	if over, who := p.Sideways(); over > 0 {
		o.note([]string{"must be scrolled sideways\n    " + who}, where...)
	}
}

// tooSmall returns the controls that a thumb would miss.
func tooSmall(p *page.Page) []string {
	return page.Eval[[]string](p, `[...document.querySelectorAll('.btn, main button:not(.hidden), input:not([type=hidden], [type=checkbox], [type=radio]), select, .dock a')]
		.filter(e => e.checkVisibility() && e.getClientRects().length && e.getBoundingClientRect().height < 43.5)
		.map(e => Math.round(e.getBoundingClientRect().height) + ' pixels high: ' + e.outerHTML.slice(0, 100).replace(/\d+/g, '0'))`)
}
