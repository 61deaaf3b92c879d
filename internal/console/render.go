package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"tocsin/internal/api"
	"tocsin/internal/console/locale"
	"tocsin/internal/platform/fault"
)

//go:embed template/*.html
var files embed.FS

// view is what a page shows: a struct that the page's template reads.
type view interface{ title(*visit) string }

// titled is the title of a view that embeds it: a text of the console or a name.
type titled string

func (t titled) title(*visit) string { return string(t) }

// screen is what templates read: the visit and the page's own view.
type screen struct {
	*visit
	View  any
	Title string
	Tab   string
	Body  template.HTML
	Style template.CSS
}

// templates holds all pages, once for each language: translation happens when text is drawn, and the language is known
// then only by which of these draws it. The first page in a language parses them: a server whose console no one opens in it does
// without.
var templates = map[string]func() *template.Template{"en": pagesIn("en"), "zh": pagesIn("zh")}

func pagesIn(lang string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New("").Option("missingkey=error").Funcs(functions(lang)).ParseFS(files, "template/*.html"))
	})
}

func functions(lang string) template.FuncMap {
	return template.FuncMap{
		"t": func(text string, args ...any) string { return locale.Text(lang, text, args...) },
		"tn": func(n any, one, many string, args ...any) string {
			if lang == "en" && fmt.Sprint(n) == "1" {
				many = one
			}
			return locale.Text(lang, many, append([]any{n}, args...)...)
		},
		"icon":    icon,
		"has":     func(list []int64, one int64) bool { return slices.Contains(list, one) },
		"value":   func(n *int64) int64 { return *n },
		"lower":   strings.ToLower,
		"list":    func(items ...any) []any { return items },
		"sub":     func(a, b int64) int64 { return a - b },
		"len64":   func(list any) int64 { return int64(reflect.ValueOf(list).Len()) },
		"div1000": func(ms int64) int64 { return ms / 1000 },
		"plus1":   func(n int) int { return n + 1 },
	}
}

// icon draws an icon of the sprite. It stands beside words, so it is hidden from screen readers.
func icon(name string) template.HTML {
	path := assetPath("icons.svg") + "#" + template.HTMLEscapeString(name)
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="` + path + `"/></svg>`)
}

// render draws a page into the frame of all pages. It is drawn as a whole before any of it is sent.
func (v *visit) render(status int, name, tab string, data view) error {
	s := &screen{visit: v, View: data, Title: data.title(v), Tab: tab}
	set := templates[v.Lang]()
	var body, whole bytes.Buffer
	if err := set.ExecuteTemplate(&body, name+".html", s); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	s.Body = template.HTML(body.String())    // escaped when it was drawn
	s.Style = template.CSS(v.style.String()) // numbers of this package alone
	if err := set.ExecuteTemplate(&whole, "frame.html", s); err != nil {
		return fmt.Errorf("draw the frame of %s: %w", name, err)
	}
	if err := v.Frame.Send(v.w, v.r, v.who, status, whole.Bytes()); err != nil {
		return &api.Refusal{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: v.T("Too many pages have not been read. Try again in a few seconds.")}
	}
	return nil
}

// T returns a text in the visitor's language.
func (v *visit) T(text string, args ...any) string { return locale.Text(v.Lang, text, args...) }

// Asset returns the address of an asset, which changes with its content.
func (v *visit) Asset(name string) string { return assetPath(name) }

// failed is the page of what cannot be shown or done.
type failed struct {
	titled
	Refusal *api.Refusal
}

// fail answers with the page of errors: what failed, the request's id, and the way back.
func (v *visit) fail(err error) {
	refused := api.RefusalOf(err)
	if refused == nil {
		v.Log.Error("console", "page", v.r.Pattern, "error", err) // an address may be a secret
		refused = &api.Refusal{Status: http.StatusInternalServerError, Code: "InternalError",
			Message: v.T("The page could not be drawn. It has been reported.")}
	}
	if fault.KindOf(err) == fault.Unavailable {
		refused = &api.Refusal{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: v.T("The database does not answer. Try again in a few seconds.")}
	}
	if refused.Status == http.StatusServiceUnavailable {
		v.w.Header().Set("Retry-After", "5")
	}
	if err := v.render(refused.Status, "failed", "", failed{titled(v.T("This did not work")), refused}); err != nil {
		v.Log.Error("console", "page", v.r.Pattern, "error", err) // an address may be a secret
		http.Error(v.w, refused.Message, refused.Status)
	}
}
