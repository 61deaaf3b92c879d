package console_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	noPerson = `{"title_rule": "Nobody hears this", "event_status": "Critical", "alert_key": "lost"}`
	rita     = "/people/7000000000014"
)

// TestUntold lists what reached no one, by its state, with where to look.
func TestUntold(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	w.call(ownerKey, "/channel/escalate/rule/disable", `{"channel_id": 7000000000041, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01"}`)
	w.push(noPerson)
	w.push(`{"title_rule": "Staging burns", "event_status": "Critical", "alert_key": "staging", "labels": {"env": "staging"}}`)
	page := owner.get("/untold").shows("2 in all", ">Fallback failed</a>", "Nobody hears this", "Staging burns", "Silenced on purpose", "since ", `href="`+shopPath+`"`, "!There is nothing")
	owner.get(page.link("/incidents/") + "/why").shows()
	owner.get(page.link("/alerts/") + "/why").shows()
	owner.get("/untold?state=by_choice").shows("1 in all", "Staging burns", "!Nobody hears this", `<a href="/untold?state=by_choice" aria-current="true">`)
	owner.get("/untold?state=gone").shows("2 in all", `<a href="/untold" aria-current="true">`)
	owner.get("/untold?p=9").shows("There is nothing on this page.", "Previous page")
	owner.get("/untold?p=none").shows("2 in all")
	owner.get("/").shows(`href="/untold"`, `href="/lint"`)
	owner.get("/alerts").shows(`href="/untold"`)
	owner.get("/setup").shows(`href="/lint"`)
	w.signIn(readerKey).get("/untold").shows("Nobody hears this", "!/integrations/")
	w.signIn(emptyKey).get("/untold").shows("0 in all", "Nothing here.")
	w.signIn(emptyKey).get("/untold?state=waiting").shows("Nothing is in this state.")
}

// TestUntoldPages has more rows than a page.
func TestUntoldPages(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for n := range 53 {
		w.push(strings.ReplaceAll(`{"title_rule": "Quiet N", "event_status": "Info", "alert_key": "N", "labels": {"env": "staging"}}`, "N", strconv.Itoa(n+1)))
	}
	owner := w.signIn(ownerKey)
	owner.get("/untold?state=by_choice").shows("53 in all", "Next page", "/untold?state=by_choice&amp;p=2", "!Previous page")
	owner.get("/untold?state=by_choice&p=2").shows("53 in all", "Quiet 1<", "Previous page", "!Next page")
}

// TestLintIsGrouped has a channel whose rule is active in the week alone, and persons who are on call twice: each is one row, with its
// severities together, times of the reader's zone, and the form that fixes it.
func TestLintIsGrouped(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner, ann := w.signIn(ownerKey), w.signIn(annKey) // Ann is in Berlin
	rule := `{"channel_id": 7000000000041, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "rule_name": "on call", "template_id": "000000000000000000000001",
		"time_filters": [{"start": "09:00", "end": "17:00", "repeat": [1, 2, 3, 4, 5]}], "layers": [{"target": {"person_ids": [7000000000012], "by": {"follow_preference": true}}, "escalate_window": 30}]}`
	w.call(ownerKey, "/channel/escalate/rule/update", rule)
	for _, name := range []string{"Second", "Third"} {
		w.call(ownerKey, "/schedule/create", `{"schedule_name": "`+name+`", "layers": [{"layer_name": "l", "mode": 0, "layer_start": 1767225600, "rotation_unit": "day", "rotation_value": 1,
			"groups": [{"group_name": "g", "members": [{"role_id": 0, "person_ids": [7000000000012]}]}, {"group_name": "h", "members": [{"role_id": 0, "person_ids": [7000000000013]}]}]}]}`)
	}
	page := owner.get("/lint").shows("Critical, Warning", "Who and when", "2 people", "Fix: Add an escalation rule that is always active", `href="`+shopPath+`/escalations/new"`, "!time_filters", "!/account/")
	if n := strings.Count(page.body, "Hours without an active rule"); n != 1 {
		t.Errorf("%d rows about hours", n)
	}
	if n := strings.Count(page.body, "On call twice at once"); n != 1 {
		t.Errorf("%d rows about who is on call twice", n)
	}
	page.shows("10:00 UTC")
	ann.get("/lint").shows("11:00 CET", "!10:00 UTC", "!/override\"")
}

// TestLint lists what is wrong, with the page where it is cured.
func TestLint(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	w.call(ownerKey, "/channel/unsubscribe/rule/create", `{"channel_id": 7000000000041, "rule_name": "Odd<b>", "filters": [[{"key": "alert_severity", "oper": "IN", "vals": ["critical"]}]]}`)
	w.call(ownerKey, "/channel/create", `{"channel_name": "Alone", "team_id": 7000000000021}`)
	page := owner.get("/lint").shows("Alone", "No escalation rule", "Nobody told", "Create an escalation rule for the channel",
		"/schedules/7000000000032", "Hours without anyone on call", "Odd&lt;b&gt;", "!Odd<b>", "A value that never occurs", "No fallback is set")
	owner.get(page.link(shopPath + "/rules/drops/")).shows("Odd&lt;b&gt;")
	w.clock.Add(time.Minute)
	owner.get("/lint?severity=error").shows("Alone", "!No fallback is set", `<a href="/lint?severity=error" aria-current="true">`)
	owner.get("/lint?severity=worst").shows("No fallback is set")
	w.clock.Add(time.Minute)
	owner.get("/lint?p=9").shows("There is nothing on this page.")
	w.signIn(readerKey).get("/lint").shows("Alone", "!/schedules/7000000000032")
	w.clock.Add(time.Minute)
	w.signIn(emptyKey).get("/lint").shows("1 problem", "Empty", "No fallback is set")
	w.signIn(emptyKey).get("/lint?severity=error").shows("0 problems", "No problem is of this kind.")
}

// TestLintWithoutRight refuses both pages, and draws no link to them.
func TestLintWithoutRight(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(readerKey)
	w.signIn(ownerKey).post(rita + "/roles").shows("!checked")
	b.get("/untold").showsWith(http.StatusForbidden, "Incidents Read (on-call)")
	b.get("/lint").showsWith(http.StatusForbidden, "Channels Read (on-call)")
	b.get("/").shows(`!href="/untold"`, `!href="/lint"`)
	b.get("/setup").shows(`!href="/lint"`)
}

// TestLintInChinese reads both pages in Chinese, of a full and an empty account.
func TestLintInChinese(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.call(ownerKey, "/channel/escalate/rule/disable", `{"channel_id": 7000000000041, "rule_id": "5e5e5e5e5e5e5e5e5e5e5e01"}`)
	w.push(noPerson)
	for _, key := range []string{ownerKey, emptyKey} {
		b := w.signIn(key)
		b.lang = "zh"
		for _, path := range []string{"/untold", "/untold?state=waiting", "/untold?state=unreached", "/untold?p=9", "/lint", "/lint?severity=error", "/lint?p=9", "/", "/setup"} {
			w.clock.Add(time.Minute)
			for _, text := range english(b.get(path).shows().body) {
				t.Errorf("%s: %q", path, text)
			}
		}
	}
}
