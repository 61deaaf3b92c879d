package console

import (
	"errors"
	"net/http"
	"net/netip"

	"tocsin/internal/api"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

var signInPages = []page{
	{path: "/sign-in", template: "sign_in", show: showSignIn, open: true},
	{path: "/sign-in/code", template: "sign_in_code", show: showCode, open: true},
}

var signInActions = []action{
	{path: "/sign-in", do: signIn, show: showSignIn, page: "sign_in", open: true},
	{path: "/sign-in/code", do: enterCode, show: showCode, page: "sign_in_code", open: true},
	{path: "/sign-out", do: signOut},
	{path: "/look", do: look, open: true},
}

type signInView struct {
	titled
	Next  string
	Email string
	ByKey bool // the app key was wrong: its form is open
}

func showSignIn(v *visit) (view, error) {
	d := signInView{titled: titled(v.T("Sign in")), Next: local(v.query("next"))}
	if v.r.Method == http.MethodPost {
		d.Next = local(v.field("next"))
		d.Email = v.field("email")
		d.ByKey = v.field("app_key") != ""
	}
	return d, nil
}

// signIn begins a session with a password or an app key, whichever was entered.
func signIn(v *visit) (string, error) {
	next := local(v.field("next"))
	if key := v.field("app_key"); key != "" {
		return next, v.signInByKey(key)
	}
	email := v.field("email")
	p, err := v.SignIn.Password(v.ctx, signin.Attempt{
		Email: email, Password: v.r.PostFormValue("password"), IP: v.client().IP, Device: v.cookie(v.cookieName("known")),
	}, v.Now)
	if err != nil {
		return "", v.refused(err)
	}
	known, err := v.SignIn.Known(email)
	if err != nil {
		return "", err
	}
	v.put("known", known, 365*24*3600)
	return v.admit(p, next)
}

// signInByKey begins a session with an app key. Guessing is limited as it is for the API, and shares that limit.
func (v *visit) signInByKey(key string) error {
	who, err := v.Frame.Keys.Find(v.ctx, key)
	if fault.KindOf(err) == fault.Unauthorized {
		address, _ := netip.ParseAddr(v.client().IP)
		if allowed := v.Frame.Guesses.Allow(ratelimit.Network(address), v.Now); !allowed.OK {
			return v.refused(signin.ErrTooMany)
		}
		return &api.Refusal{
			Status: http.StatusUnauthorized, Code: "Unauthorized", Message: v.T("This app key is unknown, disabled or expired."),
		}
	}
	if err != nil {
		return err
	}
	secret, err := v.SignIn.BeginWithKey(v.ctx, who, v.client(), v.session, v.Now)
	v.begun(secret, err)
	return err
}

// admit begins a session for a person who has passed, or asks for a code first. It returns the address to go on to.
func (v *visit) admit(p signin.Passed, next string) (string, error) {
	if p.Second {
		pending, err := v.SignIn.Pend(p, next, v.Now)
		if err != nil {
			return "", err
		}
		v.put("second", pending, int(signin.PendingLasts.Seconds()))
		return "/sign-in/code", nil
	}
	secret, err := v.SignIn.Begin(v.ctx, p, v.client(), v.session, v.Now)
	v.begun(secret, err)
	return next, v.refused(err)
}

// begun puts the secret of a new session into the browser.
func (v *visit) begun(secret string, err error) {
	if err == nil {
		v.put("", secret, int(session.Longest.Seconds()))
	}
}

type codeView struct{ titled }

func showCode(v *visit) (view, error) {
	if v.cookie(v.cookieName("second")) == "" {
		return nil, moved("/sign-in")
	}
	return codeView{titled(v.T("Enter a code"))}, nil
}

// enterCode completes a sign-in with a code.
func enterCode(v *visit) (string, error) {
	p, next, err := v.SignIn.Second(v.ctx, v.cookie(v.cookieName("second")), v.field("code"), v.client(), v.Now)
	if errors.Is(err, signin.ErrWrong) {
		return "", &api.Refusal{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: v.T("This code is wrong or was used.")}
	}
	if errors.Is(err, signin.ErrEnded) {
		v.put("second", "", -1)
		return "/sign-in", nil
	}
	if err != nil {
		return "", v.refused(err)
	}
	v.put("second", "", -1)
	return v.admit(p, local(next))
}

// refused returns what the person reads of a sign-in that was refused. Other errors stay as they are.
func (v *visit) refused(err error) error {
	switch {
	case errors.Is(err, signin.ErrWrong):
		return &api.Refusal{
			Status: http.StatusUnauthorized, Code: "Unauthorized",
			Message: v.T("The e-mail address or the password is wrong."),
		}
	case errors.Is(err, signin.ErrTooMany):
		return &api.Refusal{
			Status: http.StatusTooManyRequests, Code: "RequestTooFrequently",
			Message: v.T("Too many attempts. Wait a minute."),
		}
	case errors.Is(err, signin.ErrBusy):
		return &api.Refusal{
			Status: http.StatusServiceUnavailable, Code: "ServiceUnavailable",
			Message: v.T("Many people sign in at this moment. Try again."),
		}
	case errors.Is(err, signin.ErrEnded):
		return &api.Refusal{
			Status: http.StatusNotFound, Code: "ResourceNotFound",
			Message: v.T("This link was used, has ended or is unknown. Ask the owner of the account for a new one."),
		}
	}
	return err
}

// signOut ends the session in every tab.
func signOut(v *visit) (string, error) {
	v.put("", "", -1)
	return "/sign-in", v.SignIn.End(v.ctx, v.session, v.client(), v.Now)
}

// client returns where the request comes from.
func (v *visit) client() signin.Client {
	return signin.Client{IP: v.Frame.ClientIP(v.r), Agent: v.r.UserAgent(), Zone: v.cookie("tocsin-zone")}
}

// put keeps a secret in the browser, for seconds; a negative number removes it.
func (v *visit) put(name, value string, seconds int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: v.cookieName(name), Value: value, Path: "/", MaxAge: seconds, Secure: v.TLS, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// cookieName returns the name of a cookie; an empty name is that of the session's. Browsers accept the prefix __Host-
// over HTTPS alone; it keeps other hosts of the same domain from setting the cookie.
func (v *visit) cookieName(name string) string {
	full := "tocsin"
	if name != "" {
		full += "-" + name
	}
	if v.TLS {
		return "__Host-" + full
	}
	return full
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
