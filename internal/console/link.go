package console

import (
	"net/http"

	"tocsin/internal/api"
	"tocsin/internal/credential"
	"tocsin/internal/platform/fault"
)

var linkPages = []page{{path: "/link/{token}", template: "link", show: showLink, open: true}}

var linkActions = []action{{path: "/link/{token}", do: useLink, show: showLink, page: "link", open: true}}

// linkView is the form in which the person of a link chooses a password.
type linkView struct {
	titled
	Token string
	Name  string
	Email string
	Lasts int64 // until when the link is valid, in Unix seconds
}

// showLink shows the form of a link. Opening it does not use the link up, because mail programs open links to check them.
// The link of the demo opens the console at once.
func showLink(v *visit) (view, error) {
	v.w.Header().Set("Referrer-Policy", "strict-origin") // the address is a secret
	token := v.r.PathValue("token")
	l, who, err := v.SignIn.Link(v.ctx, token, v.client(), v.Now)
	if err != nil {
		return nil, v.refused(err)
	}
	if l.Kind == credential.LinkOpen {
		next, err := v.admit(v.SignIn.Open(l), "/")
		if err != nil {
			return nil, err
		}
		return nil, moved(next)
	}
	if l.Kind == credential.LinkEmail {
		return v.proof(token, l, who.Email)
	}
	return linkView{titled(v.T("Set your password")), token, who.PersonName, who.Email, l.EndsAt}, nil
}

// proofView is the button with which a person proves an e-mail address.
type proofView struct {
	titled
	Token string
	Email string
}

func (proofView) page() string { return "link_email" }

// proof shows the button to the person whose address it is. Others sign in first: the mail may have reached another person.
func (v *visit) proof(token string, l credential.Link, email string) (view, error) {
	if v.who.PersonID == 0 {
		return nil, moved(v.signInPath())
	}
	if v.who.AccountID != l.AccountID || v.who.PersonID != l.PersonID {
		return nil, &api.Refusal{
			Status: http.StatusForbidden, Code: "AccessDenied", Message: v.T("This link is for another person than the one who is signed in."),
		}
	}
	return proofView{titled(v.T("Prove your e-mail address")), token, email}, nil
}

// useLink sets the password and signs the person in, or proves the address of a person who is signed in.
func useLink(v *visit) (string, error) {
	if v.field("do") == "prove" {
		if err := v.SignIn.ProveEmail(v.ctx, v.r.PathValue("token"), v.who, v.client(), v.Now); err != nil {
			return "", v.refused(err)
		}
		return "/me/security?done=proved", nil
	}
	password, err := v.newPassword()
	if err != nil {
		return "", err
	}
	p, err := v.SignIn.UseLink(v.ctx, v.r.PathValue("token"), password, v.client(), v.Now)
	if fault.KindOf(err) == fault.InvalidParameter {
		return "", v.weak()
	}
	if err != nil {
		return "", v.refused(err)
	}
	return v.admit(p, "/")
}

// newPassword returns the password that a form has twice.
func (v *visit) newPassword() (string, error) {
	password := v.r.PostFormValue("new_password")
	if password != v.r.PostFormValue("again") {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: v.T("The two passwords differ.")}
	}
	if credential.CheckPassword("new_password", password) != nil {
		return "", v.weak()
	}
	return password, nil
}

func (v *visit) weak() error {
	return &api.Refusal{
		Status: http.StatusBadRequest, Code: "InvalidParameter",
		Message: v.T("A password needs 12 to 256 characters that are not all the same. A few words are easy to remember."),
	}
}
