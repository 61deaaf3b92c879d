package page

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"tocsin/internal/api"
	"tocsin/internal/console/asset"
	"tocsin/internal/console/locale"
	"tocsin/internal/platform/fault"
)

// View is what a page shows: a struct that the page's template reads.
type View interface{ Title(*Visit) string }

// Titled is the title of a view that embeds it: a text of the console or a name.
type Titled string

// Title returns the title.
func (t Titled) Title(*Visit) string { return string(t) }

// screen is what templates read: the visit and the page's own view.
type screen struct {
	*Visit
	View  any
	Title string
	Tab   string
	Body  template.HTML
	Style template.CSS
}

// templatesOf returns all pages, once for each language: translation happens when text is drawn, and the language is known
// then only by which of these draws it. The first page in a language parses them: a server whose console no one opens in it does
// without.
func templatesOf(files fs.FS, parts []Part) map[string]func() *template.Template {
	all := map[string]func() *template.Template{}
	for _, lang := range locale.Languages() {
		all[lang] = sync.OnceValue(func() *template.Template {
			set := template.New("").Option("missingkey=error").Funcs(functions(lang))
			for _, one := range parts {
				set.Funcs(one.Functions)
			}
			return template.Must(set.ParseFS(files, "template/*.html"))
		})
	}
	return all
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
		"moment":  momentInput,
		"clock":   clockInput,
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
	path := asset.Path("icons.svg") + "#" + template.HTMLEscapeString(name)
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="` + path + `"/></svg>`)
}

// render draws a page into the frame of all pages. It is drawn as a whole before any of it is sent.
func (v *Visit) render(status int, name, tab string, data View) error {
	s := &screen{Visit: v, View: data, Title: data.Title(v), Tab: tab}
	set := v.templates[v.Lang]()
	var body, whole bytes.Buffer
	if err := set.ExecuteTemplate(&body, name+".html", s); err != nil {
		return fmt.Errorf("draw %s: %w", name, err)
	}
	s.Body = template.HTML(body.String()) // escaped when it was drawn
	s.Style = v.Placed.CSS()
	if err := set.ExecuteTemplate(&whole, "frame.html", s); err != nil {
		return fmt.Errorf("draw the frame of %s: %w", name, err)
	}
	if err := v.Frame.Send(v.Writer, v.Request, v.Who, status, whole.Bytes()); err != nil {
		return &api.Refusal{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: v.T("Too many pages have not been read. Try again in a few seconds.")}
	}
	return nil
}

// Asset returns the address of an asset, which changes with its content.
func (v *Visit) Asset(name string) string { return asset.Path(name) }

// failed is the page of what cannot be shown or done.
type failed struct {
	Titled
	Refusal *api.Refusal
}

// fail answers with the page of errors: what failed, the request's id, and the way back.
func (v *Visit) fail(err error) {
	refused := api.RefusalOf(err)
	if refused == nil {
		v.Log.Error("console", "page", v.Request.Pattern, "error", err) // an address may be a secret
		refused = &api.Refusal{Status: http.StatusInternalServerError, Code: "InternalError",
			Message: v.T("The page could not be drawn. It has been reported.")}
	}
	if fault.KindOf(err) == fault.Unavailable {
		refused = &api.Refusal{Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: v.T("The database does not answer. Try again in a few seconds.")}
	}
	if refused.Status == http.StatusServiceUnavailable {
		v.Writer.Header().Set("Retry-After", "5")
	}
	if err := v.render(refused.Status, "failed", "", failed{Titled(v.T("This did not work")), refused}); err != nil {
		v.Log.Error("console", "page", v.Request.Pattern, "error", err) // an address may be a secret
		http.Error(v.Writer, refused.Message, refused.Status)
	}
}
