package page

import (
	"net/http"
	"strings"

	"tocsin/internal/api"
)

// Page is one address that shows something.
type Page struct {
	Path     string // a pattern of http.ServeMux, without the method
	Template string // its name, which is that of its file
	Tab      string // the entry of the menu that it belongs to
	Show     func(*Visit) (View, error)
	Needs    Rights // without one of them the page would show a form that is refused; none: its operations decide
	Open     bool   // for visitors who have not signed in, too
}

// Action is one address that a form is sent to.
type Action struct {
	Path     string
	Do       func(*Visit) (next string, err error) // returns the address to show next; empty: show again, with what was made
	Show     func(*Visit) (View, error)            // shows the page again when do fails; nil: the page of errors
	Template string                                // the template of show
	Open     bool

	Needs Rights // without one of them nothing is saved whatever is entered; none: the operation decides
}

// showPage answers with a page.
func (v *Visit) showPage(p Page) error {
	if err := v.need(p.Needs); err != nil {
		return err
	}
	data, err := p.Show(v)
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, templateOf(p.Template, data), p.Tab, data)
}

// templateOf returns the template of what a page shows: the page's, unless the view has one of its own.
func templateOf(name string, data View) string {
	if own, ok := data.(interface{ Template() string }); ok {
		return own.Template()
	}
	return name
}

// act does what a form asks for and redirects to what it leads to. What fails is shown on the page that has the form,
// with what was entered.
func (v *Visit) act(a Action) error {
	v.Request.Body = http.MaxBytesReader(v.Writer, v.Request.Body, MaxForm)
	if err := v.Request.ParseForm(); err != nil {
		return &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: "The form cannot be read."}
	}
	if do := v.Field("do"); do == "" || do == "save" { // what is tried or drawn again changes nothing
		if err := v.need(a.Needs); err != nil {
			return err
		}
	}
	if strings.HasPrefix(v.Field("do"), pick) && a.Show != nil {
		return v.showPage(Page{Template: a.Template, Tab: v.tabOf(a), Show: a.Show})
	}
	next, err := a.Do(v)
	if refused := api.RefusalOf(err); refused != nil && a.Show != nil {
		v.Failure = refused
		data, err := a.Show(v)
		if err != nil {
			return err
		}
		return v.render(refused.Status, templateOf(a.Template, data), v.tabOf(a), data)
	}
	if err != nil {
		return err
	}
	if next == "" {
		return v.showPage(Page{Template: a.Template, Tab: v.tabOf(a), Show: a.Show})
	}
	return Moved(next)
}

// Moved is an address to go to instead of what was asked for.
type Moved string

// Error names the address.
func (m Moved) Error() string { return "go to " + string(m) }

// MaxForm is the largest form, in bytes.
const MaxForm = 1 << 20

// tabOf returns the entry of the menu that the page of an action belongs to.
func (s *Site) tabOf(a Action) (tab string) {
	for _, one := range s.parts {
		for _, p := range one.Pages {
			if p.Template == a.Template && (tab == "" || p.Path == a.Path) {
				tab = p.Tab
			}
		}
	}
	return tab
}
