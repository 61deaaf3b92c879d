package people

import (
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/credential"
	"tocsin/internal/platform/fault"
)

var linkPages = []page.Page{{Path: "/link/{token}", Template: "link", Show: showLink, Open: true}}

var linkActions = []page.Action{{Path: "/link/{token}", Do: useLink, Show: showLink, Template: "link", Open: true}}

// linkView is the form in which the person of a link chooses a password.
type linkView struct {
	page.Titled
	Token string
	Name  string
	Email string
	Lasts int64 // until when the link is valid, in Unix seconds
}

// showLink shows the form of a link. Opening it does not use the link up, because mail programs open links to check them.
// The link of the demo opens the console at once.
func showLink(v *page.Visit) (page.View, error) {
	v.Writer.Header().Set("Referrer-Policy", "strict-origin") // the address is a secret
	token := v.Request.PathValue("token")
	l, who, err := v.SignIn.Link(v.Context, token, v.Client(), v.Now)
	if err != nil {
		return nil, refused(v, err)
	}
	if l.Kind == credential.LinkOpen {
		next, err := admit(v, v.SignIn.Open(l), "/")
		if err != nil {
			return nil, err
		}
		return nil, page.Moved(next)
	}
	if l.Kind == credential.LinkEmail {
		return proof(v, token, l, who.Email)
	}
	return linkView{page.Titled(v.T("Set your password")), token, who.PersonName, who.Email, l.EndsAt}, nil
}

// proofView is the button with which a person proves an e-mail address.
type proofView struct {
	page.Titled
	Token string
	Email string
}

func (proofView) Template() string { return "link_email" }

// proof shows the button to the person whose address it is. Others sign in first: the mail may have reached another person.
func proof(v *page.Visit, token string, l credential.Link, email string) (page.View, error) {
	if v.Who.PersonID == 0 {
		return nil, page.Moved(v.SignInPath())
	}
	if v.Who.AccountID != l.AccountID || v.Who.PersonID != l.PersonID {
		return nil, &api.Refusal{
			Status: http.StatusForbidden, Code: "AccessDenied", Message: v.T("This link is for another person than the one who is signed in."),
		}
	}
	return proofView{page.Titled(v.T("Prove your e-mail address")), token, email}, nil
}

// useLink sets the password and signs the person in, or proves the address of a person who is signed in.
func useLink(v *page.Visit) (string, error) {
	if v.Field("do") == "prove" {
		if err := v.SignIn.ProveEmail(v.Context, v.Request.PathValue("token"), v.Who, v.Client(), v.Now); err != nil {
			return "", refused(v, err)
		}
		return "/me/security?done=proved", nil
	}
	password, err := newPassword(v)
	if err != nil {
		return "", err
	}
	p, err := v.SignIn.UseLink(v.Context, v.Request.PathValue("token"), password, v.Client(), v.Now)
	if fault.KindOf(err) == fault.InvalidParameter {
		return "", weak(v)
	}
	if err != nil {
		return "", refused(v, err)
	}
	return admit(v, p, "/")
}

// newPassword returns the password that a form has twice.
func newPassword(v *page.Visit) (string, error) {
	password := v.Request.PostFormValue("new_password")
	if password != v.Request.PostFormValue("again") {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: v.T("The two passwords differ.")}
	}
	if credential.CheckPassword("new_password", password) != nil {
		return "", weak(v)
	}
	return password, nil
}

func weak(v *page.Visit) error {
	return &api.Refusal{
		Status: http.StatusBadRequest, Code: "InvalidParameter",
		Message: v.T("A password needs 12 to 256 characters that are not all the same. A few words are easy to remember."),
	}
}
