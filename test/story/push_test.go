package story

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/core/lint"
	"tocsin/internal/sender/webpushtest"
)

// TestMain makes the program trust the push services of stories.
func TestMain(m *testing.M) {
	remove, err := webpushtest.Trust()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// prefersPush is a section with the preference of a person for push alone, and members beside it.
func prefersPush(person int, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"preferences": [{"person_id": %d, "trigger_notify": {"critical": ["push"], "warning": ["push"], "info": ["push"]}, "shedule_shift_notify": {"personal_channels": []}, "status_page_notify": {"im_integrations": []}%s}]}`, person, extra)
}

// pushed starts a world in which Ann prefers push and has some browsers.
func pushed(t *testing.T, names []string, more ...string) (*world, *webpushtest.Service, []*webpushtest.Browser) {
	t.Helper()
	s := webpushtest.New(t)
	w := begin(t, append([]string{prefersPush(ann), escalates(layer(onCall(day)))}, more...)...)
	var all []*webpushtest.Browser
	for _, name := range names {
		b := s.Browser(name)
		w.as(annKey, "/person/push/subscribe", "%s", b.Subscription())
		all = append(all, b)
	}
	return w, s, all
}

// browsers are the browsers that got messages since the last call, sorted.
func browsers(messages []webpushtest.Message) (names []string) {
	for _, m := range messages {
		names = append(names, m.Browser)
	}
	slices.Sort(names)
	return names
}

// acknowledges posts to a link as the service worker of a browser does, without any cookie.
func (w *world) acknowledges(link string) (status int, done, problem string) {
	w.t.Helper()
	u, err := url.Parse(link)
	w.must(err)
	request, err := http.NewRequest(http.MethodPost, w.http.URL+u.Path, nil)
	w.must(err)
	request.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.must(err)
	var reply struct{ Done, Title, Problem string }
	if err := json.Unmarshal(text, &reply); err != nil {
		w.t.Fatalf("%s: %d %s", link, answer.StatusCode, text)
	}
	w.settle()
	return answer.StatusCode, reply.Done, reply.Problem
}

// A page reaches each browser of the person once, with what and why, and its link acknowledges, once.
func TestPushReachesEveryBrowserAndAcknowledges(t *testing.T) {
	t.Parallel()
	w, s, _ := pushed(t, []string{"phone", "laptop"})
	w.push("cpu", "Critical")
	w.notified()
	got := s.Got()
	if names := browsers(got); !slices.Equal(names, []string{"laptop", "phone"}) {
		t.Fatalf("the browsers %v got a message", names)
	}
	m := got[0]
	if !strings.Contains(m.Title, "Trouble with cpu") || m.Severity != "Critical" || m.Channel != "Shop" || m.Why != "on call in Day, A" || m.Urgency != "high" || m.Topic == "" || m.Topic != got[1].Topic ||
		m.Link != "https://tocsin.example.com/incidents/"+w.incident() {
		t.Errorf("%+v", m)
	}
	if status, done, problem := w.acknowledges(m.Ack); status != 200 || done != "ack" || problem != "" || w.progress() != "Processing" {
		t.Errorf("%d %s %s: the incident is %s", status, done, problem, w.progress())
	}
	w.pass(time.Hour)
	w.notified()
	if got := s.Got(); len(got) != 0 {
		t.Errorf("after the acknowledgement: %+v", got)
	}
	// The reply may have been lost: the same link again does no harm. But it never acknowledges a second time.
	if status, done, _ := w.acknowledges(m.Ack); status != 200 || done != "used" {
		t.Errorf("again: %d %s", status, done)
	}
	w.as(annKey, "/incident/unack", `{"incident_ids": [%q]}`, w.incident())
	if status, done, problem := w.acknowledges(m.Ack); status != http.StatusGone || done != "" || problem == "" || w.progress() != "Triggered" {
		t.Errorf("once more: %d %s %s: the incident is %s", status, done, problem, w.progress())
	}
	if again := s.Got(); len(again) != 2 || again[0].Topic != m.Topic || again[0].Ack == m.Ack {
		t.Errorf("the next page: %+v", again)
	}
	w.push("cpu", "Ok")
	over := s.Got()
	if len(over) != 2 || !over[0].Quiet || over[0].Topic != m.Topic || over[0].Ack != "" || !strings.HasPrefix(over[0].Title, "[Resolved]") {
		t.Errorf("the recovery: %+v", over)
	}
	if why := w.why("cpu"); !strings.Contains(why, "over push") {
		t.Error(why)
	}
}

// A link acknowledges for a week. One that was not made by this server acknowledges never.
func TestExpiredLinkOfPush(t *testing.T) {
	t.Parallel()
	w, s, _ := pushed(t, []string{"phone"})
	w.push("cpu", "Critical")
	ack := s.Got()[0].Ack
	last := ack[len(ack)-30:]
	if status, _, problem := w.acknowledges(strings.TrimSuffix(ack, last) + strings.ToUpper(last)); status != http.StatusNotFound || problem == "" {
		t.Errorf("a forged link: %d %s", status, problem)
	}
	w.clock.Add(8 * 24 * time.Hour)
	if status, _, problem := w.acknowledges(ack); status != http.StatusNotFound || !strings.Contains(problem, "expired") || w.progress() != "Triggered" {
		t.Errorf("%d %s: the incident is %s", status, problem, w.progress())
	}
}

// A browser that its push service does not know any more is removed at once. The person is paged in the other browser, or
// over the next method, or the account's fallback is.
func TestBrowserThatIsGone(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusGone, http.StatusNotFound} {
		w, s, all := pushed(t, []string{"phone", "laptop"})
		s.Answer(func(b *webpushtest.Browser) int {
			if b == all[0] {
				return status
			}
			return http.StatusCreated
		})
		w.push("cpu", "Critical")
		w.notified()
		if names := browsers(s.Got()); !slices.Equal(names, []string{"laptop"}) {
			t.Errorf("%d: %v got the page", status, names)
		}
		w.want(w.as(annKey, "/person/push/list", `{}`), "items.0.name", "laptop")
		s.Answer(func(*webpushtest.Browser) int { return status })
		w.push("disk", "Critical")
		w.pass(10 * time.Second)
		w.notified(newPage("ann"))
		if list := w.as(annKey, "/person/push/list", `{}`).get("items"); list != "[]" {
			t.Errorf("%d: left are %s", status, list)
		}
		if why := w.why("disk"); !strings.Contains(why, "does not receive any more and was removed") || !strings.Contains(why, "push refused it") {
			t.Error(why)
		}
		w.finds(lint.PushWithoutBrowser)
		w.push("net", "Critical")
		w.notified(newPage("ann"))
	}
}

// A person who has nothing but one browser, which is gone, is not silently out of reach: the fallback is notified.
func TestLastBrowserIsGone(t *testing.T) {
	t.Parallel()
	s := webpushtest.New(t)
	w := begin(t, prefersPush(dee), escalates(layer(persons(dee))), `{"app_keys": [{"name": "dee", "person_id": 7000000000015, "app_key": "dees-key-of-the-stories-01234567890"}]}`)
	w.as("dees-key-of-the-stories-01234567890", "/person/push/subscribe", "%s", s.Browser("phone").Subscription())
	w.push("cpu", "Critical")
	w.notified()
	if len(s.Got()) != 1 {
		t.Error("Dee's browser got no page")
	}
	s.Answer(func(*webpushtest.Browser) int { return http.StatusGone })
	w.push("disk", "Critical")
	w.pass(10 * time.Second)
	w.notified(newPage("olga"))
	w.finds(lint.PushWithoutBrowser)
	w.push("net", "Critical")
	w.pass(10 * time.Second)
	w.notified(newPage("olga"))
}

// A browser whose push service fails for a while is tried again, and the others get nothing twice.
func TestPushIsTriedAgainForOneBrowser(t *testing.T) {
	t.Parallel()
	w, s, all := pushed(t, []string{"phone", "laptop"})
	s.Answer(func(b *webpushtest.Browser) int {
		if b == all[0] {
			return http.StatusServiceUnavailable
		}
		return http.StatusCreated
	})
	w.push("cpu", "Critical")
	w.pass(2 * time.Minute)
	if names := browsers(s.Got()); !slices.Equal(names, []string{"laptop"}) {
		t.Errorf("%v got the page", names)
	}
	s.Answer(nil)
	w.pass(10 * time.Minute)
	w.notified()
	if names := browsers(s.Got()); !slices.Equal(names, []string{"phone"}) {
		t.Errorf("afterwards %v got the page", names)
	}
}

// An incident that grows is one page for each browser, and a storm of incidents is few messages.
func TestPushStorm(t *testing.T) {
	t.Parallel()
	w, s, _ := pushed(t, []string{"phone", "laptop"}, prometheus)
	for range 50 {
		w.push("cpu", "Critical")
	}
	if got := s.Got(); len(got) != 2 {
		t.Errorf("one incident is %d messages", len(got))
	}
	w.pass(time.Minute)
	w.pushTitled(100, allCritical)
	all, counts := s.Got(), map[string]int{}
	for _, m := range all {
		counts[m.Browser]++
	}
	if counts["phone"] == 0 || counts["phone"] > 5 || counts["laptop"] != counts["phone"] {
		t.Errorf("a hundred incidents in a minute are %v messages", counts)
	}
	w.pass(5 * time.Minute)
	all = append(all, s.Got()...)
	n := slices.IndexFunc(all, func(m webpushtest.Message) bool { return strings.Contains(m.Title, "incidents need you") })
	if n < 0 {
		t.Fatal("no message is a bundle")
	}
	bundle := all[n]
	if bundle.Text == "" || strings.Contains(bundle.Text, "/ack/") {
		t.Errorf("a bundle: %+v", bundle)
	}
	if status, done, problem := w.acknowledges(bundle.Ack); status != 200 || done != "ack" {
		t.Errorf("the link of a bundle: %d %s %s", status, done, problem)
	}
	if status, done, _ := w.acknowledges(bundle.Ack); status != 200 || done != "used" {
		t.Errorf("the link of a bundle again: %d %s", status, done)
	}
}

// Quiet hours hold push back as they do the other methods, and a rule may name it.
func TestPushIsMethodLikeOthers(t *testing.T) {
	t.Parallel()
	s := webpushtest.New(t)
	w := begin(t, prefersPush(ann, `"quiet_hours": [{"start": "00:00", "end": "23:00"}]`),
		escalates(fmt.Sprintf(`{"target": {"person_ids": [%d, %d], "by": {"critical": ["push", "sms"], "warning": ["push"], "info": ["push"]}}}`, ann, bob)))
	w.as(annKey, "/person/push/subscribe", "%s", s.Browser("phone").Subscription())
	w.push("cpu", "Critical")
	w.notified("+15550100 sms i_new", newPage("bob")) // Bob has neither a browser nor a telephone
	if len(s.Got()) != 1 {
		t.Error("a critical page waited")
	}
	w.push("disk", "Warning")
	if got := s.Got(); len(got) != 0 {
		t.Errorf("in quiet hours: %+v", got)
	}
	w.finds(lint.PushWithoutBrowser)
	w.newPages()
	w.pass(13 * time.Hour)
	if got := s.Got(); len(got) == 0 {
		t.Error("after quiet hours nothing came")
	}
	if r := w.as(annKey, "/preference/update", `{"trigger_notify": {"critical": ["push"], "warning": ["push"], "info": ["email"]}}`); strings.Contains(r.String(), "warnings") {
		t.Error(r)
	}
}

// The program calls no address on behalf of a browser that only the server can reach, whatever the endpoint's name is.
func TestHostileEndpoints(t *testing.T) {
	t.Parallel()
	s := webpushtest.New(t)
	w := beginWith(t, func(c *app.Config) { c.Senders.Allow = nil }, prefersPush(ann), escalates(layer(onCall(day))))
	for _, host := range []string{"localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1", "192.168.1.1", "[fd00::1]"} {
		b := s.Browser(host)
		body := strings.Replace(b.Subscription(), "127.0.0.1", host, 1)
		w.as(annKey, "/person/push/subscribe", "%s", body)
	}
	called := false
	s.Answer(func(*webpushtest.Browser) int { called = true; return http.StatusCreated })
	w.push("cpu", "Critical")
	w.pass(time.Minute)
	if called || len(s.Got()) != 0 {
		t.Error("an address of this machine was called")
	}
	list := w.as(annKey, "/person/push/list", `{}`)
	for i := range 7 {
		if problem := list.get(fmt.Sprintf("items.%d.problem", i)); !strings.Contains(problem, "must not be called") {
			t.Errorf("%s: %q", list.get(fmt.Sprintf("items.%d.name", i)), problem)
		}
	}
}

// A test message goes to one browser, and the list shows what came of it. A restart keeps the browsers and the server's key.
func TestTestMessageAndRestart(t *testing.T) {
	t.Parallel()
	w, s, _ := pushed(t, []string{"phone", "laptop"})
	before := w.as(annKey, "/person/push/list", `{}`)
	w.restart()
	after := w.as(annKey, "/person/push/list", `{}`)
	if key := after.get("application_server_key"); len(key) != 87 || key != before.get("application_server_key") {
		t.Errorf("the key was %s and is %s", before.get("application_server_key"), key)
	}
	laptop := after.get("items.1.subscription_id")
	w.as(annKey, "/person/push/test", `{"subscription_id": %s}`, laptop)
	w.as(annKey, "/person/push/test", `{"subscription_id": %s}`, laptop)
	got := s.Got()
	if names := browsers(got); !slices.Equal(names, []string{"laptop"}) || got[0].Text == "" || got[0].Ack != "" {
		t.Errorf("the test: %+v", got)
	}
	list := w.as(annKey, "/person/push/list", `{}`)
	w.want(list, "items.1.problem", "")
	w.want(list, "items.0.tried_at", "0")
	if list.get("items.1.tried_at") == "0" {
		t.Error("the list does not show the test")
	}
	s.Answer(func(*webpushtest.Browser) int { return http.StatusForbidden })
	w.clock.Add(time.Minute)
	w.as(annKey, "/person/push/test", `{"subscription_id": %s}`, laptop)
	if problem := w.as(annKey, "/person/push/list", `{}`).get("items.1.problem"); !strings.Contains(problem, "403") {
		t.Errorf("the problem is %q", problem)
	}
	w.notified()
	w.as(annKey, "/person/push/remove", `{"subscription_id": %s}`, laptop)
	s.Answer(nil)
	w.push("cpu", "Critical")
	if names := browsers(s.Got()); !slices.Equal(names, []string{"phone"}) {
		t.Errorf("after one was removed: %v", names)
	}
}
