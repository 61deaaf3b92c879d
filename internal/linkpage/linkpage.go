// Package linkpage is the frame of the pages that signed links in messages open: their layout, the headers of the reply,
// the status of a refusal, and what a request may do.
//
// A page changes nothing on GET, because mail programs open links before people do. It must never be kept, indexed or
// framed, load anything, or send its address, which is a secret, to another site. It must never know what a page is about.
package linkpage

import (
	"cmp"
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
)

//go:embed frame.html
var frame embed.FS

// maxForm bounds what a button of a page sends, in bytes.
const maxForm = 4096

// NoAction is the problem of a request whose button the page does not have.
const NoAction = "the page sent no action that can be done"

// Page serves what a link opens. V holds what the page shows.
type Page[V any] struct {
	Body   *template.Template                       // of Parse
	Answer func(*http.Request) (status int, view V) // does what the pressed button is for
	Brief  func(V) any                              // what a program that asks for JSON gets; nil: the page
	Log    *slog.Logger
}

// Parse returns the body of a page: a file with the templates "title" and "main". They may use the template "problem",
// which shows the member Problem of a view. Parse panics if the file cannot be parsed.
func Parse(files fs.FS, name string) *template.Template {
	return template.Must(template.Must(template.ParseFS(frame, "frame.html")).ParseFS(files, name))
}

// ServeHTTP answers a request for the page.
func (p *Page[V]) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	req.Body = http.MaxBytesReader(w, req.Body, maxForm)
	status, view := p.Answer(req)
	brief := p.Brief != nil && strings.HasPrefix(req.Header.Get("Accept"), "application/json")
	if brief {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	api.SetRetry(h, status)
	w.WriteHeader(status)
	if brief {
		_ = json.MarshalWrite(w, p.Brief(view)) // a failure means that the browser is gone
		return
	}
	if err := p.Body.ExecuteTemplate(w, "page", view); err != nil {
		p.Log.Error("page of a link", "page", req.Pattern, "error", err)
	}
}

// statuses are those of the errors that the reader of a page can understand.
var statuses = map[fault.Kind]int{
	fault.NotFound: http.StatusNotFound, fault.AccessDenied: http.StatusForbidden, fault.Conflict: http.StatusConflict,
	fault.InvalidParameter: http.StatusBadRequest, fault.TooFrequent: http.StatusTooManyRequests,
	fault.Unavailable: http.StatusServiceUnavailable,
}

// Refused returns the status and the problem of an error that the reader of the page can understand; ok is false for
// another error.
func Refused(err error) (status int, problem string, ok bool) {
	var f *fault.Error
	if !errors.As(err, &f) || statuses[f.Kind] == 0 {
		return 0, "", false
	}
	return statuses[f.Kind], f.Message, true
}

// Status returns the status of an error whose text the page does not show.
func Status(err error) int {
	return cmp.Or(statuses[fault.KindOf(err)], http.StatusInternalServerError)
}
