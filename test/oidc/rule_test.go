package oidc

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"
	"github.com/pquerna/otp/totp"

	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/signin"
)

const phrase = "correct horse battery staple"

// as calls an operation with a key.
func (w *world) as(key, path, body string) (status int, data map[string]any) {
	w.t.Helper()
	r, err := http.Post(w.url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	var reply struct{ Data map[string]any }
	_ = json.Unmarshal(text, &reply)
	return r.StatusCode, reply.Data
}

// post sends a form and returns the status, the address of a redirect and the page.
func (w *world) post(b *http.Client, path string, fields ...string) (status int, to, page string) {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := b.PostForm(w.url+path, form)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	return r.StatusCode, r.Header.Get("Location"), string(body)
}

// opens reports whether a link shows its form.
func (w *world) opens(path string) bool {
	w.t.Helper()
	status, _, _ := w.get(w.browser(), w.url+path)
	return status == 200
}

func (w *world) settle() {
	w.t.Helper()
	if err := w.app.Runner.Settle(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// mailed returns the link in the last mail to an address.
func (w *world) mailed(to string) string {
	w.t.Helper()
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.mails) - 1; i >= 0; i-- {
		if w.mails[i].to == to && w.mails[i].Link != "" {
			return strings.TrimPrefix(w.mails[i].Link, w.url)
		}
	}
	w.t.Fatalf("no link was mailed to %s", to)
	return ""
}

// mailsTo returns the subjects of the mails to an address.
func (w *world) mailsTo(to string) (subjects []string) {
	w.settle()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.mails {
		if m.to == to {
			subjects = append(subjects, string(m.Subject))
		}
	}
	return subjects
}

// invite invites a person as the owner of a key, and returns the id and the link of the reply.
func (w *world) invite(key, email string, roles ...float64) (id int64, link string) {
	w.t.Helper()
	text, _ := json.Marshal(roles)
	status, data := w.as(key, "/member/invite", fmt.Sprintf(`{"members":[{"email":%q,"role_ids":%s}]}`, email, strings.ReplaceAll(string(text), "null", "[]")))
	if status != 200 {
		w.t.Fatalf("invite %s: %d", email, status)
	}
	item := data["items"].([]any)[0].(map[string]any)
	return int64(item["member_id"].(float64)), item["link_path"].(string)
}

func (w *world) newKey(id int64) (key string, keyID float64) {
	w.t.Helper()
	data := w.api("/person/app-key/create", fmt.Sprintf(`{"key_name":"test","person_id":%d}`, id))
	return data["key"].(string), data["key_id"].(float64)
}

// manager adds a person who manages members and has nothing else.
func (w *world) manager() (id int64, key string) {
	w.t.Helper()
	role := w.api("/role/upsert", fmt.Sprintf(`{"role_name":"Manager","permission_ids":[%d]}`, auth.MembersManage.ID()))
	id, _ = w.invite(w.first.Key, "mo@example.com", role["role_id"].(float64))
	key, _ = w.newKey(id)
	return id, key
}

// fromFile adds a person as an account file does.
func (w *world) fromFile(id int64, email string) {
	w.t.Helper()
	err := w.app.DB.Write(w.t.Context(), func(tx *db.Tx) error {
		return person.Load(tx, w.first.AccountID, []person.Record{{Item: person.Item{PersonID: id, PersonName: "From File", Email: email, Status: "enabled"}}})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// subject is a person of one row of the table, with everything that an event may end.
type subject struct {
	w        *world
	id       int64
	email    string
	key      string
	keyID    float64
	own      *http.Client // a session that acts
	other    *http.Client // another session
	link     string
	provider *mockoidc.MockUser
}

func (w *world) subject(n int) *subject {
	w.t.Helper()
	p := &subject{w: w, email: fmt.Sprintf("p%d@example.com", n), own: w.browser(), other: w.browser()}
	role := w.role("Other")
	p.id, _ = w.invite(w.first.Key, p.email, role)
	link := w.mailed(p.email)
	if status, _, _ := w.post(p.own, link, "new_password", phrase, "again", phrase); status != 303 {
		w.t.Fatalf("the invitation: %d", status)
	}
	w.post(p.other, "/sign-in", "email", p.email, "password", phrase)
	p.key, p.keyID = w.newKey(p.id)
	private, _ := ecdh.P256().GenerateKey(rand.Reader)
	encoded := base64.RawURLEncoding.EncodeToString
	status, _ := w.as(p.key, "/person/push/subscribe", fmt.Sprintf(`{"endpoint":"https://push.example.com/%d","keys":{"p256dh":%q,"auth":%q}}`,
		n, encoded(private.PublicKey().Bytes()), encoded(make([]byte, 16))))
	if status != 200 {
		w.t.Fatalf("push: %d", status)
	}
	p.provider = &mockoidc.MockUser{Subject: fmt.Sprint("sub-", n), Email: p.email, EmailVerified: true}
	p.link = w.api("/person/link/create", fmt.Sprintf(`{"person_id":%d}`, p.id))["link_path"].(string)
	return p
}

// state returns what is left, in the words of the table.
func (p *subject) state() map[string]string {
	p.w.t.Helper()
	word := func(stays bool) string {
		if stays {
			return "stay"
		}
		return "end"
	}
	sessions := word(p.w.in(p.own))
	if other := word(p.w.in(p.other)); other != sessions {
		sessions = "others " + other
	}
	status, _ := p.w.as(p.key, "/member/info", `{}`)
	pushes := false
	err := p.w.app.DB.Read(p.w.t.Context(), func(tx *db.Tx) error {
		_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM push_subscription WHERE person_id = $1`, p.id)
		pushes = found
		return err
	})
	if err != nil {
		p.w.t.Fatal(err)
	}
	m := p.w.member(p.email)
	if m == nil {
		m = p.w.member("moved-" + p.email)
	}
	return map[string]string{
		"links": word(p.w.opens(p.link)), "sessions": sessions, "app keys": word(status == 200), "push": word(pushes),
		"proof": word(m != nil && m["email_verified"] == true) + "s",
	}
}

// events has what each row of the table does to its person.
var events = map[string]func(*world, *subject){
	"a role is granted": func(w *world, p *subject) {
		w.api("/member/role/grant", fmt.Sprintf(`{"member_id":%d,"role_ids":[%.0f]}`, p.id, w.role("Wide")))
	},
	"a role of the person gets a permission": func(w *world, p *subject) {
		role := w.api("/role/upsert", `{"role_name":"Growing","permission_ids":[1]}`)["role_id"].(float64)
		w.api("/member/role/grant", fmt.Sprintf(`{"member_id":%d,"role_ids":[%.0f]}`, p.id, role))
		if !w.opens(p.link) {
			w.t.Error("a role without a new permission ends the link")
		}
		w.api("/role/upsert", fmt.Sprintf(`{"role_id":%.0f,"role_name":"Growing","permission_ids":[1,2,3]}`, role))
	},
	"a role is revoked": func(w *world, p *subject) {
		w.api("/member/role/revoke", fmt.Sprintf(`{"member_id":%d,"role_ids":[%.0f]}`, p.id, w.role("Other")))
	},
	"the person joins a team": func(w *world, p *subject) {
		w.api("/team/upsert", fmt.Sprintf(`{"team_name":"Joined","person_ids":[%d],"reset_if_name_exist":true}`, p.id))
	},
	"the person leaves a team": func(w *world, p *subject) {
		w.api("/team/upsert", fmt.Sprintf(`{"team_name":"Left","person_ids":[%d]}`, p.id))
		p.link = w.api("/person/link/create", fmt.Sprintf(`{"person_id":%d}`, p.id))["link_path"].(string)
		w.api("/team/upsert", `{"team_name":"Left","person_ids":[],"reset_if_name_exist":true}`)
	},
	"the e-mail address is changed": func(w *world, p *subject) {
		w.api("/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"moved-%s"}`, p.id, p.email))
	},
	"the person signs in with a password": func(w *world, p *subject) {
		w.post(w.browser(), "/sign-in", "email", p.email, "password", phrase)
	},
	"the person signs in at the provider": func(w *world, p *subject) {
		b := w.browser()
		if _, status, _, _ := w.signIn(b, p.provider); status != 303 || !w.in(b) {
			w.t.Errorf("%d", status)
		}
	},
	"the person signs in with an app key": func(w *world, p *subject) {
		w.post(w.browser(), "/sign-in", "app_key", p.key)
	},
	"a password is set with a link": func(w *world, p *subject) {
		w.post(w.browser(), p.link, "new_password", phrase+"!", "again", phrase+"!")
	},
	"the password is changed": func(w *world, p *subject) {
		w.post(p.own, "/me/security/password", "password", phrase, "new_password", phrase+"!", "again", phrase+"!")
	},
	"a second factor is set up": func(w *world, p *subject) { p.secondFactor() },
	"a second factor is removed": func(w *world, p *subject) {
		p.secondFactor()
		w.api("/person/second-factor/remove", fmt.Sprintf(`{"person_id":%d}`, p.id))
		p.other = p.own
	},
	"an app key is disabled": func(w *world, p *subject) {
		session := w.browser()
		w.post(session, "/sign-in", "app_key", p.key)
		p.link = w.api("/person/link/create", fmt.Sprintf(`{"person_id":%d}`, p.id))["link_path"].(string)
		w.api("/person/app-key/disable", fmt.Sprintf(`{"key_id":%.0f,"person_id":%d}`, p.keyID, p.id))
		if w.in(session) {
			w.t.Error("the session of a disabled key goes on")
		}
	},
	"the identity is removed": func(w *world, p *subject) {
		session := w.browser()
		w.signIn(session, p.provider)
		p.link = w.api("/person/link/create", fmt.Sprintf(`{"person_id":%d}`, p.id))["link_path"].(string)
		w.api("/person/identity/remove", fmt.Sprintf(`{"person_id":%d}`, p.id))
		if w.in(session) {
			w.t.Error("the session of a removed identity goes on")
		}
	},
	"the maker of the link is deleted": func(w *world, p *subject) {
		id, key := w.manager()
		if status, _ := w.as(key, "/person/link/create", fmt.Sprintf(`{"person_id":%d}`, p.id)); status != 403 {
			w.t.Errorf("a link for a person who has signed in: %d", status)
		}
		_, p.link = w.invite(key, "guest@example.com")
		if !w.opens(p.link) {
			w.t.Error("the link of an invitation does not open")
		}
		w.api("/member/delete", fmt.Sprintf(`{"member_id":%d}`, id))
	},
	"the person is deleted": func(w *world, p *subject) {
		w.api("/member/delete", fmt.Sprintf(`{"member_id":%d}`, p.id))
	},
}

func (p *subject) secondFactor() {
	p.w.t.Helper()
	_, _, page := p.w.post(p.own, "/me/security/second-factor", "password", phrase)
	found := regexp.MustCompile(`<code>([A-Z2-7]{32})</code>`).FindStringSubmatch(page)
	if found == nil {
		p.w.t.Fatal(page)
	}
	code, err := totp.GenerateCode(found[1], p.w.clock.Now())
	if err != nil {
		p.w.t.Fatal(err)
	}
	p.w.post(p.own, "/me/security/second-factor/confirm", "code", code, "secret", found[1])
}

// TestRuleIsWhatDocumentationStates walks the table of docs/signing-in.md: each event in a row of its own, for a person who has
// everything that it may end.
func TestRuleIsWhatDocumentationStates(t *testing.T) {
	text, err := os.ReadFile("../../docs/signing-in.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| event | links | sessions | app keys | push | proof |\n|---|---|---|---|---|---|\n")
	if !found {
		t.Fatal("docs/signing-in.md has no table of events")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	w := begin(t, plain)
	w.api("/role/upsert", `{"role_name":"Wide","permission_ids":[1,2,3,4]}`)
	left := len(events)
	for n, line := range strings.Split(table, "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		event := events[cells[0]]
		if event == nil || len(cells) != 6 {
			t.Errorf("the test has no event %q", cells[0])
			continue
		}
		left--
		w.clock.Add(20 * time.Second) // the limit of sign-ins of one network
		p := w.subject(n)
		before := p.state()
		for what, word := range before {
			if !strings.HasPrefix(word, "stay") {
				t.Fatalf("%s: %s %s before the event", cells[0], what, word)
			}
		}
		event(w, p)
		got := p.state()
		for i, what := range []string{"links", "sessions", "app keys", "push", "proof"} {
			if got[what] != cells[i+1] {
				t.Errorf("%s: %s %s, and the table has %q", cells[0], what, got[what], cells[i+1])
			}
		}
	}
	if left != 0 {
		t.Errorf("the table lacks %d events", left)
	}
}

// TestIdentityIsBoundByProvedAddress: a verified address finds a person who is pending or has proved the address, and no other.
func TestIdentityIsBoundByProvedAddress(t *testing.T) {
	w := begin(t, func(o *signin.OpenID) { o.Roles["admins"] = "Wide" })
	w.api("/role/upsert", `{"role_name":"Wide","permission_ids":[1,2,3,4]}`)
	w.fromFile(41, "file@example.com")
	b := w.browser()
	if _, status, _, page := w.signIn(b, &mockoidc.MockUser{Subject: "file", Email: "File@example.com", EmailVerified: true}); status != 303 || !w.in(b) {
		t.Errorf("a person of an account file: %d %s", status, page)
	}
	// A person without any role waits at the address of a future colleague.
	id, _ := w.invite(w.first.Key, "mallory@example.com")
	key, _ := w.newKey(id)
	if status, _ := w.as(key, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"jane@example.com"}`, id)); status != 200 {
		t.Fatal(status)
	}
	b = w.browser()
	if _, status, _, page := w.signIn(b, jane("admins")); status != 403 || w.in(b) || !strings.Contains(page, "has not proved it") {
		t.Errorf("an address that a person set themselves: %d", status)
	}
	if m := w.member("jane@example.com"); len(m["account_role_ids"].([]any)) != 0 {
		t.Errorf("roles of the claim: %v", m)
	}
	// The person who reads the mail proves nothing without a session of the person who asked for it.
	mallory := w.browser()
	w.post(mallory, "/sign-in", "app_key", key)
	if status, to, _ := w.post(mallory, "/me/security/email"); status != 303 || to != "/me/security?done=mailed" {
		t.Errorf("asking for a proof: %d %s", status, to)
	}
	if status, _, _ := w.post(mallory, "/me/security/email"); status != 429 {
		t.Errorf("asking twice: %d", status)
	}
	proof := w.mailed("jane@example.com")
	if status, to, _ := w.get(w.browser(), w.url+proof); status != 303 || !strings.HasPrefix(to, "/sign-in") {
		t.Errorf("the link without a session: %d %s", status, to)
	}
	for _, fields := range [][]string{{"do", "prove"}, {"new_password", phrase, "again", phrase}} {
		stranger := w.browser()
		if status, to, _ := w.post(stranger, proof, fields...); status != 303 || !strings.HasPrefix(to, "/sign-in") || w.in(stranger) {
			t.Errorf("%q without a session: %d %s", fields, status, to)
		}
	}
	if w.member("jane@example.com")["email_verified"] == true {
		t.Error("the address is proved")
	}
	if status, _, page := w.get(mallory, w.url+proof); status != 200 || !strings.Contains(page, "The address is mine") {
		t.Errorf("the link in the session: %d", status)
	}
	if status, to, _ := w.post(mallory, proof, "do", "prove"); status != 303 || to != "/me/security?done=proved" {
		t.Errorf("proving: %d %s", status, to)
	}
	if status, _, _ := w.post(mallory, proof, "do", "prove"); status != 404 {
		t.Errorf("proving twice: %d", status)
	}
	b = w.browser()
	if _, status, _, _ := w.signIn(b, jane()); status != 303 || !w.in(b) {
		t.Errorf("a proved address: %d", status)
	}
	b = w.browser()
	second := jane()
	second.Subject = "jane-2"
	if _, status, _, page := w.signIn(b, second); status != 403 || w.in(b) || !strings.Contains(page, "another one at the provider") {
		t.Errorf("a second identity: %d", status)
	}
}

// TestAddressSetByManagerIsNoWayIn: a person with Members Manage who sets a peer's address does not get in as the peer, nor as a
// pending person to whom the owner has granted a role.
func TestAddressSetByManagerIsNoWayIn(t *testing.T) {
	w := begin(t, plain)
	_, key := w.manager()
	peer, _ := w.invite(w.first.Key, "peer@example.com")
	w.newKey(peer)
	thief := &mockoidc.MockUser{Subject: "thief", Email: "thief@example.com", EmailVerified: true}
	for name, step := range map[string]func() (person int64, address string){
		"a peer": func() (int64, string) { return peer, "peer@example.com" },
		"a pending person who got a role": func() (int64, string) {
			id, _ := w.invite(key, "new@example.com")
			return id, "new@example.com"
		},
	} {
		id, address := step()
		if status, _ := w.as(key, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"thief@example.com"}`, id)); status != 200 {
			t.Fatalf("%s: %d", name, status)
		}
		w.api("/member/role/grant", fmt.Sprintf(`{"member_id":%d,"role_ids":[%.0f]}`, id, w.role("Other")))
		b := w.browser()
		if _, status, _, _ := w.signIn(b, thief); status != 403 || w.in(b) {
			t.Errorf("%s: %d", name, status)
		}
		if status, _ := w.as(key, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":%q}`, id, address)); status == 200 {
			w.settle()
		} else {
			w.api("/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":%q}`, id, address))
		}
		if _, status, _, _ := w.signIn(b, thief); status == 303 && w.member("thief@example.com") == nil {
			t.Errorf("%s: the identity stayed bound", name)
		}
		if m := w.member("thief@example.com"); m != nil { // created by the provider, as a person of its own
			w.api("/member/delete", fmt.Sprintf(`{"member_id":%.0f}`, m["member_id"]))
		}
	}
}

// TestLinkEndsWithGrant: the link that a person with Members Manage kept ends when the owner grants a role, when the invited
// person signs in, and when its maker may not make it any more.
func TestLinkEndsWithGrant(t *testing.T) {
	w := begin(t, plain)
	maker, key := w.manager()
	id, link := w.invite(key, "anna@example.com")
	w.api("/member/role/grant", fmt.Sprintf(`{"member_id":%d,"role_ids":[%.0f]}`, id, w.role("Other")))
	if w.opens(link) {
		t.Error("a link outlives a grant")
	}
	if status, _, _ := w.post(w.browser(), link, "new_password", phrase, "again", phrase); status != 404 {
		t.Errorf("a link outlives a grant: %d", status)
	}
	if subjects := w.mailsTo("anna@example.com"); len(subjects) != 0 {
		t.Errorf("an invitation that its maker could not make was mailed: %q", subjects)
	}
	_, link = w.invite(key, "jane@example.com")
	mailed := w.mailed("jane@example.com")
	b := w.browser()
	if _, status, _, _ := w.signIn(b, jane()); status != 303 || !w.in(b) {
		t.Fatalf("%d", status)
	}
	for _, kept := range []string{link, mailed} {
		if status, _, _ := w.post(w.browser(), kept, "new_password", phrase, "again", phrase); status != 404 || !w.in(b) {
			t.Errorf("after the first sign-in: %d", status)
		}
	}
	_, link = w.invite(key, "carl@example.com")
	w.api("/member/role/update", fmt.Sprintf(`{"member_id":%d,"role_ids":[]}`, maker))
	if w.opens(link) {
		t.Error("a link outlives the right of its maker")
	}
	if status, _, _ := w.get(w.browser(), w.url+w.first.LinkPath); status != 200 {
		t.Errorf("the operator's link: %d", status)
	}
}

// TestChangeOfAddressNotifiesOldAddressAndOwner, of a change by the person and by a manager.
func TestChangeOfAddressNotifiesOldAddressAndOwner(t *testing.T) {
	w := begin(t, plain)
	w.api("/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"owner@example.com"}`, w.first.OwnerID))
	_, manager := w.manager()
	id, _ := w.invite(w.first.Key, "ann@example.com")
	key, _ := w.newKey(id)
	w.settle()
	before := len(w.mailsTo("owner@example.com"))
	for i, by := range []string{key, manager} {
		old, fresh := []string{"ann@example.com", "ann1@example.com"}[i], []string{"ann1@example.com", "ann2@example.com"}[i]
		if status, _ := w.as(by, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":%q}`, id, fresh)); status != 200 {
			t.Fatal(status)
		}
		w.clock.Add(time.Minute)
		if got := w.mailsTo("owner@example.com"); len(got) != before+i+1 || !strings.Contains(got[len(got)-1], "was changed") {
			t.Errorf("the owner got %q", got)
		}
		if got := w.mailsTo(old); len(got) == 0 || !strings.Contains(got[len(got)-1], "was changed") {
			t.Errorf("%s got %q", old, got)
		}
		if got := w.mailsTo(fresh); len(got) != 0 {
			t.Errorf("%s got %q", fresh, got)
		}
	}
	// To and fro: in an hour a stranger's mailbox gets one mail, and the owner one about each of the two addresses.
	before = len(w.mailsTo("owner@example.com"))
	for range 10 {
		for _, to := range []string{"victim@example.com", "ann2@example.com"} {
			w.as(key, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":%q}`, id, to))
		}
	}
	if got := w.mailsTo("victim@example.com"); len(got) != 1 {
		t.Errorf("%d mails to a stranger", len(got))
	}
	if got := w.mailsTo("owner@example.com"); len(got) != before+2 {
		t.Errorf("%d mails to the owner", len(got)-before)
	}
}

// nameless is a user whose ID tokens lack sub.
type nameless struct{ *mockoidc.MockUser }

func (n nameless) Claims(scopes []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	c.Subject = ""
	return n.MockUser.Claims(scopes, c)
}

func TestTokenWithoutSubjectIsRefused(t *testing.T) {
	w := begin(t, plain)
	b := w.browser()
	if _, status, _, _ := w.signIn(b, nameless{jane()}); status != 502 || w.in(b) {
		t.Errorf("%d", status)
	}
	if w.member("jane@example.com") != nil {
		t.Error("a person was created")
	}
}

// TestKeptStateWorksOnce sends what a browser kept of one sign-in many times: the provider is asked once.
func TestKeptStateWorksOnce(t *testing.T) {
	w := begin(t, plain)
	b := w.browser()
	w.provider.QueueUser(jane())
	_, away, _ := w.get(b, w.url+"/sign-in/oidc")
	_, back, _ := w.get(b, away)
	u, _ := url.Parse(w.url)
	kept := b.Jar.Cookies(u)
	w.asked.Store(0)
	in := 0
	for n := range 100 {
		if n == 50 {
			w.clock.Add(time.Minute) // the limit of a network
		}
		thief := w.browser()
		for _, c := range kept {
			c.Path = "/"
		}
		thief.Jar.SetCookies(u, kept)
		if status, _, _ := w.get(thief, back); status == 303 {
			in++
		} else if status != 400 {
			t.Fatalf("%d", status)
		}
	}
	if asked := w.asked.Load(); in != 1 || asked > 4 { // discovery, keys, token, profile
		t.Errorf("%d sign-ins, %d requests to the provider", in, asked)
	}
	used := func() (n int64) {
		err := w.app.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM sign_in_state`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := used()
	w.clock.Add(11 * time.Minute)
	w.settle()
	if before != 1 || used() != 0 {
		t.Errorf("%d states are stored, and %d after they have ended", before, used())
	}
}
