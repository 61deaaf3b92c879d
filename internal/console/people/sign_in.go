package people

import (
	"errors"
	"net/http"
	"net/netip"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

var signInPages = []page.Page{
	{Path: "/sign-in", Template: "sign_in", Show: showSignIn, Open: true},
	{Path: "/sign-in/code", Template: "sign_in_code", Show: showCode, Open: true},
}

var signInActions = []page.Action{
	{Path: "/sign-in", Do: signIn, Show: showSignIn, Template: "sign_in", Open: true},
	{Path: "/sign-in/code", Do: enterCode, Show: showCode, Template: "sign_in_code", Open: true},
	{Path: "/sign-out", Do: signOut},
	{Path: "/look", Do: look, Open: true},
}

type signInView struct {
	page.Titled
	Next  string
	Email string
	ByKey bool // the app key was wrong: its form is open
}

func showSignIn(v *page.Visit) (page.View, error) {
	d := signInView{Titled: page.Titled(v.T("Sign in")), Next: page.LocalPath(v.Query("next"))}
	if v.Request.Method == http.MethodPost {
		d.Next = page.LocalPath(v.Field("next"))
		d.Email = v.Field("email")
		d.ByKey = v.Field("app_key") != ""
	}
	return d, nil
}

// signIn begins a session with a password or an app key, whichever was entered.
func signIn(v *page.Visit) (string, error) {
	next := page.LocalPath(v.Field("next"))
	if key := v.Field("app_key"); key != "" {
		return next, signInByKey(v, key)
	}
	email := v.Field("email")
	p, err := v.SignIn.Password(v.Context, signin.Attempt{
		Email: email, Password: v.Request.PostFormValue("password"), IP: v.Client().IP, Device: v.Cookie(v.CookieName("known")),
	}, v.Now)
	if err != nil {
		return "", refused(v, err)
	}
	known, err := v.SignIn.Known(email)
	if err != nil {
		return "", err
	}
	v.Put("known", known, 365*24*3600)
	return admit(v, p, next)
}

// signInByKey begins a session with an app key. Guessing is limited as it is for the API, and shares that limit.
func signInByKey(v *page.Visit, key string) error {
	who, err := v.Frame.Keys.Find(v.Context, key)
	if fault.KindOf(err) == fault.Unauthorized {
		address, _ := netip.ParseAddr(v.Client().IP)
		if allowed := v.Frame.Guesses.Allow(ratelimit.Network(address), v.Now); !allowed.OK {
			return refused(v, signin.ErrTooMany)
		}
		return &api.Refusal{
			Status: http.StatusUnauthorized, Code: "Unauthorized", Message: v.T("This app key is unknown, disabled or expired."),
		}
	}
	if err != nil {
		return err
	}
	secret, err := v.SignIn.BeginWithKey(v.Context, who, v.Client(), v.Session, v.Now)
	begun(v, secret, err)
	return err
}

// admit begins a session for a person who has passed, or asks for a code first. It returns the address to go on to.
func admit(v *page.Visit, p signin.Passed, next string) (string, error) {
	if p.Second {
		pending, err := v.SignIn.Pend(p, next, v.Now)
		if err != nil {
			return "", err
		}
		v.Put("second", pending, int(signin.PendingLasts.Seconds()))
		return "/sign-in/code", nil
	}
	secret, err := v.SignIn.Begin(v.Context, p, v.Client(), v.Session, v.Now)
	begun(v, secret, err)
	return next, refused(v, err)
}

// begun puts the secret of a new session into the browser.
func begun(v *page.Visit, secret string, err error) {
	if err == nil {
		v.Put("", secret, int(session.Longest.Seconds()))
	}
}

type codeView struct{ page.Titled }

func showCode(v *page.Visit) (page.View, error) {
	if v.Cookie(v.CookieName("second")) == "" {
		return nil, page.Moved("/sign-in")
	}
	return codeView{page.Titled(v.T("Enter a code"))}, nil
}

// enterCode completes a sign-in with a code.
func enterCode(v *page.Visit) (string, error) {
	p, next, err := v.SignIn.Second(v.Context, v.Cookie(v.CookieName("second")), v.Field("code"), v.Client(), v.Now)
	if errors.Is(err, signin.ErrWrong) {
		return "", &api.Refusal{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: v.T("This code is wrong or was used.")}
	}
	if errors.Is(err, signin.ErrEnded) {
		v.Put("second", "", -1)
		return "/sign-in", nil
	}
	if err != nil {
		return "", refused(v, err)
	}
	v.Put("second", "", -1)
	return admit(v, p, page.LocalPath(next))
}

// refused returns what the person reads of a sign-in that was refused. Other errors stay as they are.
func refused(v *page.Visit, err error) error {
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
func signOut(v *page.Visit) (string, error) {
	v.Put("", "", -1)
	return "/sign-in", v.SignIn.End(v.Context, v.Session, v.Client(), v.Now)
}

// look changes the language, the theme and the keys of this browser.
func look(v *page.Visit) (string, error) {
	for _, name := range []string{"lang", "theme", "keys"} {
		if value, sent := v.Request.PostForm[name]; sent {
			v.Remember(name, value[0])
		}
	}
	return page.LocalPath(v.Field("next")), nil
}
