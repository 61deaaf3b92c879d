package story

import (
	"testing"
	"time"
)

// asTurns is a rule that pages who is on call in turns.
var asTurns = escalates(layer(onCall(turns)))

func TestPersonWhoTakesOverIsPaged(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`), asTurns)
	id := w.covers(instead(bob), cid, start, start.Add(time.Hour))
	w.newPages()
	w.push("disk", "Critical")
	w.notified(newPage("cid"))
	w.do("/schedule/override/delete", `{"override_ids": [%d]}`, id)
	w.newPages()
	w.push("other", "Critical")
	w.notified(newPage("bob"))
}

func TestNoOverrideOfAnotherTimePersonOrRoleChangesWhoIsPaged(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`), asTurns)
	w.covers(instead(ann), cid, start, start.Add(time.Hour)) // Ann is not on call
	w.covers(instead(bob), cid, start.Add(time.Minute), start.Add(time.Hour))
	w.covers(`"role_id": 1`, cid, start, start.Add(time.Hour))
	w.newPages()
	w.push("disk", "Critical")
	w.notified(newPage("bob"))
}

// A person who hands over to another who hands over to a third.
func TestShiftThatWasHandedOverCanBeHandedOn(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`), asTurns)
	w.covers(instead(bob), cid, start, start.Add(time.Hour))
	w.clock.Add(time.Second)
	w.covers(instead(cid), ann, start, start.Add(time.Hour))
	w.newPages()
	w.push("disk", "Critical")
	w.notified(newPage("ann"))
}

func TestAbsentPersonIsNotPagedAndNextInRotationIs(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{}`), asTurns)
	w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d}`, bob, start.Unix(), start.Add(time.Hour).Unix())
	w.notified(standsIn("ann"), absent("bob"))
	w.push("disk", "Critical")
	w.notified(newPage("ann"))
	w.slow().pass(time.Hour)
	w.newPages()
	w.push("other", "Critical")
	w.notified(newPage("bob"))
}

// Notifications about shifts are of the persons who are on call, with overrides and absences.
func TestShiftsWithOverridesAreNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 600}`)).slow()
	noon := start.Add(2 * time.Hour)
	w.covers(instead(ann), cid, noon, noon.Add(time.Hour))
	w.notified(set("cid"), set("ann"))
	w.pass(110 * time.Minute)
	w.hasText("cid@example.com", "On call in Turns from Sat 21 Nov 12:00 UTC: You are on call in Turns from Sat 21 Nov 12:00 UTC until Sat 21 Nov 13:00 UTC. You take over from Bob Night.")
	w.notified(begins("cid"), ends("bob"))
	w.pass(time.Hour)
	w.notified(begins("ann"), ends("cid"))
}

func TestShiftsWithAbsencesAreNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 600}`)).slow()
	w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d}`, ann, start.Unix(), start.Add(4*time.Hour).Unix())
	w.notified(absent("ann"), absent("ann"), standsIn("bob")) // Ann is in two schedules
	w.pass(3 * time.Hour)
	w.notified() // Bob stays on call beyond noon
	w.pass(50 * time.Minute)
	w.notified(begins("ann"), ends("bob"))
}
