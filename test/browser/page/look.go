package page

import (
	"context"
	_ "embed"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// Size sets the size of the window, in pixels.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(width), Height: int64(height), DeviceScaleFactor: 1, Mobile: width < 600,
	})
}

// Phone makes the window that of a phone.
func (p *Page) Phone() { p.t.Helper(); p.Size(390, 844) }

// Dark makes the browser prefer dark colours, or light ones.
func (p *Page) Dark(dark bool) {
	p.t.Helper()
	p.prefer("prefers-color-scheme", map[bool]string{true: "dark", false: "light"}[dark])
}

// ForcedColors makes the browser replace the page's colours by the reader's.
func (p *Page) ForcedColors() { p.t.Helper(); p.prefer("forced-colors", "active") } //nolint:misspell // its name in CSS

func (p *Page) prefer(feature, value string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
}

// Zone sets the browser's time zone.
func (p *Page) Zone(name string) {
	p.t.Helper()
	call(p, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
}

// NoScript switches the scripts of pages off.
func (p *Page) NoScript() {
	p.t.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Offline cuts the network for new requests, or connects it again. A stream that is open stays so until the server ends it.
func (p *Page) Offline(cut bool) {
	p.t.Helper()
	call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1}},
	})
	call(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: cut, DownloadThroughput: -1, UploadThroughput: -1})
}

// TextSize sets the size of all text that has no size in pixels of its own, in percent.
func (p *Page) TextSize(percent int) {
	p.t.Helper()
	Eval[bool](p, "(document.documentElement.style.fontSize = '"+strconv.Itoa(percent)+"%', true)")
}

// Sideways returns by how many pixels the page must be scrolled sideways, and the elements that reach out furthest.
func (p *Page) Sideways() (int, string) {
	p.t.Helper()
	over := Eval[int](p, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - document.documentElement.clientWidth`)
	if over <= 0 {
		return 0, ""
	}
	return over, Eval[string](p, `(() => {
		const wide = document.documentElement.clientWidth, inside = e => { for (let q = e.parentElement; q && q !== document.body; q = q.parentElement) if (getComputedStyle(q).overflowX !== 'visible') return true; };
		return [...document.body.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > wide + 0.5 && !inside(e))
			.slice(-4).map(e => e.outerHTML.slice(0, 150).replace(/\s+/g, ' ')).join('\n    ');
	})()`)
}

// Shot draws the page as a whole, or what the window shows of it, into a PNG file.
func (p *Page) Shot(file string, whole bool) {
	p.t.Helper()
	p.frame()
	size := Eval[[]float64](p, "[innerWidth, Math.max(innerHeight, document.documentElement.scrollHeight)]")
	width, height := size[0], math.Min(size[1], 6000)
	if whole { // what is fixed to the window's edge is drawn once, at the end of the page
		p.Size(int(width), int(height))
		p.frame()
	}
	ctx, end := context.WithTimeout(p.ctx, 2*patience)
	defer end()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	p.must(err)
	p.must(os.WriteFile(file, picture, 0o644))
}

//go:embed axe.min.js
var axe string

// Axe returns what axe-core finds wrong with the page: a line for each rule, with the first elements that break it.
// rules names the only ones to check; none: those of WCAG 2.2 to level AA and of good practice.
// The style sheets are not loaded again (preload): only an experimental rule, which is not checked, reads them.
func (p *Page) Axe(rules ...string) []string {
	p.t.Helper()
	if Eval[bool](p, "window.axe === undefined") {
		Eval[bool](p, axe+"; true")
	}
	only := `{type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}`
	if len(rules) > 0 {
		only = `{type: 'rule', values: ["` + strings.Join(rules, `","`) + `"]}`
	}
	return Eval[[]string](p, `axe.run(document, {preload: false, resultTypes: ['violations'], runOnly: `+only+`}).then(found => found.violations.map(v =>
		v.id + ': ' + v.help + v.nodes.slice(0, 3).map(n => '\n    ' + n.html.slice(0, 200) + (n.any[0] ? ' (' + n.any[0].message + ')' : '')).join('')))`)
}
