package people

import (
	"errors"
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/signin"
)

// These pages show nothing of their own: they lead to the provider and back.
var openIDPages = []page.Page{
	{Path: "/sign-in/oidc", Show: leave, Open: true},
	{Path: signin.OpenIDPath, Show: comeBack, Open: true},
}

// openID returns the name of the provider at which the visitor may sign in; empty: there is none.
func openID(v *page.Visit) string {
	if !v.SignIn.OpenID.On() {
		return ""
	}
	return v.SignIn.OpenID.Name
}

// leave sends the visitor to the provider.
func leave(v *page.Visit) (page.View, error) {
	if !v.SignIn.OpenID.On() {
		return nil, page.Moved("/sign-in")
	}
	address, keep, err := v.SignIn.BeginOpenID(page.LocalPath(v.Query("next")), v.Now)
	if err != nil {
		return nil, refusedThere(v, err)
	}
	v.Put("oidc", keep, int(signin.AwayLasts.Seconds()))
	return nil, page.Moved(address)
}

// comeBack signs the visitor in whom the provider has sent back. What the browser has kept is of use once.
func comeBack(v *page.Visit) (page.View, error) {
	if !v.SignIn.OpenID.On() {
		return nil, page.Moved("/sign-in")
	}
	v.Writer.Header().Set("Referrer-Policy", "strict-origin") // the address holds a code
	keep := v.Cookie(v.CookieName("oidc"))
	v.Put("oidc", "", -1)
	p, next, err := v.SignIn.FinishOpenID(v.Context, keep, v.Request.URL.Query(), v.Client(), v.Now)
	if err == nil {
		next, err = admit(v, p, page.LocalPath(next))
	}
	if err != nil {
		return nil, refusedThere(v, err)
	}
	return nil, page.Moved(next)
}

// refusedThere returns what the visitor reads of a sign-in at the provider that led to nothing.
func refusedThere(v *page.Visit, err error) error {
	refuse := func(status int, code, message string) error {
		return &api.Refusal{Status: status, Code: code, Message: v.T(message)}
	}
	switch {
	case errors.Is(err, signin.ErrEnded):
		return refuse(http.StatusBadRequest, "BadRequest", "This sign-in has ended, or began in another browser. Try again.")
	case errors.Is(err, signin.ErrDenied):
		return refuse(http.StatusUnauthorized, "Unauthorized", "The provider did not let you in. Try again.")
	case errors.Is(err, signin.ErrUnknown):
		return refuse(http.StatusForbidden, "AccessDenied",
			"The provider knows you, but no person here has your verified e-mail address. Ask the owner of the account for an invitation.")
	case errors.Is(err, signin.ErrUnproved):
		return refuse(http.StatusForbidden, "AccessDenied",
			"A person here has your e-mail address and has not proved it. If that is you, sign in as before, open How you sign in, and have a link "+
				"mailed to you. If not, ask the owner of the account.")
	case errors.Is(err, signin.ErrOther):
		return refuse(http.StatusForbidden, "AccessDenied",
			"The person here with your e-mail address is another one at the provider. Ask the owner of the account.")
	case errors.Is(err, signin.ErrProvider):
		return refuse(http.StatusBadGateway, "ServiceUnavailable",
			"The provider does not answer as it should. Sign in another way, or try again; the server's log has the reason.")
	}
	return refused(v, err)
}
