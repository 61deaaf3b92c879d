// Package page is what every page of the console stands on: the visit of a browser with the calls that it may make, how pages and
// forms are registered, drawn and translated, and what several of them show alike. It must never read a table itself but sessions, and
// must never know of a part of the console.
package page

import (
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/console/live"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/signin"
)

// Site is what every page stands on.
type Site struct {
	DB        *db.DB // of sessions alone
	Frame     *api.Frame
	SignIn    *signin.Service
	Clock     clock.Clock
	Log       *slog.Logger
	PublicURL string // address at which people reach the server; empty: not known
	TLS       bool   // the browser reaches the server by HTTPS
	Live      *live.Live

	parts     []Part
	worst     worst
	templates map[string]func() *template.Template
}

// Part is pages and forms that belong together.
type Part struct {
	Pages     []Page
	Actions   []Action
	Others    []Other
	Functions template.FuncMap // that the part's templates call; one that needs the visit has it as its first argument
}

// Other is an address that answers with something else than a page.
type Other struct {
	Pattern string // of http.ServeMux, with the method
	Do      func(*Visit) error
}

// Handlers returns the handlers of the addresses of parts by pattern. Their templates are in files.
func (s *Site) Handlers(files fs.FS, parts []Part) map[string]http.Handler {
	s.parts = parts
	s.templates = templatesOf(files, parts)
	all := map[string]http.Handler{}
	cross := http.NewCrossOriginProtection()
	for _, one := range parts {
		for _, p := range one.Pages {
			all["GET "+p.Path] = s.visited(p.Open, func(v *Visit) error { return v.showPage(p) })
		}
		for _, a := range one.Actions {
			all["POST "+a.Path] = cross.Handler(s.visited(a.Open, func(v *Visit) error { return v.act(a) }))
		}
		for _, a := range one.Others { // the protection lets every GET pass
			all[a.Pattern] = cross.Handler(s.visited(false, a.Do))
		}
	}
	return all
}
