package console_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
)

const ann = "/people/7000000000012"

// TestPeople invites, changes and deletes a person, and replaces roles.
func TestPeople(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/people").shows("Ann Day", "ann@example.com", "Responder", "Invite people")
	owner.get("/people?q=nobody").shows("No person matches", "!Ann Day")
	owner.get(ann).shows("Not confirmed yet", "Europe/Berlin", "/teams/7000000000021")
	made := owner.post("/people", "email", "new@example.com", "name", "New Hand").shows("New Hand", "The person was added")
	person, _, _ := strings.Cut(made.path, "?")
	owner.post("/people", "email", "no address").showsWith(http.StatusBadRequest, `>no address</textarea>`)
	owner.post(person+"/roles", "role", "7").shows(`value="7" checked`, "Saved.")
	owner.post(person + "/roles").shows("!checked")
	owner.post(person, "name", `"><img src=x>`, "email", "new@example.com", "locale", "zh-CN", "zone", "Asia/Tokyo").shows("&#34;&gt;&lt;img", "!<img src=x>", "Asia/Tokyo")
	owner.post(person, "name", "New Hand", "zone", "Moon/Sea").showsWith(http.StatusBadRequest, "time_zone", `value="Moon/Sea"`)
	owner.post(person + "/delete").shows("Deleted.")
	owner.get(person).showsWith(http.StatusNotFound, "There is no such person")
	owner.post(ann+"/delete").showsWith(http.StatusBadRequest, "is used by schedule")

	b := w.signIn(annKey)
	b.get("/people").shows("!Invite people")
	b.get("/people/7000000000013").shows("Bob Night", "!Change the profile", "!Save the roles", "!Delete this person", "!How they are notified")
	b.post("/people/7000000000013", "name", "Robert").showsWith(http.StatusForbidden)
	b.get(ann).shows("Change the profile", "How they are notified")
	w.signIn(emptyKey).get("/people").shows("Emil")
	w.signIn(emptyKey).get(ann).showsWith(http.StatusNotFound, "!Ann Day")
}

// TestLinkToSetPassword makes links for persons, shows each once, and is refused where the operation is.
func TestLinkToSetPassword(t *testing.T) {
	t.Parallel()
	const button = "Make a link to set a password"
	w := begin(t)
	owner := w.signIn(ownerKey)
	person, _, _ := strings.Cut(owner.post("/people", "email", "new@example.com", "name", "New <Hand>").shows("Make a link for them", button).path, "?")
	made := owner.post(person+"/link").shows("It is not shown again", "Give it to New &lt;Hand&gt;", "It works once, until", "http://tocsin.example.com/link/")
	link := regexp.MustCompile(`<pre id="link">http://tocsin.example.com(/link/[^<]+)</pre>`).FindStringSubmatch(made.body)
	owner.get(person).shows("!/link/"+strings.TrimPrefix(link[1], "/link/"), button)
	visitor := w.visitor()
	visitor.get(link[1]).shows("Set your password")
	visitor.post(link[1], "new_password", "a long pass phrase", "again", "a long pass phrase")
	w.visitor().get(link[1]).showsWith(http.StatusNotFound, "This link was used")

	owner.get(ann).shows(button)
	owner.post(ann + "/link").shows("Give it to Ann Day")
	owner.post("/people/5/link").showsWith(http.StatusNotFound, "!It is not shown again")
	owner.get("/people/7000000000011").shows("My settings", "!"+button)

	b := w.signIn(annKey)
	b.get("/people/7000000000013").shows("!" + button)
	b.post("/people/7000000000013/link").showsWith(http.StatusForbidden, "!It is not shown again")
	// Who may invite makes links for those who have not signed in yet, and for no others.
	inviter := w.anyone(w.kindOf("inviter", []string{"Members Read (org)", "Members Manage (org)"}))
	inviter.get(ann).shows("!" + button)
	inviter.post(ann+"/link").showsWith(http.StatusForbidden, "only the account&#39;s owner", "!It is not shown again")
	fresh, _, _ := strings.Cut(inviter.post("/people", "email", "fresh@example.com", "name", "Fresh Hand").shows(button).path, "?")
	inviter.post(fresh + "/link").shows("Give it to Fresh Hand")
	owner.post(fresh+"/roles", "role", "7")
	inviter.post(fresh+"/link").showsWith(http.StatusForbidden, "lacks permissions", "!It is not shown again")

	owner.lang = "zh"
	owner.get(fresh+"?done=invited").shows("生成设置密码的链接", "已添加成员")
	owner.post(fresh+"/link").shows("离开此页后不再显示", "请转交给 Fresh Hand", "!Give it")
}

// TestIdentityIsRemoved removes who a person is at the provider, after a confirmation. Only the owner sees the button.
func TestIdentityIsRemoved(t *testing.T) {
	t.Parallel()
	const button = "Remove the identity of Ann Day"
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get(ann).shows("!" + button)
	w.must(w.app.DB.Write(t.Context(), func(tx *db.Tx) error {
		return credential.SetIdentity(tx, 7000000000001, "https://id.example.com", "ann", 7000000000012, w.clock.Now())
	}))
	w.signIn(annKey).get(ann).shows("!" + button)
	owner.get(ann).shows("Remove the identity at the provider", button)
	w.signIn(annKey).post(ann + "/identity/remove").showsWith(http.StatusForbidden)
	owner.lang = "zh"
	owner.get(ann).shows("移除 Ann Day 的身份")
	owner.lang = "en"
	owner.post(ann+"/identity/remove").shows("Saved.", "!"+button)
}

// TestMySettings changes the profile and the ways of being notified.
func TestMySettings(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	b.get("/me").shows("How you are notified", "Europe/Berlin")
	b.post("/me", "name", "Ann Night", "locale", "en-US", "zone", "Asia/Tokyo").shows("Saved.", "Ann Night", "Asia/Tokyo")
	b.post("/me/notify", "critical", "email", "warning", "email", "quiet_from", "22:00", "quiet_to", "07:00")
	b.get("/me").shows(`value="22:00"`, `name="critical" value="email" aria-label="Critical: E-mail" checked`, `name="info" value="email" aria-label="Info: E-mail">`)
	b.get(ann).shows("Quiet from 22:00 to 07:00 (Asia/Tokyo)", "E-mail, because nothing else is chosen")
	b.post("/me/notify", "critical", "email", "quiet_from", "22:00", "quiet_to", "").showsWith(http.StatusBadRequest, `value="22:00"`)
	b.post("/me/notify", "critical", "voice", "quiet_from", "", "quiet_to", "")
	b.get("/me").shows("!22:00")
}

// TestTeamsAndRoles makes, changes and deletes a team and a role.
func TestTeamsAndRoles(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	w.signIn(emptyKey).get("/teams").shows("There is no team yet")
	w.signIn(emptyKey).get("/roles").shows("There are no roles yet")
	team := owner.post("/teams", "name", "Search").shows("Search").path
	team, _, _ = strings.Cut(team, "?")
	owner.post("/teams", "name", "Search").showsWith(http.StatusBadRequest, `value="Search"`)
	owner.post(team, "name", "Index", "about", "indexes", "person", "7000000000012").shows("Index", "indexes", `value="7000000000012" checked`)
	owner.post("/teams/7000000000021/delete").showsWith(http.StatusBadRequest, "is used by channel")
	owner.post(team+"/delete").shows("Deleted.", "!Index")

	owner.get("/roles").shows("Responder", "2 persons have it", "In detail", "May change", "granted", "!(on-call)")
	role := owner.post("/roles", "name", "Watcher").shows("Watcher").path
	owner.post(role, "name", "Watchers", "about", "", "permission", "1").shows("Watchers", "Saved.")
	owner.get(role).shows(`value="1" selected`)
	owner.post(role+"/people", "people", "1", "person.add", "Rita").shows("Saved.", `value="7000000000014" checked`)
	owner.post(role+"/people", "people", "1", "person.add", "Unknown").showsWith(http.StatusBadRequest, "named “Unknown”")
	owner.post(role+"/people", "people", "1").shows("Saved.", "!checked")
	owner.post(role+"/disable").shows("It grants nothing", role+"/enable")
	owner.post(role + "/enable").shows("Disable Watchers")
	owner.post(role, "name", strings.Repeat("x", 40)).showsWith(http.StatusBadRequest, "role_name")
	owner.post(role+"/delete").shows("Deleted.", "!Watchers")

	b := w.signIn(annKey)
	b.get("/teams").shows("ops", "!Make the team")
	b.get("/teams/7000000000021").shows("Bob Night", "!Delete this team")
	b.get("/roles").shows("Responder", "!Make the role")
	b.get("/roles/7").shows("!Delete this role", "Bob Night", "May change")
	b.post("/roles/7", "name", "x", "permission", "1").showsWith(http.StatusForbidden)
}

// TestKeys makes a key, which is shown once, disables and deletes it.
func TestKeys(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	made := b.post("/keys", "name", "ci <b>", "permission", "Schedules Read (on-call)", "expires", "2027-01-01", "scripts", "1").shows("It is not shown again", "ci &lt;b&gt;", "Limited", "Waits up to 30 s")
	secret := regexp.MustCompile(`<code id="secret">([^<]+)</code>`).FindStringSubmatch(made.body)
	if secret == nil {
		t.Fatal("no key is shown")
	}
	w.call(secret[1], "/schedule/list", `{}`)
	list := b.get("/keys").shows("!"+secret[1], "!It is not shown again")
	key := regexp.MustCompile(`action="(/keys/\d+)/disable"><button class="btn sm">Disable <span class="hidden">ci`).FindStringSubmatch(list.body)
	if key == nil {
		t.Fatal(list.main())
	}
	b.post(key[1]+"/disable").shows("Disabled", key[1]+"/enable")
	b.post(key[1] + "/enable").shows("Saved.")
	b.post(key[1]+"/delete").shows("Deleted.", "!ci &lt;b&gt;")
	b.post("/keys", "name", "x", "expires", "soon").showsWith(http.StatusBadRequest, "Enter a date", `value="x"`)
	b.post("/keys", "name", "x", "permission", "Audit Read (org)").showsWith(http.StatusBadRequest, `value="Audit Read (org)" selected`)
}

// TestOwnerEndsAccess lists and changes the keys and sessions of another person, as the owner; no one else sees them.
func TestOwnerEndsAccess(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner, b := w.signIn(ownerKey), w.signIn(annKey)
	owner.get(ann).shows(ann+"/keys", ann+"/sessions", "!two-step verification")
	list := owner.get(ann+"/keys").shows("App keys of Ann Day", "ann")
	key := regexp.MustCompile(`action="(` + ann + `/keys/\d+)/rename"`).FindStringSubmatch(list.body)
	owner.post(key[1]+"/rename", "key_name", "Ann's laptop").shows("Ann&#39;s laptop", "Saved.")
	owner.post(ann+"/keys", "name", "later", "off", "1").shows("It is not shown again", "later", "Disabled")
	owner.get(ann+"/sessions").shows("Sessions of Ann Day", "With an app key", "End all sessions")
	owner.post(ann + "/sessions/end").shows("Not signed in anywhere")
	b.get("/keys").showsWith(http.StatusOK, "Sign in")
	owner.post(key[1]+"/delete").shows("Deleted.", "!laptop")
	bob := w.signIn(bobKey)
	for _, path := range []string{"/keys", "/sessions"} {
		bob.get(ann+path).showsWith(http.StatusForbidden, "owner of the account")
		bob.get("/people/7000000000013" + path).shows("Bob Night")
		owner.get("/people/7000000000099" + path).showsWith(http.StatusNotFound)
	}
}

// TestInvitesSeveral invites persons by lines of addresses, with one role.
func TestInvitesSeveral(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post("/people", "email", "one@example.com\ntwo@example.com", "name", "One").showsWith(http.StatusBadRequest, "for one person", "two@example.com")
	owner.post("/people", "email", "").showsWith(http.StatusBadRequest, "e-mail address or a phone number")
	owner.post("/people", "email", "one@example.com\r\n two@example.com \n", "role", "7", "locale", "zh-CN").shows("The persons were added", "two@example.com")
	one := owner.post("/people", "email", "", "phone", "1700000", "country", "DE", "name", "Hand Phone", "ref", "hr-5").shows("Hand Phone", "hr-5", "DE")
	owner.post(strings.TrimSuffix(one.path, "?done=invited"), "name", "Hand Phone", "ref", "hr-6", "country", "AT", "avatar", "/a.png").shows("hr-6", "AT", "/a.png")
}

// TestAudit shows what a call sent and what was sent before.
func TestAudit(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	team, _, _ := strings.Cut(owner.post("/teams", "name", "Search").path, "?")
	w.clock.Add(time.Second)
	owner.post(team, "name", "Find", "about", "finds", "person", "7000000000012")
	list := owner.get("/audit").shows("Olga Owner", "3 calls that changed something")
	entries := regexp.MustCompile(`href="(/audit/[^"?]+\?at=\d+)"`).FindAllStringSubmatch(list.body, -1)
	if len(entries) != 3 { // the first is the sign-in
		t.Fatal(list.main())
	}
	owner.get(entries[0][1]).shows("<del>Search</del>", "<ins>Find</ins>", "description", "not known")
	owner.get("/audit?operation=team:write:delete").shows("No call matches")
	owner.get("/audit?danger=1&person=7000000000012").shows("No call matches")
	owner.get("/audit/none?at=5").showsWith(http.StatusNotFound, "no such entry")
	w.signIn(annKey).get("/audit").showsWith(http.StatusForbidden, "Audit Read (org)")
}

// TestPeopleInChinese reads the pages of people and access in Chinese, of a full and an empty account.
func TestPeopleInChinese(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, key := range []string{ownerKey, emptyKey} {
		b := w.signIn(key)
		b.lang = "zh"
		pages := []string{"/people", "/people?q=none", "/teams", "/roles", "/keys", "/audit", "/me"}
		if key == ownerKey {
			pages = append(pages, ann, "/teams/7000000000021", "/roles/7", ann+"/keys", ann+"/sessions")
		}
		for _, path := range pages {
			for _, text := range englishWords.FindAllString(notText.ReplaceAllString(b.get(path).shows().main(), "|"), -1) {
				if !strings.Contains("Olga Owner|Ann Day|Bob Night|Rita Reader|App key", text) {
					t.Errorf("%s: %q", path, text)
				}
			}
		}
	}
}

var (
	notText      = regexp.MustCompile(`<span[^>]*lang="en"[^>]*>.*?</span>|<th scope="row" lang="en">.*?</th>|<option value="[a-z_:-]+"[^>]*>.*?</option>|<[^>]*>`)
	englishWords = regexp.MustCompile(`[A-Za-z]{2,} [A-Za-z]{2,}`)
)
