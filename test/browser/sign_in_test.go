package browser

import (
	"strings"
	"testing"

	"tocsin/test/browser/page"
)

// A wrong key is refused in place, the right one leads on to the page that was asked for, and signing out in one tab
// signs out in all.
func TestSignIn(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := open(t, w)
	p.Open("/incidents?show=all")
	p.At("/sign-in")
	p.Click("Use an app key")
	for _, wrong := range []string{"tk_wrong", w.Keys.All + "x"} {
		p.Type("input[name=app_key]", wrong)
		p.Enter()
		p.See("This app key is unknown, disabled or expired.")
	}
	p.Quiet("401") // the browser notes what was refused
	o := once(t)
	o.note(p.Axe(), "a refused sign-in")
	p.Type("input[name=app_key]", w.Keys.All)
	p.Enter()
	p.At("/incidents?show=all")
	if jar := page.Eval[string](p, "document.cookie"); strings.Contains(jar, "tocsin=") {
		t.Errorf("scripts can read the session: %s", jar)
	}
	second := p.Tab()
	defer second.Close()
	second.Open("/")
	second.At("/")
	p.Follow("Sign out")
	p.At("/sign-in")
	second.Open("/incidents")
	second.At("/sign-in")
}

// The page to sign in is sound for those who are not signed in.
func TestAccessOfSignIn(t *testing.T) {
	t.Parallel()
	w := full(t)
	o := once(t)
	p := open(t, w)
	for _, lang := range []string{"en", "zh"} {
		p.Language(lang)
		look(o, p, "/sign-in", lang == "zh", true, func() {})
	}
}

// Language and theme are kept on this browser, also after the sign-out.
func TestLanguageAndThemeAreKept(t *testing.T) {
	t.Parallel()
	w := full(t)
	p := signedIn(t, w)
	p.Follow("中文")
	p.See("当前")
	p.Follow("深色")
	p.Follow("退出登录")
	p.See("登录")
	if got := page.Eval[string](p, `document.documentElement.lang + " " + document.documentElement.dataset.theme`); got != "zh-Hans dark" {
		t.Errorf("the page to sign in is %s", got)
	}
	p.Follow("English")
	p.See("Sign in")
}
