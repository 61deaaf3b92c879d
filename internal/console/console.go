// Package console serves the web console: pages that show who is on call, what burns and why, and forms that act on it.
//
// A page receives all its data from the operations of the API, called for the person who signed in, so that the console
// can show and do nothing that the API cannot. It must never read a table itself, and never need a script: scripts only
// shorten the way.
package console

import (
	"log/slog"
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// Service is the console.
type Service struct {
	DB    *db.DB // of sessions alone
	Frame *api.Frame
	Clock clock.Clock
	Log   *slog.Logger
	TLS   bool // the browser reaches the server by HTTPS
}

// page is one address that shows something.
type page struct {
	path     string // a pattern of http.ServeMux, without the method
	template string // its name, which is that of its file
	tab      string // the entry of the menu that it belongs to
	show     func(*visit) (view, error)
	open     bool // for whoever has not signed in, too
}

// action is one address that a form is sent to.
type action struct {
	path string
	do   func(*visit) (next string, err error) // returns the address to show next; empty: show again, with what was made
	show func(*visit) (view, error)            // shows the page again when do fails; nil: the page of errors
	page string                                // the template of show
	open bool
}

// Handlers returns the handlers of the console's addresses by pattern.
func (s *Service) Handlers() map[string]http.Handler {
	all := map[string]http.Handler{"GET /assets/{name}": assets()}
	for _, p := range pages() {
		all["GET "+p.path] = s.visited(p.open, func(v *visit) error { return v.showPage(p) })
	}
	cross := http.NewCrossOriginProtection()
	for _, a := range actions() {
		all["POST "+a.path] = cross.Handler(s.visited(a.open, func(v *visit) error { return v.act(a) }))
	}
	return all
}

// showPage answers with a page.
func (v *visit) showPage(p page) error {
	data, err := p.show(v)
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, p.template, p.tab, data)
}

// act does what a form asks for and redirects to what it leads to. What fails is shown on the page that has the form,
// with what was entered.
func (v *visit) act(a action) error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: "The form cannot be read."}
	}
	next, err := a.do(v)
	if refused := api.RefusalOf(err); refused != nil && a.show != nil {
		v.Failure = refused
		data, err := a.show(v)
		if err != nil {
			return err
		}
		return v.render(refused.Status, a.page, tabOf(a.page), data)
	}
	if err != nil {
		return err
	}
	if next == "" {
		return v.showPage(page{template: a.page, tab: tabOf(a.page), show: a.show})
	}
	http.Redirect(v.w, v.r, next, http.StatusSeeOther)
	return nil
}

// maxForm is the largest form, in bytes.
const maxForm = 1 << 20

func tabOf(template string) string {
	for _, p := range pages() {
		if p.template == template {
			return p.tab
		}
	}
	return ""
}
