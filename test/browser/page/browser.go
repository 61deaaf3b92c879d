// Package page drives a real Chromium: one Browser, and in it any number of pages, each with cookies of its own.
//
// It must know nothing of the console but the names of the cookies for its language and theme.
package page

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Reporter is what a page needs of a test: Fatalf does not return.
type Reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context
	end func()
}

// patience bounds how long a page waits for anything, so that a broken page fails its test instead of hanging it.
const patience = 20 * time.Second

// The names of Chromium. The shell has no windows, which take half the processor time of a test, and no notifications.
var (
	shell = []string{"chromium-headless-shell"}
	whole = []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"}
)

// Find returns the path of Chromium: the environment variable CHROMIUM, else the shell, else the first whole one that is
// installed; empty: none is.
func Find() string { return first(slices.Concat(shell, whole)) }

// FindWhole is Find without the shell, for pages that notify or are installed.
func FindWhole() string { return first(whole) }

func first(names []string) string {
	for _, name := range append([]string{os.Getenv("CHROMIUM")}, names...) {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// Start starts Chromium with an empty profile.
func Start(path string) (*Browser, error) {
	flags := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path),
		chromedp.Flag("no-sandbox", os.Geteuid() == 0), // root cannot have one
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("hide-scrollbars", true), chromedp.Flag("lang", "en-US"),
		chromedp.Flag("js-flags", "--no-opt --no-maglev"), // to optimise a script takes longer than it then runs on one page
	}
	ctx, end := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(flags...))
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return &Browser{ctx, end}, nil
}

// Close ends Chromium.
func (b *Browser) Close() { b.end() }

// Page is a tab. The methods that fail end the test.
type Page struct {
	Base string // of addresses
	t    Reporter
	ctx  context.Context
	end  func()

	mu       sync.Mutex
	messages []string
}

// New opens an empty page, 1360 pixels wide, with cookies of its own. base is what addresses are relative to.
func (b *Browser) New(t Reporter, base string) *Page {
	t.Helper()
	return open(t, base, b.ctx, chromedp.WithNewBrowserContext())
}

// Tab opens another tab with the same cookies.
func (p *Page) Tab() *Page {
	p.t.Helper()
	return open(p.t, p.Base, p.ctx)
}

func open(t Reporter, base string, parent context.Context, options ...chromedp.ContextOption) *Page {
	t.Helper()
	p := &Page{Base: base, t: t}
	p.ctx, p.end = chromedp.NewContext(parent, options...)
	p.must(chromedp.Listen(p.ctx, p.listen))
	p.Size(1360, 900)
	return p
}

// Close closes the tab.
func (p *Page) Close() { p.end() }

func (p *Page) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatalf("%v", err)
	}
}

// listen keeps what the page writes to the console.
func (p *Page) listen(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		for _, a := range e.Args {
			text += " " + string(a.Value) + a.Description
		}
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelVerbose || e.Entry.Level == log.EntryLevelInfo { // advice to developers
			return
		}
		text = e.Entry.Text + " " + e.Entry.URL
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = append(p.messages, strings.TrimSpace(text))
}

// Messages returns what the page has written to the console since the last call: scripts that failed, what the
// content security policy refused, requests that were answered with an error.
func (p *Page) Messages() []string {
	p.t.Helper()
	Eval[int](p, "0") // messages from before its answer have arrived
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.messages
	p.messages = nil
	return said
}

// Quiet wants nothing written to the console since the last call, except messages that contain one of the texts.
func (p *Page) Quiet(except ...string) {
	p.t.Helper()
messages:
	for _, m := range p.Messages() {
		for _, e := range except {
			if strings.Contains(m, e) {
				continue messages
			}
		}
		p.t.Errorf("%s: the console says: %s", p.Path(), m)
	}
}

// call sends a command of the protocol.
func call[P, R any](p *Page, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, end := context.WithTimeout(p.ctx, patience)
	defer end()
	reply, err := chromedp.Call(ctx, command, params)
	p.must(err)
	return reply
}
