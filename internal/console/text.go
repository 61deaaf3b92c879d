package console

import (
	"net/http"
	"strings"

	"tocsin/internal/console/locale"
)

// language returns the visitor's language: what was chosen on this browser, else the person's own, else what the browser
// asks for.
func (v *visit) language(own string) string {
	for _, wish := range []string{v.cookie("lang"), own, v.r.Header.Get("Accept-Language")} {
		for _, lang := range locale.Languages() {
			if strings.HasPrefix(strings.ToLower(wish), lang) {
				return lang
			}
		}
	}
	return locale.Languages()[0]
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
