package story

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func standsIn(person string) string  { return person + "@example.com email absence_cover" }
func dismissed(person string) string { return person + "@example.com email absence_return" }
func absent(person string) string    { return person + "@example.com email absence_set" }

// leaves records an absence of a person and returns its id.
func (w *world) leaves(person int, from, until time.Time) int64 {
	w.t.Helper()
	r := w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d, "note": "secret surgery"}`, person, from.Unix(), until.Unix())
	var made struct {
		AbsenceID int64 `json:"absence_id"`
	}
	w.must(json.Unmarshal(r.Data, &made))
	return made.AbsenceID
}

// TestAbsenceNotifiesStandIn checks that a person is notified immediately when a shift falls to the person, and of each
// change. Bob's shift ends two hours after the start; then Ann's lasts a day.
func TestAbsenceNotifiesStandIn(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`)).slow()
	w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d, "dry_run": true}`, bob, start.Unix(), start.Add(time.Hour).Unix())
	w.notified()
	id := w.leaves(bob, start, start.Add(time.Hour))
	w.hasText("ann@example.com", "Absence in Turns from Sat 21 Nov 11:00 CET: Bob Night is absent from Sat 21 Nov 11:00 CET until Sat 21 Nov 12:00 CET. "+
		"You are on call in Turns in place of Bob Night from Sat 21 Nov 11:00 CET until Sat 21 Nov 12:00 CET. Changed by Olga Owner.")
	w.notified(standsIn("ann"), absent("bob"))
	w.do("/person/absence/update", `{"absence_id": %d, "note": "another"}`, id)
	w.notified()
	w.do("/person/absence/update", `{"absence_id": %d, "end": %d}`, id, start.Add(90*time.Minute).Unix())
	w.notified(standsIn("ann"), absent("bob"))
	w.do("/person/absence/delete", `{"absence_id": %d}`, id)
	w.hasText("ann@example.com", "Absence in Turns from Sat 21 Nov 11:00 CET: The absence of Bob Night from Sat 21 Nov 11:00 CET until Sat 21 Nov 12:30 CET was deleted. "+
		"You are not on call in Turns any more from Sat 21 Nov 11:00 CET until Sat 21 Nov 12:30 CET. Changed by Olga Owner.")
	w.notified(dismissed("ann"), absent("bob"))
	id = w.leaves(bob, start, start.Add(time.Hour)) // the same absence once more
	w.notified(standsIn("ann"), absent("bob"))
	w.do("/person/absence/delete", `{"absence_id": %d}`, id)
	w.notified(dismissed("ann"), absent("bob"))
	for _, sent := range w.reached() {
		if strings.Contains(sent.text, "surgery") {
			t.Errorf("the note of the absence was sent to %s: %s", sent.to, sent.text)
		}
	}
	w.restart()
	w.pass(24 * time.Hour)
	w.notified()
}

// TestAbsenceNotifiesOnceForAllShifts checks that an absence of months is one message, although replies show 45 days.
func TestAbsenceNotifiesOnceForAllShifts(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	w.leaves(bob, start, start.Add(60*24*time.Hour))
	if text := w.texts()["ann@example.com"]; !strings.Contains(text, ", 26 more times until Wed 20 Jan 11:00 CET.") {
		t.Errorf("the shifts of 60 days are missing: %s", text)
	}
	w.notified(standsIn("ann"), absent("bob"), absent("bob")) // Bob is in two schedules
}

// TestAbsenceNotifiesChats checks that the schedule's chats are notified of the persons on call instead, and of gaps.
func TestAbsenceNotifiesChats(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"webhooks": [{"type": "slack", "settings": {"token": "`+chats+`/slack/ops", "alias": "ops chat"}}]}`))
	w.leaves(bob, start, start.Add(time.Hour))
	w.leaves(ann, start, start.Add(time.Hour))
	var chats []string
	for _, sent := range w.reached() {
		if !strings.Contains(sent.to, "@") {
			chats = append(chats, sent.text)
		}
	}
	all := strings.Join(chats, "\n")
	for _, part := range []string{"Ann Day is on call in Turns from Sat 21 Nov 10:00 UTC until Sat 21 Nov 11:00 UTC.",
		"No one is on call in Turns from Sat 21 Nov 10:00 UTC until Sat 21 Nov 11:00 UTC."} {
		if len(chats) != 2 || !strings.Contains(all, part) {
			t.Errorf("%d messages to chats, want 2 and %q: %s", len(chats), part, all)
		}
	}
}

// TestAbsenceDoesNotNotifyActorNorOfDisabledSchedule checks that a person's own absence notifies only the others. A disabled
// schedule notifies no person.
func TestAbsenceDoesNotNotifyActorNorOfDisabledSchedule(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`))
	w.as(annKey, "/person/absence/create", `{"start": %d, "end": %d}`, start.Add(2*time.Hour).Unix(), start.Add(3*time.Hour).Unix())
	w.notified(standsIn("bob"))
	w.do("/schedule/update", `{"schedule_id": %d, "status": 1}`, turns)
	w.as(annKey, "/person/absence/create", `{"start": %d, "end": %d}`, start.Add(3*time.Hour).Unix(), start.Add(4*time.Hour).Unix())
	w.notified()
}
