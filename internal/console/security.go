package console

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/boombuler/barcode/qr"
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
	Has struct {
		Password   bool  `json:"has_password"`
		PasswordAt int64 `json:"password_set_at"`
		Second     bool  `json:"has_second_factor"`
		CodesLeft  int64 `json:"recovery_codes_left"`
		Proved     bool  `json:"email_verified"`
	}
	Done  string
	Begun *secondBegun // the secret to put into an app; nil: none was made
	Codes []string     // recovery codes, shown this once
}

type secondBegun struct {
	Secret string `json:"secret"`
	URI    string `json:"uri"`
}

func showSecurity(v *visit) (view, error) {
	d := securityView{titled: titled(v.T("How you sign in")), Done: v.query("done")}
	d.Begun, _ = v.made.(*secondBegun)
	d.Codes, _ = v.made.([]string)
	if secret := v.field("secret"); d.Begun == nil && d.Codes == nil && secret != "" { // a wrong code was entered: the form stays
		d.Begun = &secondBegun{secret, v.field("uri")}
	}
	return d, v.call("/person/security/info", struct{}{}, &d.Has)
}

func changePassword(v *visit) (string, error) {
	password, err := v.newPassword()
	if err != nil {
		return "", err
	}
	request := map[string]string{"password": v.r.PostFormValue("password"), "new_password": password}
	return "/me/security?done=password", v.call("/person/password/update", request, nil)
}

// proveEmail has a link mailed that proves the address.
func proveEmail(v *visit) (string, error) {
	return "/me/security?done=mailed", v.call("/person/email/prove", struct{}{}, nil)
}

// beginSecond shows the secret on the page that answers the form, because an address must not hold it.
func beginSecond(v *visit) (string, error) {
	var begun secondBegun
	err := v.call("/person/second-factor/begin", map[string]string{"password": v.r.PostFormValue("password")}, &begun)
	v.made = &begun
	return "", err
}

func confirmSecond(v *visit) (string, error) {
	var reply struct {
		Codes []string `json:"recovery_codes"`
	}
	err := v.call("/person/second-factor/confirm", map[string]string{"one_time_password": v.field("code")}, &reply)
	if err == nil {
		v.made = reply.Codes
	}
	return "", err
}

func removeSecond(v *visit) (string, error) {
	request := map[string]string{"password": v.r.PostFormValue("password")}
	return "/me/security?done=removed", v.call("/person/second-factor/remove", request, nil)
}

// Picture returns the address of the secret as a QR code. It holds nothing but numbers.
func (b secondBegun) Picture() template.HTML {
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
	Items []sessionRow
}

type sessionRow struct {
	ID      string `json:"session_id"`
	Way     string `json:"way"`
	IP      string `json:"ip"`
	Agent   string `json:"agent"`
	Created int64  `json:"created_at"`
	Used    int64  `json:"used_at"`
	Ends    int64  `json:"expires_at"`
	Current bool   `json:"is_current"`
}

// Browser returns the browser and the system of a session in a few words; the whole text when neither is known.
func (s sessionRow) Browser() string {
	var words []string
	for _, group := range [][][2]string{
		{{"Edg/", "Edge"}, {"Firefox/", "Firefox"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"}, {"curl/", "curl"}},
		{{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS", "macOS"}, {"Linux", "Linux"}},
	} {
		for _, known := range group {
			if strings.Contains(s.Agent, known[0]) {
				words = append(words, known[1])
				break
			}
		}
	}
	if words == nil {
		return s.Agent
	}
	return strings.Join(words, " · ")
}

// By returns in words how the person signed in.
func (s sessionRow) By() string {
	return map[string]string{
		"app_key": "With an app key", "password": "With a password", "oidc": "With OpenID Connect", "link": "With a link",
	}[s.Way]
}

func showSessions(v *visit) (view, error) {
	d := sessionsView{titled: titled(v.T("Where you are signed in"))}
	var reply struct {
		Items []sessionRow `json:"items"`
	}
	err := v.call("/session/list", struct{}{}, &reply)
	d.Items = reply.Items
	return d, err
}

func endSession(v *visit) (string, error) {
	request := map[string]any{"is_all": true}
	if one := v.field("session_id"); one != "" {
		request = map[string]any{"session_ids": []string{one}}
	}
	return "/me/sessions", v.call("/session/end", request, nil)
}
