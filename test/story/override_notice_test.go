package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func set(person string) string   { return person + "@example.com email override_set" }
func unset(person string) string { return person + "@example.com email override_end" }

// covers creates an override in turns and returns its id. who is a member such as "person_id": 5.
func (w *world) covers(who string, by int, from, until time.Time) int64 {
	w.t.Helper()
	r := w.do("/schedule/override/create", `{"schedule_id": %d, %s, "by": %d, "start": %d, "end": %d}`, turns, who, by, from.Unix(), until.Unix())
	var made struct {
		OverrideID int64 `json:"override_id"`
	}
	w.must(json.Unmarshal(r.Data, &made))
	return made.OverrideID
}

func instead(of int) string { return fmt.Sprintf(`"person_id": %d`, of) }

func TestOverrideNotifiesPersonsConcernedOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`)).slow()
	noon := start.Add(2 * time.Hour)
	w.do("/schedule/override/create", `{"schedule_id": %d, "person_id": %d, "by": %d, "start": %d, "end": %d, "reason": "dentist", "dry_run": true}`,
		turns, ann, cid, noon.Unix(), noon.Add(time.Hour).Unix())
	w.notified()
	w.do("/schedule/override/create", `{"schedule_id": %d, "person_id": %d, "by": %d, "start": %d, "end": %d, "reason": "dentist"}`,
		turns, ann, cid, noon.Unix(), noon.Add(time.Hour).Unix())
	w.hasText("cid@example.com", "Override in Turns from Sat 21 Nov 12:00 UTC: You are on call in Turns from Sat 21 Nov 12:00 UTC until Sat 21 Nov 13:00 UTC in place of Ann Day. Reason: dentist. Changed by Olga Owner.")
	w.hasText("ann@example.com", "Override in Turns from Sat 21 Nov 13:00 CET: Cid Ops is on call in Turns in place of you from Sat 21 Nov 13:00 CET until Sat 21 Nov 14:00 CET. Reason: dentist. Changed by Olga Owner.")
	w.notified(set("cid"), set("ann"))
	w.restart()
	w.pass(24 * time.Hour)
	w.notified()
}

func TestEachChangeOfOverrideIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	noon := start.Add(2 * time.Hour)
	id := w.covers(instead(ann), cid, noon, noon.Add(time.Hour))
	w.notified(set("cid"), set("ann"))
	w.do("/schedule/override/update", `{"override_id": %d, "reason": "another"}`, id)
	w.notified()
	w.do("/schedule/override/update", `{"override_id": %d, "end": %d}`, id, noon.Add(2*time.Hour).Unix())
	w.notified(set("cid"), set("ann"))
	w.do("/schedule/override/update", `{"override_id": %d, "by": %d}`, id, bob)
	w.hasText("cid@example.com", "Override in Turns from Sat 21 Nov 12:00 UTC: The override in Turns that put you on call from Sat 21 Nov 12:00 UTC until Sat 21 Nov 14:00 UTC does not hold any more. Changed by Olga Owner.")
	w.notified(set("bob"), set("ann"), unset("cid"))
	w.do("/schedule/override/delete", `{"override_ids": [%d]}`, id)
	w.notified(unset("bob"), unset("ann"))
}

// The person who makes a change knows of it, and a disabled schedule pages no one.
func TestOverrideDoesNotNotifyWhoMadeItNorOfDisabledSchedule(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	noon := start.Add(2 * time.Hour)
	w.covers(instead(ann), olga, noon, noon.Add(time.Hour))
	w.notified(set("ann"))
	w.do("/schedule/update", `{"schedule_id": %d, "status": 1}`, turns)
	w.covers(instead(ann), cid, noon, noon.Add(time.Hour))
	w.notified()
}

func TestDeletingPastOverridesNotifiesNoOne(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	id := w.covers(instead(ann), cid, start, start.Add(time.Hour))
	w.notified(set("cid"), set("ann"))
	w.clock.Add(time.Hour)
	w.do("/schedule/override/delete", `{"override_ids": [%d]}`, id)
	w.notified()
}

// Bob is on call until noon and Ann from then on.
func TestOverrideOfRoleNotifiesThoseWhoHoldIt(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	noon := start.Add(2 * time.Hour)
	w.covers(`"role_id": 0`, cid, noon.Add(-time.Minute), noon.Add(time.Hour))
	w.hasText("cid@example.com", "Override in Turns from Sat 21 Nov 11:59 UTC: You are on call in Turns from Sat 21 Nov 11:59 UTC until Sat 21 Nov 13:00 UTC in place of Bob Night, Ann Day. Changed by Olga Owner.")
	w.notified(set("cid"), set("ann"), set("bob"))
	w.covers(`"role_id": 7`, cid, noon, noon.Add(time.Hour))
	w.notified(set("cid"))
}

func TestManyOverridesDeletedAtOnceAreOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	var ids []string
	for i := range 30 {
		at := start.Add(time.Duration(i+1) * time.Hour)
		ids = append(ids, fmt.Sprint(w.covers(instead(ann), cid, at, at.Add(time.Hour))))
		w.clock.Add(time.Minute) // so that the limit of messages a minute does not matter
	}
	w.newPages()
	w.do("/schedule/override/delete", `{"override_ids": [%s]}`, strings.Join(ids, ","))
	if text := w.texts()["ann@example.com"]; strings.Count(text, "does not hold any more") != 5 || !strings.Contains(text, "25 more overrides have changed.") {
		t.Errorf("Ann reads %s", text)
	}
	w.notified(unset("cid"), unset("ann"))
}

// A notification that waits is checked again before it is sent.
func TestNotificationOfOverrideThatWasDeletedOrChangedIsNotSent(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	noon := start.Add(2 * time.Hour)
	w.fail("example.com", later)
	gone, changed := w.covers(instead(ann), cid, noon, noon.Add(time.Hour)), w.covers(instead(bob), cid, noon.Add(2*time.Hour), noon.Add(3*time.Hour))
	w.do("/schedule/override/delete", `{"override_ids": [%d]}`, gone)
	w.do("/schedule/override/update", `{"override_id": %d, "end": %d}`, changed, noon.Add(4*time.Hour).Unix())
	w.acceptAll()
	w.slow().pass(time.Hour)
	w.notified(unset("ann"), unset("cid"), set("bob"), set("cid"))
}

func TestNotificationOfOverrideThatIsPastIsNotSent(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	w.fail("example.com", later)
	w.covers(instead(ann), cid, start, start.Add(time.Hour))
	w.clock.Add(61 * time.Minute)
	w.acceptAll()
	w.settle()
	w.slow().pass(time.Hour)
	w.notified()
}

// A row that cannot be read keeps neither the override nor the other person's notification.
func TestPersonWhoCannotBeNotifiedStopsNoOverride(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	w.as(annKey, "/preference/update", `{"schedule_shift_notify": {"personal_channels": ["email"]}}`)
	w.sql(`UPDATE object SET body = '{' WHERE kind = 'preference'`)
	w.covers(instead(ann), cid, start, start.Add(time.Hour))
	w.notified(set("cid"))
}
