package console

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"

	"tocsin/internal/api"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

var securityPages = []page{
	{path: "/me/security", template: "security", show: showSecurity},
	{path: "/me/sessions", template: "sessions", show: showSessions},
}

var securityActions = []action{
	{path: "/me/security/email", do: proveEmail, show: showSecurity, page: "security"},
	{path: "/me/security/password", do: changePassword, show: showSecurity, page: "security"},
	{path: "/me/security/second-factor", do: beginSecond, show: showSecurity, page: "security"},
	{path: "/me/security/second-factor/confirm", do: confirmSecond, show: showSecurity, page: "security"},
	{path: "/me/security/second-factor/remove", do: removeSecond, show: showSecurity, page: "security"},
	{path: "/me/sessions/end", do: endSession, show: showSessions, page: "sessions"},
}

// securityView is how the visitor signs in.
type securityView struct {
	titled
	Has   signin.Security
	Done  string
	Begun *otpSecret // the secret to put into an app; nil: none was made
	Codes []string   // recovery codes, shown this once
}

// otpSecret is a secret that is drawn as a picture.
type otpSecret struct{ signin.SecondBegun }

func showSecurity(v *visit) (view, error) {
	d := securityView{titled: titled(v.T("How you sign in")), Done: v.query("done")}
	d.Begun, _ = v.made.(*otpSecret)
	d.Codes, _ = v.made.([]string)
	if secret := v.field("secret"); d.Begun == nil && d.Codes == nil && secret != "" { // a wrong code was entered: the form stays
		d.Begun = &otpSecret{signin.SecondBegun{Secret: secret, URI: v.field("uri")}}
	}
	var err error
	d.Has, err = call[signin.Security](v, "/person/security/info", signin.SecurityRequest{})
	return d, err
}

func changePassword(v *visit) (string, error) {
	password, err := v.newPassword()
	if err != nil {
		return "", err
	}
	request := signin.PasswordRequest{Password: v.r.PostFormValue("password"), NewPassword: password}
	return "/me/security?done=password", do[api.Empty](v, "/person/password/update", request)
}

// proveEmail has a link mailed that proves the address.
func proveEmail(v *visit) (string, error) {
	return "/me/security?done=mailed", do[api.Empty](v, "/person/email/prove", api.Empty{})
}

// beginSecond shows the secret on the page that answers the form, because an address must not hold it.
func beginSecond(v *visit) (string, error) {
	request := signin.OwnPassword{Password: v.r.PostFormValue("password")}
	begun, err := call[signin.SecondBegun](v, "/person/second-factor/begin", request)
	v.made = &otpSecret{begun}
	return "", err
}

func confirmSecond(v *visit) (string, error) {
	request := signin.CodeRequest{Code: v.field("code")}
	reply, err := call[signin.SecondConfirmed](v, "/person/second-factor/confirm", request)
	if err == nil {
		v.made = reply.RecoveryCodes
	}
	return "", err
}

func removeSecond(v *visit) (string, error) {
	request := signin.RemovalRequest{OwnPassword: signin.OwnPassword{Password: v.r.PostFormValue("password")}}
	return "/me/security?done=removed", do[api.Empty](v, "/person/second-factor/remove", request)
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
	titled
	Items []session.Item
}

// Browser is browserOf, for templates.
func (d sessionsView) Browser(agent string) string { return browserOf(agent) }

// browserOf returns the browser and the system that an agent names, in a few words; the whole text when neither is known.
func browserOf(agent string) string {
	var words []string
	for _, group := range [][][2]string{
		{{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}},
		{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}},
	} {
		for _, known := range group {
			if strings.Contains(agent, known[0]) {
				words = append(words, known[1])
				break
			}
		}
	}
	if words == nil {
		return agent
	}
	return strings.Join(words, " · ")
}

// By returns the words for a way to sign in.
func (d sessionsView) By(way string) string {
	return map[string]string{
		"app_key": "With an app key", "password": "With a password", "oidc": "With OpenID Connect", "link": "With a link",
	}[way]
}

func showSessions(v *visit) (view, error) {
	d := sessionsView{titled: titled(v.T("Where you are signed in"))}
	reply, err := call[api.Items[session.Item]](v, "/session/list", session.ListRequest{})
	d.Items = reply.Items
	return d, err
}

func endSession(v *visit) (string, error) {
	request := session.EndRequest{IsAll: true}
	if one := v.field("session_id"); one != "" {
		request = session.EndRequest{SessionIDs: []string{one}}
	}
	return "/me/sessions", do[api.Empty](v, "/session/end", request)
}
