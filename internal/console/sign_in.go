package console

import (
	"net/http"
	"net/netip"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/session"
)

var signInPages = []page{{path: "/sign-in", template: "sign_in", show: showSignIn, open: true}}

var signInActions = []action{
	{path: "/sign-in", do: signIn, show: showSignIn, page: "sign_in", open: true},
	{path: "/sign-out", do: signOut},
	{path: "/look", do: look, open: true},
}

type signInView struct {
	titled
	Next string
}

func showSignIn(v *visit) (view, error) {
	next := v.query("next")
	if v.r.Method == http.MethodPost {
		next = v.field("next")
	}
	return signInView{titled(v.T("Sign in")), local(next)}, nil
}

// signIn begins a session with an app key. Guessing is limited as it is for the API, and shares that limit.
func signIn(v *visit) (string, error) {
	refuse := &api.Refusal{
		Status: http.StatusUnauthorized, Code: "Unauthorized", Message: v.T("This app key is unknown, disabled or expired."),
	}
	who, err := v.Frame.Keys.Find(v.ctx, v.field("app_key"))
	if fault.KindOf(err) == fault.Unauthorized {
		address, _ := netip.ParseAddr(v.Frame.ClientIP(v.r))
		if allowed := v.Frame.Guesses.Allow(ratelimit.Network(address), v.Now); !allowed.OK {
			refuse.Status, refuse.Message = http.StatusTooManyRequests, v.T("Too many attempts from this address. Wait a minute.")
		}
		return "", refuse
	}
	if err != nil {
		return "", err
	}
	return local(v.field("next")), v.begin(who, session.ByAppKey)
}

// begin starts a session for a person and puts its secret into the browser.
func (v *visit) begin(who auth.Principal, way string) error {
	var secret string
	err := v.DB.Write(v.ctx, func(tx *db.Tx) (err error) {
		secret, err = session.Begin(tx, session.Session{
			AccountID: who.AccountID, PersonID: who.PersonID, Way: way, KeyID: who.KeyID, IP: v.Frame.ClientIP(v.r),
			Agent: strings.ToValidUTF8(v.r.UserAgent(), ""),
		}, v.Now)
		return err
	})
	if err != nil {
		return err
	}
	http.SetCookie(v.w, v.sessionCookie(secret, int(session.Longest.Seconds())))
	return nil
}

// signOut ends the session in every tab.
func signOut(v *visit) (string, error) {
	http.SetCookie(v.w, v.sessionCookie("", -1))
	return "/sign-in", v.DB.Write(v.ctx, func(tx *db.Tx) error { return session.End(tx, v.session.AccountID, v.session.ID) })
}

func (v *visit) sessionCookie(value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: v.cookieName(), Value: value, Path: "/", MaxAge: maxAge, Secure: v.TLS, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// cookieName returns the name of the session's cookie. Browsers accept the prefix __Host- over HTTPS alone; it keeps
// other hosts of the same domain from setting the cookie.
func (v *visit) cookieName() string {
	if v.TLS {
		return "__Host-tocsin"
	}
	return "tocsin"
}

// look changes the language, the theme and the keys of this browser.
func look(v *visit) (string, error) {
	for _, name := range []string{"lang", "theme", "keys"} {
		if value, sent := v.r.PostForm[name]; sent {
			v.remember(name, value[0])
		}
	}
	return local(v.field("next")), nil
}
