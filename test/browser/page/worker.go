package page

import (
	"context"
	"sync"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Manifest returns what is wrong with the manifest of the page, as Chromium reads it, and with its being installed.
func (p *Page) Manifest() (wrong []string) {
	p.t.Helper()
	read := call(p, page.GetAppManifest, page.GetAppManifestParams{})
	if read.Data == "" {
		wrong = append(wrong, "there is no manifest")
	}
	for _, e := range read.Errors {
		wrong = append(wrong, e.Message)
	}
	for _, e := range call(p, page.GetInstallabilityErrors, cdp.Empty{}).InstallabilityErrors {
		if e.ErrorID != "in-incognito" { // as every page of a test is
			wrong = append(wrong, e.ErrorID)
		}
	}
	return wrong
}

// Controlled waits for the service worker, and loads the page again, so that it comes through the worker.
func (p *Page) Controlled() {
	p.t.Helper()
	p.until("a service worker", `navigator.serviceWorker.ready.then(r => r.active.state === 'activated')`)
	p.Open(p.Path())
	p.until("a page of the service worker", `navigator.serviceWorker.controller !== null`)
}

// Notify lets the page show notifications.
func (p *Page) Notify() {
	p.t.Helper()
	c := chromedp.FromContext(p.ctx)
	_, err := cdp.Call(p.ctx, c.Browser, browser.SetPermission, browser.SetPermissionParams{
		Permission: &browser.PermissionDescriptor{Name: "notifications"}, Setting: "granted", Origin: p.Base, BrowserContextID: c.BrowserContextID,
	})
	p.must(err)
}

// Push sends a message to the service worker of the page, as a push service does.
func (p *Page) Push(message string) {
	p.t.Helper()
	var mu sync.Mutex
	var id serviceworker.RegistrationID
	found := make(chan struct{}, 1)
	p.must(chromedp.Listen(p.ctx, func(event any) {
		e, ok := event.(*serviceworker.EventWorkerRegistrationUpdated)
		if !ok || len(e.Registrations) == 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		id = e.Registrations[0].RegistrationID
		select {
		case found <- struct{}{}:
		default:
		}
	}))
	call(p, serviceworker.Enable, cdp.Empty{})
	<-found
	mu.Lock()
	defer mu.Unlock()
	call(p, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: p.Base, RegistrationID: id, Data: message})
}

// InWorker evaluates an expression in the service worker of the page.
func (p *Page) InWorker(expression string) string {
	p.t.Helper()
	ctx, end := chromedp.NewContext(p.ctx, chromedp.WithTargetID(p.worker()))
	defer end()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	text, err := chromedp.Run(limited, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	p.must(err)
	return text
}

// worker returns the service worker of the page. One that has nothing to do is stopped after a while; a message wakes it.
func (p *Page) worker() target.ID {
	p.t.Helper()
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(50 * time.Millisecond) {
		Eval[bool](p, `navigator.serviceWorker.ready.then(r => { r.active.postMessage('wake'); return true; })`)
		all, err := chromedp.Targets(p.ctx)
		p.must(err)
		for _, t := range all {
			if t.Type == "service_worker" && t.URL == p.Base+"/service-worker.js" {
				return t.TargetID
			}
		}
	}
	p.t.Fatalf("there is no service worker")
	return ""
}
