package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/auth"
	"tocsin/internal/demo"
	"tocsin/internal/person"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// The demo's account has a person and schedules of each kind.
const (
	anna     = 3846027200131
	jonas    = 3846027201131
	zoe      = 3846027202131
	platform = 3846027350131 // weekly, with overrides
	checkout = 3846027351131 // with gaps
	nobody   = 3846027357131 // without layers
)

// site is the console of the demo's account.
type site struct {
	t    *testing.T
	url  string
	keys demo.Keys
}

// noon is the moment of the tests: a Wednesday, four days before the clocks of Berlin go forward.
var noon = time.Date(2027, 3, 24, 13, 20, 0, 0, time.UTC)

// open returns the console of the demo's account with a few of its deliveries. Storing all deliveries took most of the time
// of these tests, and no test looks at deliveries.
func open(t *testing.T) *site {
	t.Helper()
	return serve(t, func(a *app.App) (demo.Keys, error) {
		f := demo.Account(noon)
		f.Deliveries = f.Deliveries[:100]
		if err := accountfile.Import(context.Background(), a.DB, a.Keyring, f, noon, false); err != nil {
			return demo.Keys{}, err
		}
		return demo.Fill(context.Background(), a.DB, a.Keyring, noon) // Fill adds the keys
	})
}

// emptySite is an account with its owner alone.
func emptySite(t *testing.T) *site {
	t.Helper()
	return serve(t, func(a *app.App) (keys demo.Keys, err error) {
		full := demo.Account(noon)
		f := &accountfile.File{Format: full.Format, Account: full.Account, Roles: full.Roles, Persons: full.Persons[:1]}
		if err := accountfile.Import(context.Background(), a.DB, a.Keyring, f, noon, false); err != nil {
			return keys, err
		}
		err = a.DB.Write(context.Background(), func(tx *db.Tx) (err error) {
			_, keys.All, err = person.CreateKey(tx, auth.NewKey{Account: f.Account.AccountID, Person: f.Account.OwnerID, Name: "all"}, noon.Unix())
			return err
		})
		return keys, err
	})
}

func serve(t *testing.T, fill func(*app.App) (demo.Keys, error)) *site {
	t.Helper()
	a, err := app.New(context.Background(), app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.At(noon), Log: slog.New(slog.DiscardHandler), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t}
	s.keys, err = fill(a)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	s.url = server.URL
	t.Cleanup(func() { server.Close(); a.Close() })
	return s
}

// reader is a person with a browser.
type reader struct {
	*site
	http.Client
	language string
}

func (s *site) signIn(key, language string) *reader {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	v := &reader{site: s, language: language}
	v.Jar = jar
	v.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	at, _ := url.Parse(s.url)
	jar.SetCookies(at, []*http.Cookie{{Name: "lang", Value: language}})
	if status, _, to := v.post("/sign-in", url.Values{"app_key": {key}}); status != http.StatusSeeOther || to != "/" {
		s.t.Fatalf("sign in: %d %s", status, to)
	}
	return v
}

func (v *reader) get(path string) (int, string) {
	v.t.Helper()
	reply, err := v.Get(v.url + path)
	if err != nil {
		v.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

func (v *reader) post(path string, fields url.Values) (int, string, string) {
	v.t.Helper()
	request, err := http.NewRequest(http.MethodPost, v.url+path, strings.NewReader(fields.Encode()))
	if err != nil {
		v.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", v.url)
	reply, err := v.Do(request)
	if err != nil {
		v.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return reply.StatusCode, string(text), reply.Header.Get("Location")
}

// call calls an operation with the owner's key.
func (s *site) call(path, body string, into any) {
	s.t.Helper()
	reply, err := http.Post(s.url+path+"?app_key="+s.keys.All, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	envelope := struct{ Data any }{into}
	if err := json.NewDecoder(reply.Body).Decode(&envelope); err != nil || reply.StatusCode != 200 {
		s.t.Fatalf("%s: %d %v", path, reply.StatusCode, err)
	}
}

var (
	inputs    = regexp.MustCompile(`<input [^>]*>|(?s)<select .*?</select>`)
	attribute = regexp.MustCompile(` ([a-z]+)(?:="([^"]*)")?`)
	options   = regexp.MustCompile(`<option value="([^"]*)"( selected)?`)
)

// form returns what a browser sends for the form with an action, as the page shows it.
func form(page, action string) url.Values {
	fields := url.Values{}
	_, page, _ = strings.Cut(page, `<form method="post" action="`+action+`"`)
	page, _, _ = strings.Cut(page, "</form>")
	for _, tag := range inputs.FindAllString(page, -1) {
		attributes := map[string]string{}
		for _, a := range attribute.FindAllStringSubmatch(strings.SplitAfterN(tag, ">", 2)[0], -1) {
			attributes[a[1]] = html.UnescapeString(a[2])
		}
		_, checked := attributes["checked"]
		value := attributes["value"]
		if strings.HasPrefix(tag, "<select") {
			for i, o := range options.FindAllStringSubmatch(tag, -1) {
				if i == 0 || o[2] != "" {
					value = html.UnescapeString(o[1])
				}
			}
		} else if attributes["type"] == "checkbox" && !checked {
			continue
		}
		fields.Add(attributes["name"], value)
	}
	return fields
}

func with(fields url.Values, more ...string) url.Values {
	for i := 0; i < len(more); i += 2 {
		fields.Set(more[i], more[i+1])
	}
	return fields
}

func has(t *testing.T, page string, texts ...string) {
	t.Helper()
	plain := html.UnescapeString(page)
	for _, text := range texts {
		if !strings.Contains(page, text) && !strings.Contains(plain, text) {
			t.Errorf("the page has no %q:\n%.3000s", text, page[max(0, strings.Index(page, "<main")):])
		}
	}
}

func lacks(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func at(id int64, rest string) string { return fmt.Sprintf("/schedules/%d%s", id, rest) }

func TestSchedulePages(t *testing.T) {
	t.Parallel()
	s := open(t)
	for _, who := range []struct{ key, language string }{{s.keys.All, "en"}, {s.keys.All, "zh"}, {s.keys.ReadOnly, "en"}} {
		v := s.signIn(who.key, who.language)
		for _, path := range []string{
			"/schedules", "/schedules?q=zzz", "/schedules?p=7", "/people/3846027200131/shifts", "/people/42/shifts?from=99999999999",
			at(platform, ""), at(platform, "?from=2027-03-22&days=14&tz=Europe/Berlin&also=Asia/Shanghai"), at(platform, "?from=2027-10-25&tz=Australia/Lord_Howe&also=nowhere"),
			at(platform, "?from=x&days=9999&tz=%22%3E%3Cimg%20src=x%3E"), at(platform, "?from=2002-01-01&days=42"), at(platform, "?from=0001-01-01"), at(platform, "?from=9999-12-31"), at(checkout, ""), at(nobody, ""),
			at(platform, "/why"), at(platform, "/why?at=1807000000"), at(platform, "/why?moment=2027-03-28T02:30"), at(nobody, "/why"),
			at(platform, "/override"), at(checkout, "/override?start=1806000000&end=1806040000&whom=all"), at(platform, "/override?start=9&end=99999999999999&by=x"),
			at(platform, "/shift/take"), at(platform, "/shift/ask"), at(nobody, "/shift/hand-over"), at(platform, "/shift/take?start=9&end=99999999999999&person=x"), at(platform, "/hours"), at(platform, "/hours?from=2027-03-01&until=2027-04-01"), at(nobody, "/hours"),
			"/calendar-feeds", fmt.Sprintf("/calendar-feeds?kind=schedule&id=%d", int64(platform)),
		} {
			status, page := v.get(path)
			if status != http.StatusOK || !strings.Contains(page, "</html>") {
				t.Errorf("%s in %s: %d %.2000s", path, who.language, status, page)
			}
			lacks(t, page, "<img src=x", "%!", "<no value>", "ZgotmplZ")
		}
		for path, template := range map[string]string{"/schedules/new": "New schedule", at(platform, "/edit"): "Edit layers", at(platform, "/plan"): "", at(nobody, "/edit"): "Edit layers", at(platform, "/delete"): "It cannot be deleted"} {
			status, page := v.get(path)
			if may := who.key == s.keys.All; may && (status != http.StatusOK || who.language == "en" && !strings.Contains(page, template)) || !may && status != http.StatusForbidden {
				t.Errorf("%s in %s: %d", path, who.language, status)
			}
			lacks(t, page, "<img src=x", "%!", "<no value>", "ZgotmplZ")
		}
		for _, path := range []string{at(42, ""), at(42, "/why"), at(42, "/shift/take"), at(platform, "/shift/x"), at(42, "/override"), "/schedules/x", at(platform, "/hours?from=2020-01-01")} {
			if status, _ := v.get(path); status != http.StatusNotFound && status != http.StatusBadRequest {
				t.Errorf("%s: %d", path, status)
			}
		}
	}
}

func TestEmptyAccountSaysWhatToDo(t *testing.T) {
	t.Parallel()
	s := emptySite(t)
	for language, texts := range map[string][]string{
		"en": {"There are no schedules yet.", "No shifts in these 30 days.", "There are no addresses yet."},
		"zh": {"还没有值班表。", "这 30 天内没有班次。", "还没有地址。"},
	} {
		v := s.signIn(s.keys.All, language)
		for i, path := range []string{"/schedules", "/people/3846027200131/shifts", "/calendar-feeds"} {
			status, page := v.get(path)
			if has(t, page, texts[i]); status != http.StatusOK {
				t.Errorf("%s in %s: %d", path, language, status)
			}
		}
	}
}

func TestPictureSaysWhatOperationsSay(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	_, list := v.get("/schedules")
	has(t, list, "Plattform: Rufbereitschaft", "used by 2 escalation rules", "Not used: pages nobody", "gap from")
	_, page := v.get(at(checkout, "?from=2027-03-22&tz=Europe/Berlin&also=Asia/Shanghai"))
	has(t, page, "Times in Berlin (schedule)", "Shanghai", "+7 h", "+6 h", "23 h", "02→03", "Clocks go forward", "No one is on call for 9 h", "Fill the gap", "this hour does not exist")
	_, page = v.get(at(checkout, "?from=2027-10-25&tz=Europe/Berlin"))
	has(t, page, "25 h", "03→02", "Clocks go back", "this hour comes twice")
	var now struct {
		Words []string `json:"words"`
	}
	s.call("/schedule/explain", fmt.Sprintf(`{"schedule_id": %d}`, int64(platform)), &now)
	_, page = v.get(at(platform, "/why"))
	has(t, page, "Siobhán", "An override replaces every other layer at this moment.", "The override Dentist replaces this layer.")
	if !strings.Contains(now.Words[0], "Siobhán") {
		t.Errorf("the operation says %q", now.Words)
	}
	_, page = v.get(at(nobody, ""))
	has(t, page, "This schedule has no layers", "Not used: no escalation rule pages from it.")
}

func TestOverridesAreMadeAndDeleted(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	path := at(platform, "/override")
	_, page := v.get(path + fmt.Sprintf("?start=1806566400&end=1806573600&whom=%d&by=%d", int64(jonas), int64(zoe)))
	entered := with(form(page, path), "reason", `Dentist "><img src=x onerror=alert(1)>`, "whom", "role:0")
	status, page, _ := v.post(path, with(entered, "do", "review"))
	if status != http.StatusOK {
		t.Fatalf("review: %d", status)
	}
	has(t, page, "Zoë Lefèvre", "+2 h", "−2 h", html.EscapeString(entered.Get("reason")))
	lacks(t, page, "<img src=x")
	var listed struct {
		Total int
		Items []struct {
			ID     int64  `json:"override_id"`
			Reason string `json:"reason"`
		}
	}
	list := func() {
		s.call("/schedule/override/list", fmt.Sprintf(`{"schedule_ids": [%d]}`, int64(platform)), &listed)
	}
	if list(); listed.Total != 1 {
		t.Fatalf("a review made an override: %+v", listed)
	}
	status, page, _ = v.post(path, with(entered, "do", "save", "end", entered.Get("start")))
	if status != http.StatusBadRequest {
		t.Fatalf("an end at the start: %d", status)
	}
	has(t, page, "end", entered.Get("start"), html.EscapeString(entered.Get("reason")))
	_, _, to := v.post(path, with(entered, "end", "2027-04-01T12:00"))
	if list(); listed.Total != 2 || to != at(platform, "") {
		t.Fatalf("%+v, then %s", listed, to)
	}
	status, _, _ = v.post(path+"/delete", url.Values{"override": {fmt.Sprint(listed.Items[0].ID)}})
	if list(); listed.Total != 1 || status != http.StatusSeeOther {
		t.Fatalf("deleted: %d %+v", status, listed)
	}
}

// TestGapIsFilled: an override in which there is no one to replace becomes a layer, and the others stay as they were.
func TestGapIsFilled(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	_, page := v.get(at(checkout, ""))
	link := regexp.MustCompile(`href="([^"]*/override[?][^"]*whom=all[^"]*)"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatal("no link fills the gap")
	}
	_, page = v.get(html.UnescapeString(link[1]))
	fields := with(form(page, at(checkout, "/override")), "by", fmt.Sprint(int64(zoe)), "reason", "Gap")
	status, page, _ := v.post(at(checkout, "/override"), with(fields, "do", "review"))
	if status != http.StatusOK {
		t.Fatalf("review: %d %s", status, page)
	}
	has(t, page, "+9 h")
	layers := func() (all []map[string]any) {
		var reply struct{ Layers []map[string]any }
		s.call("/schedule/info", fmt.Sprintf(`{"schedule_id": %d}`, int64(checkout)), &reply)
		for _, l := range reply.Layers {
			delete(l, "update_at")
			delete(l, "update_by")
		}
		return reply.Layers
	}
	before := layers()
	status, page, _ = v.post(at(checkout, "/override"), with(fields, "do", "save"))
	if status != http.StatusSeeOther {
		t.Fatalf("save: %d %s", status, page)
	}
	after := layers()
	if len(after) != len(before)+1 || fmt.Sprint(after[:len(before)]) != fmt.Sprint(before) {
		t.Errorf("%v\nwas\n%v", after, before)
	}
	_, page = v.get(at(checkout, ""))
	lacks(t, page, html.EscapeString(link[1]))
}

func TestAbsencesAreRecordedAndDeleted(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	person := fmt.Sprintf("/people/%d", int64(jonas))
	_, page := v.get(person + "/shifts")
	has(t, page, "Shifts of Jonas Köhler", "Plattform: Rufbereitschaft")
	fields := url.Values{"start": {"2027-04-05T09:00"}, "end": {"2027-05-10T09:00"}, "note": {"Holiday & <b>"}}
	status, page, _ := v.post(person+"/absence", with(fields, "do", "review"))
	has(t, page, "− ", "Jonas Köhler", "+ ", "Holiday &amp; &lt;b&gt;")
	if status != http.StatusOK {
		t.Fatalf("review: %d", status)
	}
	status, _, _ = v.post(person+"/absence", with(fields, "do", "save", "end", "x"))
	if status != http.StatusBadRequest {
		t.Fatalf("no end: %d", status)
	}
	status, _, _ = v.post(person+"/absence", with(fields, "end", "2027-05-10T09:00"))
	if status != http.StatusSeeOther {
		t.Fatalf("save: %d", status)
	}
	_, page = v.get(person + "/shifts")
	absence := regexp.MustCompile(`name="absence" value="(\d+)"`).FindStringSubmatch(page)
	if has(t, page, "Holiday &amp; &lt;b&gt;"); absence == nil {
		t.Fatal("the absence cannot be deleted")
	}
	status, _, _ = v.post(person+"/absence/delete", url.Values{"absence": {absence[1]}})
	if status != http.StatusSeeOther {
		t.Fatalf("delete: %d", status)
	}
	_, page = v.get(person + "/shifts")
	has(t, page, "No absences from now on.")
}

func TestLayersAreEdited(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	path := at(platform, "/edit")
	stored := func() string {
		var reply struct {
			Revision int64
			Layers   []map[string]any
		}
		s.call("/schedule/info", fmt.Sprintf(`{"schedule_id": %d}`, int64(platform)), &reply)
		for _, l := range reply.Layers {
			delete(l, "update_at")
			delete(l, "update_by")
		}
		return fmt.Sprint(reply.Layers)
	}
	before := stored()
	_, page := v.get(path)
	status, page, _ := v.post(path, with(form(page, path), "do", "plan"))
	if has(t, page, "This changes nothing"); status != http.StatusOK {
		t.Fatalf("plan: %d", status)
	}
	_, page = v.get(path)
	_, page, _ = v.post(path, with(form(page, path), "do", "group-down:0:0"))
	if got := form(page, path); got.Get("l0.g0.name") != "Jonas" || got.Get("l0.g1.name") != "Anna" {
		t.Fatalf("down: %v", got)
	}
	status, page, _ = v.post(path, with(form(page, path), "do", "preview"))
	if has(t, page, "Preview of the next two weeks", `class="lane final"`); status != http.StatusOK {
		t.Fatalf("preview: %d", status)
	}
	_, page, _ = v.post(path, with(form(page, path), "do", "layer"))
	_, page, _ = v.post(path, with(form(page, path), "do", "remove:4"))
	status, refused, _ := v.post(path, with(form(page, path), "do", "plan", "l0.value", "0"))
	if has(t, refused, "layers[0]"); status != http.StatusBadRequest || form(refused, path).Get("l0.g0.name") != "Jonas" {
		t.Errorf("no length of turns: %d", status)
	}
	status, plan, _ := v.post(path, with(form(page, path), "do", "plan"))
	if has(t, plan, "Review the change", "As it is", "After saving", "Anna Schäfer", "Jonas Köhler", "Save and tell"); status != http.StatusOK || stored() != before {
		t.Fatalf("plan: %d", status)
	}
	save := with(form(plan, at(platform, "/plan")), "do", "save")
	_, page, _ = v.post(at(platform, "/plan"), with(form(plan, at(platform, "/plan")), "do", "edit"))
	if got := form(page, path); got.Get("l0.g0.name") != "Jonas" {
		t.Errorf("keep editing: %v", got)
	}
	s.call("/schedule/update", fmt.Sprintf(`{"schedule_id": %d, "description": "meanwhile"}`, int64(platform)), nil)
	status, plan, _ = v.post(at(platform, "/plan"), save)
	if has(t, plan, "Nothing was saved", "Anna Schäfer"); status != http.StatusOK || stored() != before {
		t.Fatalf("a stale plan: %d, %s", status, stored())
	}
	status, page, to := v.post(at(platform, "/plan"), with(form(plan, at(platform, "/plan")), "do", "save"))
	if status != http.StatusSeeOther || to != at(platform, "") || stored() == before {
		t.Fatalf("save: %d %s %s", status, to, page)
	}
}

// TestSeldomSettingsOfLayerAreSet: check boxes that are folded set what an ordinary layer leaves unset, and clear it again.
func TestSeldomSettingsOfLayerAreSet(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	path := at(platform, "/edit")
	for _, set := range []bool{true, false} {
		_, page := v.get(path)
		fields := with(form(page, path), "do", "plan")
		for _, name := range []string{"l0.fair", "l0.continuous", "l0.hidden"} {
			fields.Del(name)
			if set {
				fields.Set(name, "1")
			}
		}
		_, plan, _ := v.post(path, fields)
		if _, page, to := v.post(at(platform, "/plan"), with(form(plan, at(platform, "/plan")), "do", "save")); to != at(platform, "") {
			t.Fatalf("saved: %q %s", to, page)
		}
		var reply struct {
			Layers []struct {
				Fair       bool `json:"fair_rotation"`
				Continuous bool `json:"mask_continuous_enabled"`
				Hidden     int
			}
		}
		s.call("/schedule/info", fmt.Sprintf(`{"schedule_id": %d}`, int64(platform)), &reply)
		if l := reply.Layers[0]; l.Fair != set || l.Continuous != set || (l.Hidden == 1) != set {
			t.Errorf("set %t: the layer has %+v", set, l)
		}
	}
}

// TestNoticesOfScheduleAreSet: messages about shifts are set in the form, and their chats stay.
func TestNoticesOfScheduleAreSet(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	path := at(platform, "/edit")
	chat := `[{"type": "slack", "settings": {"token": "T"}}]`
	s.call("/schedule/update", fmt.Sprintf(`{"schedule_id": %d, "notify": {"webhooks": %s}}`, int64(platform), chat), nil)
	save := func(pairs ...string) (string, string) {
		t.Helper()
		_, page := v.get(path)
		_, plan, _ := v.post(path, with(form(page, path), append(pairs, "do", "plan")...))
		_, _, to := v.post(at(platform, "/plan"), with(form(plan, at(platform, "/plan")), "do", "save"))
		return plan, to
	}
	if _, to := save("advance", "90", "daily", "08:30", "notice_method", "sms"); to != at(platform, "") {
		t.Fatalf("saved: %q", to)
	}
	var reply struct {
		Notify struct {
			AdvanceInTime int64                  `json:"advance_in_time"`
			FixedTime     struct{ Start string } `json:"fixed_time"`
			By            struct {
				PersonalChannels []string `json:"personal_channels"`
			}
			Webhooks []map[string]any
		}
	}
	s.call("/schedule/info", fmt.Sprintf(`{"schedule_id": %d}`, int64(platform)), &reply)
	n := reply.Notify
	if n.AdvanceInTime != 5400 || n.FixedTime.Start != "08:30" || !slices.Equal(n.By.PersonalChannels, []string{"sms"}) || len(n.Webhooks) != 1 {
		t.Errorf("stored: %+v", n)
	}
	if refused, _ := save("advance", "soon"); !strings.Contains(refused, "soon is not a number of minutes") || !strings.Contains(refused, `value="soon"`) {
		t.Errorf("no refusal of soon: %.300s", refused)
	}
}

func TestFeedsAreMadeAndRevoked(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	status, page, _ := v.post("/calendar-feeds", url.Values{"kind": {"schedule"}, "id": {fmt.Sprint(int64(platform))}})
	address := regexp.MustCompile(`/calendar/feed/[^"]+\.ics`).FindString(page)
	if status != http.StatusOK || address == "" {
		t.Fatalf("%d %s", status, page)
	}
	if status, feed := v.get(address); status != http.StatusOK || !strings.HasPrefix(feed, "BEGIN:VCALENDAR") {
		t.Errorf("the feed: %d %.100s", status, feed)
	}
	_, page = v.get("/calendar-feeds")
	if lacks(t, page, address); !strings.Contains(page, "Plattform: Rufbereitschaft") {
		t.Error("the feed is not listed")
	}
	id := regexp.MustCompile(`name="feed" value="([^"]+)"`).FindStringSubmatch(page)
	status, _, _ = v.post("/calendar-feeds/revoke", url.Values{"feed": {id[1]}})
	if status != http.StatusSeeOther {
		t.Errorf("revoke: %d", status)
	}
	status, _ = v.get(address)
	if status != http.StatusNotFound {
		t.Errorf("a revoked feed: %d", status)
	}
	status, _, _ = v.post("/calendar-feeds", url.Values{"kind": {"zoo"}, "id": {"1"}})
	if status != http.StatusBadRequest {
		t.Errorf("a feed of nothing: %d", status)
	}
}

// TestReadersSeeNoControls: who may not change schedules finds no way to, and a form that is sent all the same is refused.
func TestReadersSeeNoControls(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.ReadOnly, "en")
	for _, path := range []string{"/", "/schedules", at(checkout, ""), at(checkout, "/override"), fmt.Sprintf("/people/%d/shifts", int64(jonas))} {
		_, page := v.get(path)
		lacks(t, page, "Fill the gap", "Take over", `/edit"`, "Save the override", "Record the absence", "Let someone cover", "Add override", "New schedule", "/shift/", "Disable")
	}
	for path, fields := range map[string]url.Values{
		at(checkout, "/override"):                             {"start": {"2027-04-05T09:00"}, "end": {"2027-04-06T09:00"}, "by": {fmt.Sprint(int64(zoe))}, "whom": {"all"}},
		at(checkout, "/plan"):                                 {"name": {"x"}, "do": {"save"}},
		"/schedules/new":                                      {"name": {"x"}, "do": {"save"}},
		at(checkout, "/delete"):                               {},
		at(checkout, "/status/disable"):                       {},
		at(checkout, "/shift/take"):                           {"start": {"2027-04-05T09:00"}, "end": {"2027-04-06T09:00"}, "do": {"save"}},
		fmt.Sprintf("/people/%d/absence", int64(jonas)):       {"start": {"2027-04-05T09:00"}, "end": {"2027-04-06T09:00"}},
		at(checkout, "/override/delete"):                      {"override": {"3846027360131"}},
		fmt.Sprintf("/people/%d/absence/delete", int64(anna)): {"absence": {"3846027370131"}},
	} {
		if status, page, _ := v.post(path, fields); status != http.StatusForbidden {
			t.Errorf("%s: %d %.300s", path, status, page)
		}
	}
}

func TestHostileNamesBreakNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	v := s.signIn(s.keys.All, "en")
	name, _ := json.Marshal(`"><img src=x onerror=alert(1)>` + "\u202e")
	long, _ := json.Marshal(strings.Repeat(`</li></style><img src=x> `, 9))
	layers := fmt.Sprintf(`[{"layer_name": %s, "layer_start": 1776009600, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": %s, "members": [{"role_id": 0, "person_ids": [%d, 42, 43, 44]}]}]}]`,
		long, long, int64(zoe))
	s.call("/schedule/update", fmt.Sprintf(`{"schedule_id": %d, "schedule_name": %s, "description": %s, "layers": %s}`, int64(nobody), name, long, layers), nil)
	for _, path := range []string{"/schedules", at(nobody, ""), at(nobody, "/why"), at(nobody, "/edit"), at(nobody, "/override"), at(nobody, "/hours"), at(nobody, "/delete"), at(nobody, "/shift/take"), fmt.Sprintf("/people/%d/shifts", int64(zoe))} {
		status, page := v.get(path)
		if status != http.StatusOK {
			t.Errorf("%s: %d", path, status)
		}
		lacks(t, page, "<img src=x")
	}
}
