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
	"tocsin/internal/auth"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/signin"
)

// Service is the console.
type Service struct {
	DB        *db.DB // of sessions alone
	Frame     *api.Frame
	SignIn    *signin.Service
	Clock     clock.Clock
	Log       *slog.Logger
	PublicURL string // address at which people reach the server; empty: not known
	TLS       bool   // the browser reaches the server by HTTPS
	Live      *Live
}

// page is one address that shows something.
type page struct {
	path     string // a pattern of http.ServeMux, without the method
	template string // its name, which is that of its file
	tab      string // the entry of the menu that it belongs to
	show     func(*visit) (view, error)
	needs    rights // without one of them the page would show a form that is refused; none: its operations decide
	open     bool   // for visitors who have not signed in, too
}

// action is one address that a form is sent to.
type action struct {
	path string
	do   func(*visit) (next string, err error) // returns the address to show next; empty: show again, with what was made
	show func(*visit) (view, error)            // shows the page again when do fails; nil: the page of errors
	page string                                // the template of show
	open bool

	needs rights // without one of them nothing is saved whatever is entered; none: the operation decides
}

// Handlers returns the handlers of the console's addresses by pattern.
func (s *Service) Handlers() map[string]http.Handler {
	all := map[string]http.Handler{"GET /assets/{name}": assets()}
	for _, p := range pages() {
		all["GET "+p.path] = s.visited(p.open, func(v *visit) error { return v.showPage(p) })
	}
	all["GET /service-worker.js"] = serviceWorker()
	all["GET /manifest.webmanifest"] = served("application/manifest+json", manifest)
	all["GET /rules/{id}/graph"] = s.visited(false, (*visit).ruleGraph)
	all["GET /live"] = s.visited(false, (*visit).live)
	cross := http.NewCrossOriginProtection()
	all["POST /insight/export"] = cross.Handler(s.visited(false, (*visit).exportInsight))
	for _, a := range actions() {
		all["POST "+a.path] = cross.Handler(s.visited(a.open, func(v *visit) error { return v.act(a) }))
	}
	return all
}

// showPage answers with a page.
func (v *visit) showPage(p page) error {
	if err := v.need(p.needs); err != nil {
		return err
	}
	data, err := p.show(v)
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, templateOf(p.template, data), p.tab, data)
}

// templateOf returns the template of what a page shows: the page's, unless the view has one of its own.
func templateOf(name string, data view) string {
	if own, ok := data.(interface{ page() string }); ok {
		return own.page()
	}
	return name
}

// act does what a form asks for and redirects to what it leads to. What fails is shown on the page that has the form,
// with what was entered.
func (v *visit) act(a action) error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: "The form cannot be read."}
	}
	if do := v.field("do"); do == "" || do == "save" { // what is tried or drawn again changes nothing
		if err := v.need(a.needs); err != nil {
			return err
		}
	}
	next, err := a.do(v)
	if refused := api.RefusalOf(err); refused != nil && a.show != nil {
		if a.open && refused.Status == http.StatusTooManyRequests {
			v.Frame.DelayRefusal(v.w, v.r)
		}
		v.Failure = refused
		data, err := a.show(v)
		if err != nil {
			return err
		}
		return v.render(refused.Status, templateOf(a.page, data), tabOf(a), data)
	}
	if err != nil {
		return err
	}
	if next == "" {
		return v.showPage(page{template: a.page, tab: tabOf(a), show: a.show})
	}
	return moved(next)
}

// rights are permissions of which one is enough, as in api.Op.
type rights []auth.Permission

// The permissions that several pages and actions need.
var (
	manageIncidents = rights{auth.IncidentsManage}
	manageSchedules = rights{auth.SchedulesManage}
)

// need returns the error of a person who has none of the permissions.
func (v *visit) need(one rights) error {
	if v.who.MayAny(one) {
		return nil
	}
	return &api.Refusal{Status: http.StatusForbidden, Code: "AccessDenied", Message: v.T("You lack the permission %s.", v.T(one[0].String()))}
}

// moved is an address to go to instead of what was asked for.
type moved string

func (m moved) Error() string { return "go to " + string(m) }

// maxForm is the largest form, in bytes.
const maxForm = 1 << 20

// tabOf returns the entry of the menu that the page of an action belongs to.
func tabOf(a action) (tab string) {
	for _, p := range pages() {
		if p.template == a.page && (tab == "" || p.path == a.path) {
			tab = p.tab
		}
	}
	return tab
}
