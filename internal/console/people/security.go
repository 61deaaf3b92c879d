package people

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

var securityPages = []page.Page{
	{Path: "/me/security", Template: "security", Tab: "me", Show: showSecurity},
	{Path: "/me/sessions", Template: "sessions", Tab: "me", Show: showSessions},
	{Path: "/people/{id}/sessions", Template: "sessions", Tab: "people", Show: showSessions},
}

var securityActions = []page.Action{
	{Path: "/me/security/email", Do: proveEmail, Show: showSecurity, Template: "security"},
	{Path: "/me/security/password", Do: changePassword, Show: showSecurity, Template: "security"},
	{Path: "/me/security/second-factor", Do: beginSecond, Show: showSecurity, Template: "security"},
	{Path: "/me/security/second-factor/confirm", Do: confirmSecond, Show: showSecurity, Template: "security"},
	{Path: "/me/security/second-factor/remove", Do: removeSecond, Show: showSecurity, Template: "security"},
	{Path: "/me/sessions/end", Do: endSession, Show: showSessions, Template: "sessions"},
	{Path: "/people/{id}/sessions/end", Do: endSession, Show: showSessions, Template: "sessions"},
}

// securityView is how the visitor signs in.
type securityView struct {
	page.Titled
	Has   signin.Security
	Done  string
	Begun *otpSecret // the secret to put into an app; nil: none was made
	Codes []string   // recovery codes, shown this once
}

// otpSecret is a secret that is drawn as a picture.
type otpSecret struct{ signin.SecondBegun }

func showSecurity(v *page.Visit) (page.View, error) {
	d := securityView{Titled: page.Titled(v.T("Sign-in and two-step verification")), Done: v.Query("done")}
	d.Begun, _ = v.Made.(*otpSecret)
	d.Codes, _ = v.Made.([]string)
	if secret := v.Field("secret"); d.Begun == nil && d.Codes == nil && secret != "" { // a wrong code was entered: the form stays
		d.Begun = &otpSecret{signin.SecondBegun{Secret: secret, URI: v.Field("uri")}}
	}
	var err error
	d.Has, err = page.Call[signin.Security](v, "/person/security/info", signin.SecurityRequest{})
	return d, err
}

func changePassword(v *page.Visit) (string, error) {
	password, err := newPassword(v)
	if err != nil {
		return "", err
	}
	request := signin.PasswordRequest{Password: v.Request.PostFormValue("password"), NewPassword: password}
	return "/me/security?done=password", page.Do[api.Empty](v, "/person/password/update", request)
}

// proveEmail has a link mailed that proves the address.
func proveEmail(v *page.Visit) (string, error) {
	return "/me/security?done=mailed", page.Do[api.Empty](v, "/person/email/prove", api.Empty{})
}

// beginSecond shows the secret on the page that answers the form, because an address must not hold it.
func beginSecond(v *page.Visit) (string, error) {
	request := signin.OwnPassword{Password: v.Request.PostFormValue("password")}
	begun, err := page.Call[signin.SecondBegun](v, "/person/second-factor/begin", request)
	v.Made = &otpSecret{begun}
	return "", err
}

func confirmSecond(v *page.Visit) (string, error) {
	request := signin.CodeRequest{Code: v.Field("code")}
	reply, err := page.Call[signin.SecondConfirmed](v, "/person/second-factor/confirm", request)
	if err == nil {
		v.Made = reply.RecoveryCodes
	}
	return "", err
}

func removeSecond(v *page.Visit) (string, error) {
	request := signin.RemovalRequest{OwnPassword: signin.OwnPassword{Password: v.Request.PostFormValue("password")}}
	return "/me/security?done=removed", page.Do[api.Empty](v, "/person/second-factor/remove", request)
}

// Picture returns the address of the secret as a QR code. It holds nothing but numbers.
func (b otpSecret) Picture() template.HTML {
	code, err := qr.Encode(b.URI, qr.M, qr.Auto)
	if err != nil {
		return "" // the secret stands beside it
	}
	var path strings.Builder
	size := code.Bounds().Dx()
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				path.WriteString("M" + strconv.Itoa(x) + " " + strconv.Itoa(y) + "h1v1h-1z")
			}
		}
	}
	all := strconv.Itoa(size + 8)
	return template.HTML(`<svg class="qr" viewBox="-4 -4 ` + all + ` ` + all + `" aria-hidden="true" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M-4-4h` + all + `v` + all + `h-` + all + `z"/><path fill="#000" d="` + path.String() + `"/></svg>`)
}

type sessionsView struct {
	page.Titled
	owned
	Items []session.Item
}

// Browser is browserOf, for templates.
func (d sessionsView) Browser(agent string) string { return page.BrowserOf(agent) }

// By returns the words for a way to sign in.
func (d sessionsView) By(way string) string {
	return map[string]string{
		"app_key": "With an app key", "password": "With a password", "oidc": "With OpenID Connect", "link": "With a link",
	}[way]
}

func sessionsAt(v *page.Visit) (owned, error) { return ownedAt(v, "/me/sessions", "/sessions") }

func showSessions(v *page.Visit) (page.View, error) {
	d := sessionsView{Titled: page.Titled(v.T("Sessions"))}
	var err error
	d.owned, err = sessionsAt(v)
	if err != nil {
		return nil, err
	}
	if d.Name != "" {
		d.Titled = page.Titled(v.T("Sessions of %s", d.Name))
	}
	reply, err := page.Call[api.Items[session.Item]](v, "/session/list", session.ListRequest{PersonID: d.Person})
	d.Items = reply.Items
	return d, err
}

func endSession(v *page.Visit) (string, error) {
	of, err := sessionsAt(v)
	if err != nil {
		return "", err
	}
	request := session.EndRequest{PersonID: of.Person, IsAll: true}
	if one := v.Field("session_id"); one != "" {
		request.IsAll, request.SessionIDs = false, []string{one}
	}
	return of.Path, page.Do[api.Empty](v, "/session/end", request)
}
