package story

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	bobKey = "bobs-key-of-the-stories-01234567890"
	cidKey = "cids-key-of-the-stories-01234567890"
)

// sharing is a section with the schedule turns: Ann is on call for two hours from the start, then Bob for a day, then Cid.
// Olga is always the backup. Each has a key, and Ann, Bob and Cid may not change schedules.
func sharing(more ...string) string {
	groups := []string{}
	for _, p := range []int{ann, bob, cid} {
		groups = append(groups, fmt.Sprintf(`{"group_name": "g%d", "members": [{"role_id": 0, "person_ids": [%d]}, {"role_id": 1, "person_ids": [%d]}]}`, p, p, olga))
	}
	return fmt.Sprintf(`{"schedules": [{"schedule_id": %d, "schedule_name": "Turns", "layers": [{"layer_name": "r", "mode": 0, "layer_start": %d, "rotation_unit": "day", "rotation_value": 1, "groups": [%s]}]%s}],
		"app_keys": [{"name": "bob", "person_id": %d, "app_key": %q}, {"name": "cid", "person_id": %d, "app_key": %q}]}`,
		turns, start.Add(-22*time.Hour).Unix(), strings.Join(groups, ","), strings.Join(more, ""), bob, bobKey, cid, cidKey)
}

func cover(person, what string) string { return person + "@example.com email cover_" + what }

// asks makes Ann ask for cover of a part of her shift, in minutes from the start, and returns the request and the links.
func (w *world) asks(from, until int, persons ...int) (request string, links map[string]string) {
	w.t.Helper()
	r := w.as(annKey, "/schedule/cover/request", `{"schedule_id": %d, "person_ids": %s, "start": %d, "end": %d, "reason": "dentist"}`, turns, numbers(persons),
		start.Add(time.Duration(from)*time.Minute).Unix(), start.Add(time.Duration(until)*time.Minute).Unix())
	return r.get("request_id"), w.coverLinks()
}

var coverLink = regexp.MustCompile(`https://tocsin\.example\.com/cover/[\w-]+`)

// coverLinks returns the links by which persons answer, by receiver.
func (w *world) coverLinks() map[string]string {
	links := map[string]string{}
	for _, p := range w.reached() {
		if link := coverLink.FindString(p.text); link != "" {
			links[strings.TrimSuffix(p.to, "@example.com")] = link
		}
	}
	return links
}

// clicks presses a button of the page of a link, and wants a status and a part of the page.
func (w *world) clicks(link, button string, status int, part string) {
	w.t.Helper()
	if got, body := w.press(link, url.Values{"do": {button}}); got != status || !strings.Contains(body, part) {
		w.t.Errorf("%s: %d %s, want %d and %q", button, got, body, status, part)
	}
}

func (w *world) overrides() int64 { return w.count(`SELECT count(*) FROM schedule_override`) }

func TestFirstWhoAcceptsIsOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	_, links := w.asks(0, 60, bob, cid)
	w.hasText("bob@example.com", "Cover in Turns from Sat 21 Nov 10:00 UTC: Ann Day asks you to be on call in Turns from Sat 21 Nov 10:00 UTC until Sat 21 Nov 11:00 UTC in their place. Reason: dentist. Accept or decline: "+links["bob"])
	w.notified(cover("bob", "ask"), cover("cid", "ask"))
	if status, body := w.visit("GET", links["bob"]); status != 200 || !strings.Contains(body, "Be on call as Bob Night") || strings.Contains(body, "<script") || w.overrides() != 0 {
		t.Errorf("the page shows %d %s, and there are %d overrides", status, body, w.overrides())
	}
	if n := w.count(`SELECT count(*) FROM notice WHERE detail LIKE '%/cover/%'`); n != 0 {
		t.Errorf("%d links are stored", n)
	}
	w.push("before", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
	w.clicks(links["bob"], "accept", 200, "Bob Night has taken the shift")
	w.hasText("ann@example.com", "Override in Turns from Sat 21 Nov 11:00 CET: Bob Night is on call in Turns in place of you from Sat 21 Nov 11:00 CET until Sat 21 Nov 12:00 CET. Reason: dentist. Changed by Bob Night.")
	w.clicks(links["cid"], "accept", 409, "Bob Night has taken the shift")
	w.clicks(links["bob"], "accept", 200, "Bob Night has taken the shift")
	w.notified(set("ann"), cover("cid", "taken"))
	if w.overrides() != 1 {
		t.Errorf("%d overrides", w.overrides())
	}
	w.push("within", "Critical")
	w.notified(newPage("bob"), newPage("olga"))
	w.pass(time.Hour)
	w.newPages()
	w.push("after", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
	if n := w.count(`SELECT count(*) FROM audit_log WHERE person_id = ` + fmt.Sprint(bob) + ` AND operation = 'cover_request:write:accept' AND outcome = ''`); n != 1 {
		t.Errorf("%d audit entries of what Bob accepted", n)
	}
}

func TestTwoWhoAcceptAtOnceAreNotBothOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing())
	_, links := w.asks(0, 60, bob, cid)
	w.newPages()
	var both sync.WaitGroup
	for range 4 {
		for _, link := range links {
			both.Go(func() { w.visitWith(link, "accept") })
		}
	}
	both.Wait()
	w.settle()
	if w.overrides() != 1 || w.count(`SELECT count(*) FROM cover_request WHERE status = 1 AND taken_by IN (SELECT by_person FROM schedule_override)`) != 1 {
		t.Errorf("%d overrides", w.overrides())
	}
	if n := len(w.newPages()); n != 2 {
		t.Errorf("%d notifications, want one to Ann and one to who was too late", n)
	}
}

func TestRequestThatNoOneAcceptsLeavesPersonOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	_, links := w.asks(60, 90, bob, cid)
	w.clicks(links["bob"], "decline", 200, "Bob Night has declined")
	w.newPages()
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.hasText("ann@example.com", "Cover in Turns from Sat 21 Nov 12:00 CET: No one took your shift. You are still on call in Turns from Sat 21 Nov 12:00 CET until Sat 21 Nov 12:30 CET.")
	w.notified(cover("ann", "expired"))
	w.restart()
	w.pass(5 * time.Minute)
	w.clicks(links["cid"], "accept", 404, "expired")
	w.notified()
	w.push("disk", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
}

// A shift that has begun can be asked for until it ends.
func TestRunningShiftCanBeCoveredUntilItsEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	_, links := w.asks(-60, 600, bob)
	w.pass(30 * time.Minute)
	w.newPages()
	w.clicks(links["bob"], "accept", 200, "Bob Night has taken the shift")
	w.notified(set("ann"))
	w.push("disk", "Critical")
	w.notified(newPage("bob"), newPage("olga"))
	if n := w.count(`SELECT end_at FROM schedule_override`); n != start.Add(2*time.Hour).Unix() {
		t.Errorf("the override ends at %d, and not with Ann's shift", n)
	}
}

func TestWhenAllDeclinePersonIsNotifiedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing()).slow()
	_, links := w.asks(60, 90, bob, cid)
	w.newPages()
	w.clicks(links["bob"], "decline", 200, "declined")
	w.clicks(links["bob"], "decline", 200, "declined")
	w.notified()
	w.clicks(links["cid"], "decline", 200, "declined")
	w.notified(cover("ann", "declined"))
	w.clicks(links["bob"], "accept", 409, "declined")
	w.pass(2 * time.Hour)
	w.notified()
}

func TestLinksThatMustNotPutAnyoneOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing()).slow()
	request, links := w.asks(60, 90, bob, cid)
	w.newPages()
	if r := w.try(ownKey, "/schedule/cover/accept", `{"request_id": %s}`, request); r.Status != 403 {
		t.Errorf("Olga, who was not asked: %s", r)
	}
	w.clicks(links["bob"]+"A", "accept", 404, "not made by this server")
	w.clicks(strings.Replace(links["bob"], "/cover/", "/ack/", 1), "accept", 404, "not made by this server")
	w.clicks(links["bob"], "both", 400, "no action")
	w.do("/schedule/update", `{"schedule_id": %d, "self_service": false}`, turns)
	w.clicks(links["bob"], "accept", 403, "do not change its shifts themselves")
	w.do("/schedule/update", `{"schedule_id": %d, "self_service": true}`, turns)
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [{"layer_name": "r", "mode": 0, "layer_start": %d, "rotation_unit": "day", "rotation_value": 1, "groups": [{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}]}]}`,
		turns, start.Add(-22*time.Hour).Unix(), ann)
	w.clicks(links["cid"], "accept", 403, "is not in schedule")
	w.sql(fmt.Sprintf(`UPDATE person SET status = 'pending' WHERE person_id = %d`, bob))
	w.restart()
	w.clicks(links["bob"], "accept", 404, "does not exist")
	w.as(annKey, "/schedule/cover/cancel", `{"request_id": %s}`, request)
	w.clicks(links["cid"], "accept", 409, "cancelled")
	w.do("/schedule/delete", `{"schedule_ids": [%d]}`, turns)
	w.clicks(links["cid"], "accept", 404, "does not exist")
	if w.overrides() != 0 {
		t.Errorf("%d overrides", w.overrides())
	}
}

// What the person who asked is still on call for is computed again when another accepts.
func TestShiftThatIsGoneIsNotCovered(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing()).slow()
	_, links := w.asks(60, 90, cid)
	w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d}`, ann, start.Unix(), start.Add(2*time.Hour).Unix())
	w.newPages()
	w.clicks(links["cid"], "accept", 409, "nothing to cover")
	w.pass(2 * time.Hour)
	w.notified() // Ann is not on call, and is not notified that she is
}

func TestRequestThatIsCancelledIsNotAskedAnyMore(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing()).slow()
	w.fail("bob@example.com", later)
	request, _ := w.asks(60, 90, bob, cid)
	w.notified(cover("cid", "ask"))
	w.as(annKey, "/schedule/cover/cancel", `{"request_id": %s}`, request)
	w.acceptAll()
	w.pass(time.Hour)
	w.hasText("cid@example.com", "Cover in Turns from Sat 21 Nov 11:00 UTC: Ann Day does not need cover in Turns from Sat 21 Nov 11:00 UTC until Sat 21 Nov 11:30 UTC any more.")
	w.notified(cover("cid", "cancelled"), cover("bob", "cancelled"))
}

// The notifications are stored with the answer: a stop in between loses none and sends none twice.
func TestRestartAfterAcceptLosesNoNotification(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing()).slow()
	request, _ := w.asks(0, 60, bob, cid)
	w.newPages()
	if r := w.try(bobKey, "/schedule/cover/accept", `{"request_id": %s}`, request); r.Error != nil {
		t.Fatal(r)
	}
	w.restart()
	w.settle()
	w.pass(10 * time.Minute)
	w.restart()
	w.pass(10 * time.Minute)
	w.notified(set("ann"), cover("cid", "taken"))
}

func TestHandingOverNeedsOthersYes(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	w.as(annKey, "/schedule/shift/hand-over", `{"schedule_id": %d, "to": %d, "start": %d, "end": %d}`, turns, bob, start.Unix(), start.Add(time.Hour).Unix())
	links := w.coverLinks()
	w.notified(cover("bob", "ask"))
	w.push("disk", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
	w.clicks(links["bob"], "accept", 200, "Bob Night has taken")
	w.notified(set("ann"))
	w.push("other", "Critical")
	w.notified(newPage("bob"), newPage("olga"))
}

// Who manages schedules could make an override all the same.
func TestManagerHandsOverAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	w.do("/schedule/shift/hand-over", `{"schedule_id": %d, "to": %d, "start": %d, "end": %d}`, turns, bob, start.Unix(), start.Add(time.Hour).Unix())
	w.notified(set("bob"))
	w.push("disk", "Critical")
	w.notified(newPage("ann"), newPage("bob"))
}

func TestTakingShift(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	w.as(cidKey, "/schedule/shift/take", `{"schedule_id": %d, "person_id": %d, "start": %d, "end": %d}`, turns, ann, start.Unix(), start.Add(time.Hour).Unix())
	w.notified(set("ann"))
	w.push("disk", "Critical")
	w.notified(newPage("cid"), newPage("olga"))
	w.clock.Add(time.Second)
	w.as(annKey, "/schedule/shift/take", `{"schedule_id": %d, "role_id": 0, "start": %d, "end": %d}`, turns, start.Unix(), start.Add(time.Hour).Unix())
	w.notified(set("cid"))
	w.push("other", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
}

// An override that is deleted after a request was accepted leaves the person who asked on call, and both are notified.
func TestAcceptedOverrideThatIsDeletedIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(), asTurns).slow()
	request, _ := w.asks(0, 60, bob)
	r := w.as(bobKey, "/schedule/cover/accept", `{"request_id": %s}`, request)
	w.newPages()
	w.do("/schedule/override/delete", `{"override_ids": [%s]}`, r.get("override_id"))
	w.notified(unset("ann"), unset("bob"))
	w.push("disk", "Critical")
	w.notified(newPage("ann"), newPage("olga"))
}

// visitWith presses a button without a wait for the jobs, as several persons do at once.
func (w *world) visitWith(link, button string) {
	answer, err := w.http.Client().PostForm(strings.Replace(link, "https://tocsin.example.com", w.http.URL, 1), url.Values{"do": {button}})
	if err != nil {
		w.t.Error(err)
		return
	}
	answer.Body.Close()
}
