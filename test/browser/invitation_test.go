package browser

import (
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"tocsin/test/browser/page"
)

// A link of an invitation leads to a password, the password to a second factor, a recovery code stands in for the phone,
// and sessions are ended from another tab.
func TestInvitationToRecoveryCode(t *testing.T) {
	w := begin(t)
	var invited struct {
		Items []struct {
			ID int64 `json:"member_id"`
		}
	}
	w.Do(t, "/member/invite", map[string]any{"members": []any{map[string]any{"email": "nina@example.com", "member_name": "Nina New"}}}, &invited)
	var link struct {
		Path string `json:"link_path"`
	}
	w.Do(t, "/person/link/create", map[string]any{"person_id": invited.Items[0].ID}, &link)
	const phrase = "correct horse battery staple"
	p := open(t, w)
	p.Open(link.Path)
	p.See("Hello Nina New.")
	o := once(t)
	o.note(p.Axe(), "the link")
	p.Type("[name=new_password]", phrase)
	p.Type("[name=again]", phrase)
	p.Follow("Set the password and sign in")
	p.Open(link.Path)
	p.Lacks("[name=new_password]")
	p.Messages() // the link is used up; the first page may not be for who has no role
	p.Open("/me/security")
	p.Type("form[action='/me/security/second-factor'] [name=password]", phrase)
	p.Follow("Set up a code")
	secret := page.Eval[string](p, "document.querySelector('input[name=secret]').value")
	code, err := totp.GenerateCode(secret, w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	p.Type("[name=code]", code)
	p.Follow("Ask for codes from now on")
	p.See("Your recovery codes")
	recovery := page.Eval[[]string](p, "[...document.querySelectorAll('.codes code')].map(c => c.textContent)")
	o.note(p.Axe(), "recovery codes")
	p.Open("/me/security")
	for _, c := range recovery {
		p.Unseen(c)
	}

	other := open(t, w)
	signIn := func(code string) {
		other.Open("/sign-in?next=/me/sessions")
		other.Type("[name=email]", "nina@example.com")
		other.Type("form .fields [name=password], [name=password]", phrase)
		other.Enter()
		other.See("Enter a code")
		other.Type("[name=code]", code)
		other.Enter()
	}
	signIn(recovery[0])
	other.At("/me/sessions")
	other.See("With a password")
	other.Follow("Sign out everywhere else")
	p.Open("/me/security")
	p.At("/sign-in")
	other.Open("/")
	other.Messages()
	other.Follow("Sign out")
	signIn(recovery[0]) // it was of use once
	other.Lacks("This browser")
	other.Messages()
	w.Clock.Add(2 * time.Minute) // wrong codes are slowed
	signIn(recovery[1])
	other.At("/me/sessions")
}
