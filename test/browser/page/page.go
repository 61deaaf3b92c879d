package page

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Open shows an address and waits until it has loaded.
func (p *Page) Open(path string) {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, 2*patience)
	defer end()
	if err := chromedp.Do(ctx, chromedp.Navigate(p.Base+path)); err != nil {
		p.t.Fatalf("open %s: %v", path, err)
	}
}

// Path returns the address that is shown, without its base.
func (p *Page) Path() string {
	p.t.Helper()
	return Eval[string](p, "location.pathname + location.search")
}

// Eval returns the value of an expression, also where scripts of the page are off. It waits for a promise.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	value, err := try[T](p, expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

func try[T any](p *Page, expression string) (T, error) {
	ctx, end := context.WithTimeout(p.ctx, 3*patience)
	defer end()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression to be true; what describes it. A page that changes meanwhile is asked again.
func (p *Page) until(what, expression string) {
	p.t.Helper()
	var problem error
	pause := 10 * time.Millisecond
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(pause) {
		pause = min(2*pause, 160*time.Millisecond) // each question takes time from the page that is to answer
		var ok bool
		ok, problem = try[bool](p, expression)
		if ok {
			return
		} else if errors.Is(problem, context.Canceled) {
			break
		}
	}
	text, _ := try[string](p, "document.body.innerText")
	p.t.Fatalf("%s: waited in vain for %s (%v); the page says:\n%s", p.Path(), what, problem, text)
}

// found is a script that returns what can be clicked or filled in: the first visible element with a selector, or with a
// text or label.
const found = `(what => {
	const visible = e => e.checkVisibility({visibilityProperty: true}) && e.getClientRects().length > 0;
	const text = e => (e.getAttribute('aria-label') || e.innerText || e.value || '').trim().replace(/\s+/g, ' ');
	try { const e = [...document.querySelectorAll(what)].find(visible); if (e) return e; } catch {}
	for (const l of document.querySelectorAll('label')) {
		const words = [...l.childNodes].filter(n => n.nodeType === 3 || n.nodeName === 'SPAN').map(n => n.textContent).join(' ').trim();
		if ((words === what || text(l) === what) && l.control && visible(l.control)) return l.control;
	}
	const all = [...document.querySelectorAll('button, a[href], summary, input, select, textarea, [role=button]')].filter(visible);
	return all.find(e => text(e) === what) || all.find(e => text(e).startsWith(what)) || all.find(e => text(e).includes(what)) || null;
})`

func quote(text string) string {
	b, _ := json.Marshal(text) // a string can always be encoded
	return string(b)
}

// text is a script that returns what can be read on the page, without the menu and the line at its end.
const text = `(document.getElementById('main') ?? document.body)?.innerText.replace(/\s+/g, ' ').toLowerCase() ?? ''`

// See waits until a text can be read on the page.
func (p *Page) See(words string) {
	p.t.Helper()
	p.until("the text "+quote(words), "("+text+").includes("+quote(strings.ToLower(words))+")")
}

// Unseen waits until a text can no longer be read on the page.
func (p *Page) Unseen(words string) {
	p.t.Helper()
	p.until("no text "+quote(words), "!("+text+").includes("+quote(strings.ToLower(words))+")")
}

// Has waits for a visible element: a selector, or the text of a control.
func (p *Page) Has(what string) {
	p.t.Helper()
	p.until(what, found+"("+quote(what)+") !== null")
}

// Gone waits until no such element is visible.
func (p *Page) Gone(what string) {
	p.t.Helper()
	p.until("the end of "+what, found+"("+quote(what)+") === null")
}

// Lacks wants no visible element now.
func (p *Page) Lacks(what string) {
	p.t.Helper()
	if !Eval[bool](p, found+"("+quote(what)+") === null") {
		p.t.Errorf("%s: %s is there", p.Path(), what)
	}
}

// At waits until an address is shown that begins so and has loaded.
func (p *Page) At(path string) {
	p.t.Helper()
	p.until("the address "+path, `document.readyState === "complete" && (location.pathname + location.search).startsWith(`+quote(path)+`)`)
}

// Click clicks into the middle of an element, with a mouse: what covers the element receives the click.
func (p *Page) Click(what string) {
	p.t.Helper()
	p.Has(what)
	at := Eval[[]float64](p, `(e => { e.scrollIntoView({block: 'center'}); const r = e.getClientRects()[0]; return [r.x + r.width / 2, r.y + r.height / 2]; })(`+found+"("+quote(what)+"))")
	p.must(chromedp.Do(p.ctx, chromedp.MouseClickXY(at[0], at[1])))
}

// Follow clicks and waits until another page is there, loaded or put in place by a script.
func (p *Page) Follow(what string) {
	p.t.Helper()
	p.another(what, func() { p.Click(what) })
}

// Enter presses Enter, which sends the form, and waits until another page is there.
func (p *Page) Enter() {
	p.t.Helper()
	p.another("Enter", func() { p.Key(Enter) })
}

func (p *Page) another(what string, do func()) {
	p.t.Helper()
	Eval[bool](p, `document.getElementById('main').before = true`)
	do()
	p.until("another page after "+what, `document.readyState === "complete" && document.getElementById('main')?.before !== true`)
}

// Type replaces what a field holds, key by key.
func (p *Page) Type(field, text string) {
	p.t.Helper()
	p.Has(field)
	Eval[bool](p, "(e => { e.focus(); e.select?.(); return true; })("+found+"("+quote(field)+"))")
	p.Key(text)
}

// Keys without a character.
const (
	Enter  = "\r"
	Escape = "\x1b"
	Tab    = "\t"
	Down   = kb.ArrowDown
)

// Key presses keys, one after the other.
func (p *Page) Key(keys string) {
	p.t.Helper()
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent(keys)))
}

// Leave presses a key that leads to another page, and waits until that is there.
func (p *Page) Leave(key string) {
	p.t.Helper()
	p.another("the key "+key, func() { p.Key(key) })
}

// Ctrl presses a key while Ctrl is held.
func (p *Page) Ctrl(key string) {
	p.t.Helper()
	p.must(chromedp.Do(p.ctx, chromedp.KeyEvent(key, chromedp.KeyModifiers(chromedp.ModifierCtrl))))
}

// SignIn signs in by the form that takes an app key, wherever it is on the page.
func (p *Page) SignIn(key string) {
	p.t.Helper()
	p.Open("/sign-in")
	Eval[bool](p, `(key => { const i = document.querySelector('input[name=app_key]'); i.value = key; i.form.requestSubmit(); return true; })(`+quote(key)+`)`)
	p.until("the first page", `document.readyState === "complete" && location.pathname !== "/sign-in"`)
}

// Cookie sets a cookie.
func (p *Page) Cookie(name, value string) {
	p.t.Helper()
	call(p, network.SetCookie, network.SetCookieParams{Name: name, Value: value, URL: p.Base})
}

// Language chooses a language as the form of the console does.
func (p *Page) Language(lang string) { p.t.Helper(); p.Cookie("lang", lang) }

// frame waits until the page has its fonts and is drawn.
func (p *Page) frame() {
	p.t.Helper()
	Eval[bool](p, `document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true)))))`)
}
