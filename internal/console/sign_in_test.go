package console_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"tocsin/internal/app"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/session"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// The link of the first start makes the owner's password, once. Opening it uses nothing up.
func TestLinkSetsPasswordOnce(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	s.api("/member/info/reset", `{"member_id":`+number(s.first.OwnerID)+`,"email":"olga@example.com"}`)
	b := s.browser()
	for range 2 {
		if a := b.get(s.first.LinkPath); a.status != 200 || a.header.Get("Referrer-Policy") != "strict-origin" || !strings.Contains(a.body, "olga@example.com") {
			t.Fatalf("%d %v", a.status, a.header)
		}
	}
	for _, c := range [][2]string{{phrase, phrase + "!"}, {"short", "short"}, {"aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa"}, {"", ""}, {strings.Repeat("ab", 200), strings.Repeat("ab", 200)}} {
		if a := b.post(s.first.LinkPath, "new_password", c[0], "again", c[1]); a.status != 400 || strings.Contains(a.body, "battery") {
			t.Fatalf("%.20q: %d", c, a.status)
		}
	}
	other := s.api("/person/link/create", `{"person_id":`+number(s.first.OwnerID)+`}`)["link_path"].(string)
	b.expect("use", b.post(s.first.LinkPath, "new_password", phrase, "again", phrase), 303, "/")
	if !b.in() {
		t.Error("not signed in")
	}
	for _, used := range []string{s.first.LinkPath, other, "/link/" + strings.Repeat("0", 64), "/link/x"} {
		if a := s.browser().get(used); a.status != 404 {
			t.Errorf("%s: %d", used, a.status)
		}
		if a := s.browser().post(used, "new_password", phrase+"2", "again", phrase+"2"); a.status != 404 {
			t.Errorf("%s: %d", used, a.status)
		}
	}
	late := s.api("/person/link/create", `{"person_id":`+number(s.first.OwnerID)+`}`)["link_path"].(string)
	s.clock.Add(73 * time.Hour)
	if a := s.browser().get(late); a.status != 404 {
		t.Errorf("after three days: %d", a.status)
	}
}

// A secret that a browser has after a sign-out opens nothing, and neither the log nor the database holds one in clear.
func TestSecretsAreWorthlessAndHidden(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	stolen := b.cookie("tocsin")
	b.expect("sign out", b.post("/sign-out"), 303, "/sign-in")
	thief := s.browser()
	thief.setCookie("tocsin", stolen)
	if thief.in() {
		t.Error("a cookie is of use after the sign-out")
	}
	b.post("/sign-in", "email", "olga@example.com", "password", "wrong "+phrase)
	s.browser().post("/link/"+strings.Repeat("7", 64), "new_password", phrase, "again", phrase)
	secrets := []string{stolen, phrase, strings.TrimPrefix(s.first.LinkPath, "/link/"), strings.Repeat("7", 64)}
	files, _ := filepath.Glob(dbtest.Embedded(t, s.dsn) + "*")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range secrets {
			if strings.Contains(string(content), secret) {
				t.Errorf("%s holds %.8s…", filepath.Base(file), secret)
			}
		}
	}
	for _, secret := range secrets {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("the log holds %.8s…", secret)
		}
	}
}

var unlike = regexp.MustCompile(`[\w.]+@example\.com|[0-9a-f]{32}`)

// The answer is the same for a wrong password, a person without a password, and a person who does not exist.
func TestSignInDoesNotTellWhoExists(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	s.owner()
	s.api("/member/invite", `{"members":[{"email":"pia@example.com"}]}`)
	bodies := map[string]bool{}
	for _, email := range []string{"olga@example.com", "OLGA@example.com", "pia@example.com", "none@example.com"} {
		a := s.browser().post("/sign-in", "email", email, "password", "not the password")
		if a.status != 401 || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", email, a.status, a.header)
		}
		bodies[unlike.ReplaceAllString(a.body, "")] = true
	}
	if len(bodies) != 1 {
		t.Errorf("%d different answers", len(bodies))
	}
	right := s.browser()
	right.expect("right", right.post("/sign-in", "email", " OLGA@example.com ", "password", phrase, "next", "/incidents?show=all"), 303, "/incidents?show=all")
}

// Guessing is slowed for one address, and for one person from many addresses; the person's own browser gets in meanwhile.
func TestGuessingIsSlowed(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	s.owner()
	home := s.browser()
	home.ip = "203.0.113.1"
	home.expect("before", home.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
	guess := func(ip, email, password string) int {
		b := s.browser()
		b.ip = ip
		return b.post("/sign-in", "email", email, "password", password).status
	}
	for _, email := range []string{"olga@example.com", "none@example.com"} {
		got := []int{}
		for range 7 {
			got = append(got, guess("198.51.100.1", email, "a wrong password"))
		}
		if !slices.Equal(got, []int{401, 401, 401, 401, 401, 429, 429}) {
			t.Errorf("%s: %v", email, got)
		}
	}
	if code := guess("198.51.100.1", "olga@example.com", phrase); code != 429 {
		t.Errorf("the right password from the same address: %d", code)
	}
	if code := guess("198.51.100.9", "olga@example.com", phrase); code != 303 {
		t.Errorf("the right password from another address: %d", code)
	}
	for i := range 30 {
		guess(fmt.Sprintf("198.51.100.%d", 20+i), "olga@example.com", "a wrong password")
	}
	if code := guess("192.0.2.77", "olga@example.com", phrase); code != 429 {
		t.Errorf("from an address that is new, after a flood from many: %d", code)
	}
	home.expect("from the person's own browser", home.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
	s.clock.Add(61 * time.Second)
	if code := guess("192.0.2.77", "olga@example.com", phrase); code != 303 {
		t.Errorf("a minute later: %d", code)
	}
}

// Many failed sign-ins are one entry of the audit log, with their number. The log names no person who does not exist.
func TestFailedSignInsAreRecordedTogether(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	s.owner()
	for i := range 6 { // a password takes tens of milliseconds of a processor
		b := s.browser()
		b.ip = fmt.Sprintf("198.51.100.%d", i)
		b.post("/sign-in", "email", "olga@example.com", "password", "a wrong password")
		b.post("/sign-in", "email", "none@example.com", "password", "a wrong password")
	}
	for range 2 {
		if err := s.app.Runner.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now := s.clock.Now().Unix()
	docs := s.api("/audit/search", fmt.Sprintf(`{"start_time":%d,"end_time":%d,"limit":99}`, now-60, now+60))["docs"].([]any)
	count := map[string]int{}
	for _, d := range docs {
		e := d.(map[string]any)
		count[e["operation"].(string)]++
		if body := e["body"].(string); e["operation"] == "session:write:refuse" && body != `{"attempts":6}` {
			t.Errorf("%s", body)
		}
		if strings.Contains(fmt.Sprint(e), "none@example.com") {
			t.Errorf("%v", e)
		}
	}
	if count["session:write:refuse"] != 1 || count["session:write:create"] != 1 || count["password:write:update"] != 1 {
		t.Errorf("%v", count)
	}
}

// A secret that was in the browser before the sign-in is worth nothing after it, and an older session of the browser ends.
func TestSignInBeginsNewSession(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	before := b.cookie("tocsin")
	b.post("/sign-in", "email", "olga@example.com", "password", phrase)
	other := s.browser()
	other.setCookie("tocsin", before)
	if b.cookie("tocsin") == before || other.in() || !b.in() {
		t.Error("the session before the sign-in lives on")
	}
	fixed := s.browser()
	fixed.setCookie("tocsin", strings.Repeat("a", 64))
	fixed.post("/sign-in", "app_key", s.first.Key)
	if fixed.cookie("tocsin") == strings.Repeat("a", 64) || !fixed.in() {
		t.Error("the secret that was there is the session's")
	}
}

func TestSignInLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	s.owner()
	for _, next := range []string{"//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)", "/\t/evil.example", "evil.example", "http:/evil.example", ""} {
		b := s.browser()
		b.expect(next, b.post("/sign-in", "app_key", s.first.Key, "next", next), 303, "/")
	}
}

// A form that another site sends is refused, signed in or not.
func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	for _, path := range []string{"/sign-in", "/sign-in/code", "/sign-out", "/link/x", "/me/sessions/end", "/me/security/password", "/me/security/second-factor", "/me/security/second-factor/remove", "/look"} {
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			b.header = http.Header{name: {value}}
			if a := b.post(path, "app_key", s.first.Key); a.status != 403 {
				t.Errorf("%s with %s: %d", path, name, a.status)
			}
		}
	}
	b.header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
	if !b.in() {
		t.Error("a form of another site has ended the session")
	}
}

// What ends the right of a person or a key ends the sessions at once.
func TestSessionsEndWithRight(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	owner := s.owner()
	invited := s.api("/member/invite", `{"members":[{"email":"pia@example.com"}]}`)["items"].([]any)[0].(map[string]any)
	pia := s.browser()
	pia.expect("link", pia.post(invited["link_path"].(string), "new_password", phrase, "again", phrase), 303, "/")
	key := s.api("/person/app-key/create", `{"key_name":"k"}`)
	byKey := s.browser()
	byKey.expect("key", byKey.post("/sign-in", "app_key", key["key"].(string)), 303, "/")
	if !owner.in() || !pia.in() || !byKey.in() {
		t.Fatal("not signed in")
	}
	s.api("/member/delete", fmt.Sprintf(`{"member_id":%.0f}`, invited["member_id"]))
	s.api("/person/app-key/disable", fmt.Sprintf(`{"key_id":%.0f}`, key["key_id"]))
	if pia.in() || byKey.in() || !owner.in() {
		t.Error("a session outlives its right")
	}
	if a := pia.post("/sign-in", "email", "pia@example.com", "password", phrase); a.status != 401 {
		t.Errorf("a deleted person: %d", a.status)
	}
	second := s.browser()
	second.expect("second", second.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
	owner.expect("change", owner.post("/me/security/password", "password", phrase, "new_password", phrase+"!", "again", phrase+"!"), 303, "/me/security?done=password")
	if second.in() || !owner.in() {
		t.Error("a change of the password ends the other sessions, and not this one")
	}
	if a := owner.post("/me/security/password", "password", phrase, "new_password", phrase+"?", "again", phrase+"?"); a.status != 400 {
		t.Errorf("with the old password: %d", a.status)
	}
}

func TestSessionsHaveLimits(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	idle, used := s.owner(), s.browser()
	used.expect("sign in", used.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
	for end := s.clock.Now().Add(session.Longest); s.clock.Now().Before(end.Add(-session.Idle)); {
		s.clock.Add(session.Idle - time.Hour)
		if !used.in() {
			t.Fatal("a session that is used has ended")
		}
	}
	if idle.in() {
		t.Error("a session that is not used lives on")
	}
	s.clock.Add(session.Idle - time.Hour)
	if used.in() {
		t.Error("a session outlives its longest time")
	}
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	others := []*visitor{s.browser(), s.browser(), s.browser()}
	for _, o := range others {
		o.header.Set("User-Agent", `Mozilla/5.0 <img src=x onerror=alert(1)> Firefox/140 Linux`)
		o.expect("sign in", o.post("/sign-in", "app_key", s.first.Key), 303, "/")
	}
	page := b.get("/me/sessions").body
	ids := regexp.MustCompile(`name="session_id" value="(\w+)"`).FindAllStringSubmatch(page, -1)
	if len(ids) != 3 || strings.Contains(page, "<img src=x") || !strings.Contains(page, "Firefox · Linux") {
		t.Fatalf("%d sessions\n%s", len(ids), page)
	}
	b.expect("end one", b.post("/me/sessions/end", "session_id", ids[0][1]), 303, "/me/sessions")
	left := 0
	for _, o := range others {
		if o.in() {
			left++
		}
	}
	b.expect("end all", b.post("/me/sessions/end"), 303, "/me/sessions")
	if left != 2 || !b.in() || others[0].in() || others[1].in() || others[2].in() {
		t.Errorf("%d left after one was ended", left)
	}
}

// Over HTTPS the cookie cannot be set by another host of the domain, read by a script or sent without encryption.
func TestCookieOverHTTPS(t *testing.T) {
	t.Parallel()
	s := beginServer(t, func(c *app.Config) { c.PublicURL = "https://tocsin.example.com" })
	a := s.browser().post("/sign-in", "app_key", s.first.Key)
	set := a.header.Get("Set-Cookie")
	for _, part := range []string{"__Host-tocsin=", "; Path=/", "; HttpOnly", "; Secure", "; SameSite=Lax"} {
		if !strings.Contains(set, part) || strings.Contains(set, "Domain") {
			t.Errorf("%s lacks %s", set, part)
		}
	}
}

// An invited person is sent one mail with a link that works; a server without a public address sends none.
func TestInvitedPersonsAreSentLink(t *testing.T) {
	t.Parallel()
	for _, public := range []string{"https://tocsin.example.com", ""} {
		s := beginServer(t, func(c *app.Config) { c.PublicURL = public })
		s.api("/member/invite", `{"members":[{"member_name":"Pia","email":"pia@example.com","locale":"zh-CN"},{"phone":"+491"}]}`)
		for range 3 {
			if err := s.app.Runner.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.clock.Add(time.Hour)
		}
		if public == "" {
			if len(s.mails) != 0 {
				t.Errorf("%v", s.to)
			}
			continue
		}
		if len(s.mails) != 1 || s.to[0] != "pia@example.com" {
			t.Fatalf("%v", s.to)
		}
		path, _ := strings.CutPrefix(s.mails[0].Link, public)
		b := s.browser()
		b.header.Set("Cookie", "")
		if a := b.post(path, "new_password", phrase, "again", phrase); a.status != 303 || !strings.Contains(string(s.mails[0].Text), s.mails[0].Link) {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// A code is asked for after the password, each is accepted once, and recovery codes stand in for a lost phone.
func TestSecondFactor(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	if a := b.post("/me/security/second-factor", "password", "wrong"); a.status != 400 {
		t.Fatalf("with a wrong password: %d", a.status)
	}
	a := b.expect("begin", b.post("/me/security/second-factor", "password", phrase), 200, "")
	secret := regexp.MustCompile(`<code>([A-Z2-7]{32})</code>`).FindStringSubmatch(a.body)
	if secret == nil || !strings.Contains(a.body, `<svg class="qr"`) {
		t.Fatal(a.body)
	}
	code := func() string {
		text, err := totp.GenerateCode(secret[1], s.clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	half := s.browser()
	half.expect("no code before it is confirmed", half.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
	if a := b.post("/me/security/second-factor/confirm", "code", "000000", "secret", secret[1]); a.status != 400 {
		t.Fatalf("a wrong code: %d", a.status)
	}
	a = b.expect("confirm", b.post("/me/security/second-factor/confirm", "code", code()), 200, "")
	recovery := regexp.MustCompile(`<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>`).FindAllStringSubmatch(a.body, -1)
	if len(recovery) != 10 || half.in() || !b.in() {
		t.Fatalf("%d recovery codes; other sessions end: %t", len(recovery), !half.in())
	}
	s.clock.Add(2 * time.Minute)
	enter := func(with string) response {
		t.Helper()
		fresh := s.browser()
		fresh.expect("password", fresh.post("/sign-in", "email", "olga@example.com", "password", phrase, "next", "/incidents"), 303, "/sign-in/code")
		if fresh.in() {
			t.Error("signed in without a code")
		}
		fresh.expect("form", fresh.get("/sign-in/code"), 200, "")
		return fresh.post("/sign-in/code", "code", with)
	}
	now := code()
	if a := enter(now); a.status != 303 || a.to != "/incidents" {
		t.Errorf("a code: %d %s", a.status, a.to)
	}
	if a := enter(now); a.status != 401 {
		t.Errorf("the same code again: %d", a.status)
	}
	s.clock.Add(2 * time.Minute)
	if a := enter(strings.ToUpper(strings.ReplaceAll(recovery[0][1], "-", " "))); a.status != 303 {
		t.Errorf("a recovery code: %d", a.status)
	}
	if a := enter(recovery[0][1]); a.status != 401 {
		t.Errorf("the same recovery code again: %d", a.status)
	}
	s.clock.Add(2 * time.Minute)
	b.expect("remove", b.post("/me/security/second-factor/remove", "password", phrase), 303, "/me/security?done=removed")
	again := s.browser()
	again.expect("without a code", again.post("/sign-in", "email", "olga@example.com", "password", phrase), 303, "/")
}

// Codes cannot be tried often, whatever the address, and what waits for a code ends after five minutes.
func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.owner()
	a := b.post("/me/security/second-factor", "password", phrase)
	secret := regexp.MustCompile(`<code>([A-Z2-7]{32})</code>`).FindStringSubmatch(a.body)[1]
	code, _ := totp.GenerateCode(secret, s.clock.Now())
	b.expect("confirm", b.post("/me/security/second-factor/confirm", "code", code), 200, "")
	s.clock.Add(2 * time.Minute)
	thief := s.browser()
	thief.post("/sign-in", "email", "olga@example.com", "password", phrase)
	got := []int{}
	for i := range 6 {
		thief.ip = fmt.Sprintf("198.51.100.%d", i)
		got = append(got, thief.post("/sign-in/code", "code", fmt.Sprintf("%06d", i)).status)
	}
	if !slices.Equal(got, []int{401, 401, 401, 401, 429, 429}) {
		t.Errorf("%v", got)
	}
	s.clock.Add(6 * time.Minute)
	code, _ = totp.GenerateCode(secret, s.clock.Now())
	thief.expect("late", thief.post("/sign-in/code", "code", code), 303, "/sign-in")
	if thief.in() {
		t.Error("signed in by what had ended")
	}
	forged := s.browser()
	forged.setCookie("tocsin-second", "s1.AAAA.BBBB")
	forged.expect("forged", forged.post("/sign-in/code", "code", code), 303, "/sign-in")
}

// The pages are drawn in both languages, with nothing left in English.
func TestSignInPagesInChinese(t *testing.T) {
	t.Parallel()
	s := beginServer(t, plain)
	b := s.browser()
	b.setCookie("lang", "zh")
	for _, page := range []string{"/sign-in", s.first.LinkPath} {
		if a := b.get(page); a.status != 200 || strings.Contains(a.body, "assword</") || strings.Contains(a.body, ">Sign") {
			t.Errorf("%s: %d %s", page, a.status, a.body)
		}
	}
	b.post("/sign-in", "app_key", s.first.Key)
	for _, page := range []string{"/me/security", "/me/sessions"} {
		if a := b.get(page); a.status != 200 || strings.Contains(a.body, "You have") || strings.Contains(a.body, "This browser") {
			t.Errorf("%s: %d %s", page, a.status, a.body)
		}
	}
}

// A held server sends no invitation: the other server has sent it.
func TestHeldServerInvitesNoOne(t *testing.T) {
	t.Parallel()
	s := beginServer(t, func(c *app.Config) { c.PublicURL, c.Hold = "https://tocsin.example.com", true })
	s.api("/member/invite", `{"members":[{"email":"pia@example.com"}]}`)
	for range 3 {
		if err := s.app.Runner.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.clock.Add(time.Hour)
	}
	if len(s.mails) != 0 {
		t.Errorf("%v", s.to)
	}
}

// TestInvitationsAreWithinRateOfMails: an account sends at most ten invitations in a minute, and all of them in the end;
// another account does not wait for them.
func TestInvitationsAreWithinRateOfMails(t *testing.T) {
	t.Parallel()
	s := beginServer(t, func(c *app.Config) { c.PublicURL = "https://tocsin.example.com" })
	members := make([]string, 25)
	for n := range members {
		members[n] = fmt.Sprintf(`{"email":"p%d@example.com"}`, n)
	}
	s.api("/member/invite", `{"members":[`+strings.Join(members[:20], ",")+`]}`)
	s.api("/member/invite", `{"members":[`+strings.Join(members[20:], ",")+`]}`)
	for minute, want := range []int{10, 20, 25, 25} {
		for range 4 {
			if err := s.app.Runner.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.clock.Add(5 * time.Second)
		}
		if len(s.mails) != want {
			t.Errorf("minute %d: %d mails, want %d", minute, len(s.mails), want)
		}
		s.clock.Add(45 * time.Second)
	}
}
