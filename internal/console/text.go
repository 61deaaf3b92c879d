package console

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// languages lists the languages of the console. English text is the key of all others.
var languages = []string{"en", "zh"}

// texts holds the translations: a catalog for each language but English, made when the first page needs it.
var texts = map[string]func() map[string]string{"zh": chinese}

// translate returns a text in a language, with its arguments filled in as fmt.Sprintf does. A text without a translation
// stays English; a test finds those.
func translate(lang, text string, args ...any) string {
	if catalog, ok := texts[lang]; ok {
		text = cmp.Or(catalog()[text], text)
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// language returns the visitor's language: what was chosen on this browser, else the person's own, else what the browser
// asks for.
func (v *visit) language(own string) string {
	for _, wish := range []string{v.cookie("lang"), own, v.r.Header.Get("Accept-Language")} {
		for _, lang := range languages {
			if strings.HasPrefix(strings.ToLower(wish), lang) {
				return lang
			}
		}
	}
	return languages[0]
}

// theme returns what was chosen on this browser: light, dark, or nothing.
func (v *visit) theme() string {
	if theme := v.cookie("theme"); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// Keys reports whether single keys are shortcuts on this browser.
func (v *visit) Keys() bool { return v.cookie("keys") != "off" }

func (v *visit) cookie(name string) string {
	c, err := v.r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// remember keeps a choice on this browser for a year.
func (v *visit) remember(name, value string) {
	http.SetCookie(v.w, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 3600, Secure: v.TLS, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}
