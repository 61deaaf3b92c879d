package page

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"tocsin/internal/console/locale"
)

// language returns the visitor's language: what was chosen on this browser, else the person's own, else what the browser
// asks for.
func (v *Visit) language(own string) string {
	for _, wish := range []string{v.Cookie("lang"), own, v.Request.Header.Get("Accept-Language")} {
		for _, lang := range locale.Languages() {
			if strings.HasPrefix(strings.ToLower(wish), lang) {
				return lang
			}
		}
	}
	return locale.Languages()[0]
}

// theme returns what was chosen on this browser: light, dark, or nothing.
func (v *Visit) theme() string {
	if theme := v.Cookie("theme"); theme == "light" || theme == "dark" {
		return theme
	}
	return ""
}

// Keys reports whether single keys are shortcuts on this browser.
func (v *Visit) Keys() bool { return v.Cookie("keys") != "off" }

// Cookie returns what the browser has in a cookie of a full name; empty: nothing.
func (v *Visit) Cookie(name string) string {
	c, err := v.Request.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// Remember keeps a choice on this browser for a year.
func (v *Visit) Remember(name, value string) {
	http.SetCookie(v.Writer, &http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: 365 * 24 * 3600, Secure: v.TLS, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// Indented returns a JSON text for people, and any other text as it is.
func Indented(text string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(text), "", "  ") != nil {
		return text
	}
	return out.String()
}
