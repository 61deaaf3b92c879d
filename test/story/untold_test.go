package story

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/sender/email"
)

// criticalOnly is a section with one rule of the shop that takes Critical incidents only, and notifies a target.
func criticalOnly(target string) string {
	return escalates(layer(target), when("severity", `"Critical"`))
}

// untoldOf returns the state and the reason of what reached no one, by title.
func (w *world) untoldOf() map[string]string {
	w.t.Helper()
	list, found := w.do("/incident/untold/list", `{"limit": 100}`), map[string]string{}
	for i := 0; list.get(fmt.Sprintf("items.%d.title", i)) != ""; i++ {
		at := fmt.Sprintf("items.%d.", i)
		found[list.get(at+"title")] = list.get(at+"state") + ": " + list.get(at+"why") + list.get(at+"by_choice")
	}
	return found
}

// untoldIs wants exactly these entries: title, state, and a part of the reason.
func (w *world) untoldIs(want ...[3]string) {
	w.t.Helper()
	found := w.untoldOf()
	for _, one := range want {
		if got := found[one[0]]; !strings.HasPrefix(got, one[1]+": ") || !strings.Contains(got, one[2]) {
			w.t.Errorf("%s is %q, want %s with %q", one[0], got, one[1], one[2])
		}
	}
	if len(found) != len(want) {
		w.t.Errorf("the list is %v, want %v", found, want)
	}
}

// A Critical incident without a rule is the owner's at once, with the reason; another one within 15 minutes.
func TestIncidentWithoutRuleIsFallbacks(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
	if why := w.whole("cpu"); !strings.Contains(why, "the account's owner, because the channel has no escalation rule") {
		t.Error(why)
	}
	w.pass(10 * time.Second)
	w.push("disk", "Warning")
	w.notified()
	w.untoldIs([3]string{"Trouble with cpu", "fallback", "the channel has no escalation rule"}, [3]string{"Trouble with disk", "waiting", "no escalation rule"})
	w.metrics(`tocsin_untold{state="waiting"} 1`, `tocsin_untold{state="fallback"} 1`, `tocsin_untold{state="unreached"} 0`)
	w.pass(16 * time.Minute)
	w.notified(newPage("olga"))
	w.pass(2 * time.Hour)
	w.notified()
	w.as(annKey, "/incident/ack", `{"incident_ids": [%q]}`, w.incident())
	w.untoldIs([3]string{"Trouble with cpu", "fallback", ""})
}

// What no rule matches and what no channel takes share one message of 15 minutes, with the reasons.
func TestRestIsDigest(t *testing.T) {
	t.Parallel()
	w := begin(t, criticalOnly(persons(ann)))
	w.do("/account/fallback/update", `{"person_ids": [%d]}`, cid)
	for i := range 5 {
		w.push(fmt.Sprint("disk", i), "Warning", fmt.Sprint("title=Disk ", i))
		w.pushTo(sharedKey, fmt.Sprint("stray", i), "Info", fmt.Sprint("title=Stray ", i))
	}
	w.notified()
	w.restart()
	w.pass(16 * time.Minute)
	pages := w.newPages()
	if len(pages) != 1 || pages[0].to != "cid@example.com" {
		t.Fatalf("%v", pages)
	}
	for _, part := range []string{"5 incidents need you", "Disk 3", "no escalation rule of the channel matches", "Stray 2", "is shared and has no route", "Everything else"} {
		if !strings.Contains(pages[0].text, part) {
			t.Errorf("the digest lacks %q: %s", part, pages[0].text)
		}
	}
	w.pass(time.Hour)
	w.notified()
}

// Ten thousand Critical events that no channel takes are a handful of messages, and so are their repetitions.
func TestStormOfUnroutedEventsIsFewMessages(t *testing.T) {
	t.Parallel()
	w := begin(t, strings.Replace(prometheus, fmt.Sprintf(`"channel_id": %d, `, shop), "", 1))
	w.pushTitled(10_000, allCritical)
	w.pass(20 * time.Minute)
	if n := len(w.newPages()); n < 1 || n > 5 {
		t.Errorf("%d messages", n)
	}
	w.pushTitled(1_000, allCritical)
	w.pass(20 * time.Minute)
	w.notified()
	if n := w.count(`SELECT count(*) FROM untold`); n > 1001 {
		t.Errorf("%d rows", n)
	}
	w.drift = time.Hour
	w.pass(26 * time.Hour)
	w.untoldIs()
}

// A storm of incidents without a rule is bundled as any other.
func TestStormWithoutRuleIsFewMessages(t *testing.T) {
	t.Parallel()
	w := begin(t, prometheus)
	w.pushTitled(2_000, allCritical)
	w.pass(2 * time.Minute)
	if n := len(w.newPages()); n < 1 || n > 15 {
		t.Errorf("%d messages", n)
	}
	if n := w.count(`SELECT count(*) FROM untold WHERE state = 'fallback'`); n != 2_000 {
		t.Errorf("the fallback was notified of %d", n)
	}
}

// A fallback that cannot be reached is followed by the owner, and an owner who cannot be reached shows.
func TestOwnerFollowsFallback(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/account/fallback/update", `{"person_ids": [%d]}`, dee)
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
	w.do("/account/fallback/update", `{"team_ids": [%d]}`, ops)
	w.fail("bob", never)
	w.push("ram", "Critical")
	w.notified(newPage("cid"))
	w.fail("@", never)
	w.push("disk", "Critical")
	w.pass(time.Minute)
	w.notified()
	w.untoldIs([3]string{"Trouble with cpu", "fallback", ""}, [3]string{"Trouble with ram", "fallback", ""}, [3]string{"Trouble with disk", "unreached", ""})
	w.metrics(`tocsin_untold{state="unreached"} 1`)
	if _, body := w.page("/health/ready"); !strings.Contains(body, `"untold_unreached":1`) {
		t.Error(body)
	}
	w.acceptAll()
	w.pass(20 * time.Minute)
	if len(w.newPages()) == 0 {
		t.Error("it was not tried again")
	}
	if _, body := w.page("/health/ready"); strings.Contains(body, "untold_unreached") {
		t.Error(body)
	}
}

// An owner without any address is shown, and the incident is not tried again and again.
func TestNoOneAtAllCanBeReached(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.Senders.Mail, c.Senders.Gateway.URL = email.Server{}, "" })
	w.push("cpu", "Critical")
	w.pushTo(sharedKey, "stray", "Critical")
	w.drift = 5 * time.Minute
	w.pass(20 * time.Hour)
	w.metrics(`tocsin_untold{state="unreached"} 2`)
	if n := w.count(`SELECT count(*) FROM notice`); n > 40 {
		t.Errorf("%d notifications", n)
	}
}

// The persons of an escalation rule are the fallback: those of its first step that reaches anyone, by its methods.
func TestRuleIsFallback(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(teams(empty))+","+layer(persons(dee))+`,{"target": {"person_ids": [`+fmt.Sprint(ann)+`], "by": {"critical": ["sms"], "warning": ["email"], "info": ["email"]}}}`,
		when("labels.never", `"x"`)))
	w.do("/account/fallback/update", `{"escalate_rule_id": "5e5e5e5e5e5e5e5e5e5e5e01"}`)
	w.push("cpu", "Critical")
	w.notified("+15550100 sms i_new")
	w.want(w.try(ownKey, "/account/fallback/info", `{}`), "escalate_rule_id", "5e5e5e5e5e5e5e5e5e5e5e01")
	if r := w.try(ownKey, "/channel/escalate/rule/delete", `{"channel_id": %d, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01"}`, shop); r.Error == nil || r.Error.Code != "ReferenceExist" {
		t.Errorf("deleting the fallback's rule: %s", r)
	}
	for _, body := range []string{`{"person_ids": [1]}`, `{"team_ids": [1]}`, `{"escalate_rule_id": "000000000000000000000009"}`} {
		if r := w.try(ownKey, "/account/fallback/update", "%s", body); r.Error == nil || r.Error.Code != "InvalidParameter" {
			t.Errorf("%s: %s", body, r)
		}
	}
	if r := w.try(annKey, "/account/fallback/update", `{}`); r.Error == nil || r.Error.Code != "AccessDenied" {
		t.Errorf("without the permission: %s", r)
	}
}

// A person who may not read a private channel is not notified of its incidents.
func TestFallbackOfPrivateChannel(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/account/fallback/update", `{"person_ids": [%d]}`, cid)
	w.do("/channel/update", `{"channel_id": %d, "is_private": true, "team_id": %d}`, shop, empty)
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
	if list := w.try(annKey, "/incident/untold/list", `{}`); list.get("total") != "0" {
		t.Errorf("Ann sees %s", list)
	}
}

// The fallback is notified of a severity that rises, and not when it falls and rises again.
func TestUntoldIncidentRises(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Info")
	w.push("cpu", "Critical")
	w.notified(newPage("olga"))
	id := w.incident()
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Warning"}`, id)
	w.do("/incident/reset", `{"incident_id": %q, "incident_severity": "Critical"}`, id)
	w.pass(30 * time.Minute)
	w.notified()
	w.push("ram", "Warning")
	w.pass(16 * time.Minute)
	w.notified(newPage("olga"))
	w.push("ram", "Critical")
	w.notified(newPage("olga"))
	w.do("/channel/escalate/rule/create", `{"channel_id": %d, "rule_name": "late", "template_id": "000000000000000000000001", "layers": [%s]}`, shop, layer(onCall(day)))
	w.push("disk", "Critical")
	w.notified(newPage("ann"))
	w.pass(10 * time.Second)
	w.untoldIs([3]string{"Trouble with cpu", "fallback", ""}, [3]string{"Trouble with ram", "fallback", ""})
}

// What is silent by choice is in the list, with the choice, and the fallback is not notified of it.
func TestSilentByChoice(t *testing.T) {
	t.Parallel()
	w := begin(t, criticalOnly(persons(ann)))
	now := w.clock.Now().Unix()
	w.push("open", "Critical", "title=Open")
	w.notified(newPage("ann"))
	w.push("low", "Warning", "title=Low", "env=test")
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "Maintenance", "filters": [[{"key": "labels.env", "oper": "IN", "vals": ["test"]}]], "time_filter": {"start_time": %d, "end_time": %d}}`, shop, now, now+7200)
	w.push("muted", "Critical", "title=Muted", "env=test")
	w.pass(20 * time.Minute)
	w.notified()
	w.untoldIs([3]string{"Low", "by_choice", "Maintenance"}, [3]string{"Muted", "by_choice", "silenced"})
	w.do("/channel/disable", `{"channel_id": %d}`, mail)
	w.do("/route/upsert", `{"integration_id": %d, "default": {"channel_ids": [%d]}}`, shared, mail)
	w.pushTo(sharedKey, "dropped", "Critical", "title=Dropped")
	w.notified()
	w.untoldIs([3]string{"Low", "by_choice", "Maintenance"}, [3]string{"Muted", "by_choice", "silenced"}, [3]string{"Dropped", "by_choice", "disabled"})
	w.metrics(`tocsin_untold{state="by_choice"} 1`)
	w.pass(2 * time.Hour)
	w.untoldIs([3]string{"Low", "fallback", "no escalation rule"}, [3]string{"Dropped", "by_choice", "disabled"})
}

// An incident under a rule that a disabled channel holds back is silent by choice until the channel is enabled.
func TestDisabledChannelIsChoice(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann)), `"aggr_window": 60`))
	w.push("cpu", "Critical")
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.pass(20 * time.Minute)
	w.notified()
	w.untoldIs([3]string{"Trouble with cpu", "by_choice", "its channel is disabled"})
	w.do("/channel/enable", `{"channel_id": %d}`, shop)
	w.notified(newPage("ann"))
	w.untoldIs()
}

// An alert of Tocsin's own in a channel without a rule reaches the fallback, and makes no other one.
func TestOwnAlertsWithoutRule(t *testing.T) {
	t.Parallel()
	w := begin(t, heartbeats())
	w.fail("olga", later)
	w.beat()
	w.pass(6 * time.Minute)
	w.drift = time.Minute
	w.pass(6 * time.Hour)
	if n := w.count(`SELECT count(*) FROM incident`); n != 1 {
		t.Errorf("%d incidents", n)
	}
	if n := w.count(`SELECT count(*) FROM own_alert`); n > 1 {
		t.Errorf("%d alerts of Tocsin's own", n)
	}
}

// An event that no channel takes and that ends leaves the list.
func TestStrayEventEnds(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.pushTo(sharedKey, "stray", "Critical")
	if pages := w.newPages(); len(pages) != 1 || !strings.Contains(pages[0].subject, "Critical") {
		t.Errorf("%v", pages)
	}
	w.pushTo(sharedKey, "stray", "Critical")
	w.pass(20 * time.Minute)
	w.notified()
	w.pushTo(sharedKey, "stray", "Ok")
	w.untoldIs()
}

// When the last step has had its time and no person has acknowledged, the fallback is notified too, once, although a person
// was reached. An acknowledgement before prevents it.
func TestUnansweredIncidentIsFallbacks(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(ann), window(30))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.pass(10 * time.Second)
	w.drift = time.Minute
	w.pass(29 * time.Minute)
	w.notified()
	if why := w.whole("cpu"); !strings.Contains(why, "Next: the account's fallback at Sat 21 Nov 10:30 (UTC), if nobody acknowledges before.") {
		t.Error(why)
	}
	w.restart()
	w.pass(2 * time.Minute)
	w.notified(newPage("olga"))
	w.pass(2 * time.Minute)
	w.untoldIs([3]string{"Trouble with cpu", "fallback", "its escalation has ended and no person has acknowledged it"})
	w.pass(time.Hour)
	w.notified()

	w.push("disk", "Critical")
	w.notified(newPage("ann"))
	w.pass(10 * time.Minute)
	w.ack(annKey)
	w.pass(time.Hour)
	w.notified()
}
