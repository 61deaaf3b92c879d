package console_test

import (
	"testing"
	"time"
)

// TestMomentShowsWhatHappened looks at the moment of an alert an hour later: its event and verdict, whom it notified, and who was on
// call in each schedule.
func TestMomentShowsWhatHappened(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.push(`{"title_rule": "Only a test", "event_status": "Critical", "alert_key": "test", "labels": {"env": "test"}}`)
	w.clock.Add(5 * time.Hour)
	owner := w.signIn(ownerKey)
	owner.get("/incidents").shows(`href="/at"`)
	then := owner.get("/at?moment=2026-11-21T10:02&span=15")
	then.shows("Checkout is down", "The alert opened the incident.", "Only a test", "The event was discarded.", "Notified Ann Day",
		"Day", "Nights only", "Nobody on call", "Incidents open then", `href="/schedules/7000000000032/why?at=`, "moment=2026-11-21%2009:32&amp;span=15")
	owner.get("/at?moment=2026-11-21T23:30").shows("Bob Night", "Nothing happened in this time", "!Nobody on call", "Incidents open then")
	owner.get("/at?moment=2026-11-01T10:00").shows("Nothing happened in this time", "!Incidents open then")
	owner.get("/at?moment=then&span=9").shows(`value="2026-11-21 15:00"`)
	ann := w.signIn(annKey) // in Berlin
	ann.get("/at?moment=2026-11-21T11:02").shows("Notified Ann Day", "11:00")
	w.signIn(readerKey).get("/at?moment=2026-11-21T10:02").shows("Checkout is down", "!Nights only")
	w.anyone(w.kindOf("nobody", nil)).get("/at").shows("What happened at a moment", "!On call at")
}

// TestListsHaveWindow filters incidents and alerts by a window of the address.
func TestListsHaveWindow(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	w.clock.Add(5 * time.Hour)
	owner := w.signIn(ownerKey)
	for _, list := range []string{"/incidents?show=all", "/alerts?show=all", "/alerts?show=firing"} {
		owner.get(list+"&from=2026-11-21T09:50&to=2026-11-21T10:00").shows("Checkout is down", `value="2026-11-21 09:50"`, `id="filter" open`)
		owner.get(list + "&from=2026-11-21T10:01&to=2026-11-21T12:00").shows("!Checkout is down")
		owner.get(list + "&from=2026-11-21T09:00").shows("Checkout is down")
		owner.get(list + "&from=2026-11-22T09:00&to=2026-11-21T12:00").shows("!Checkout is down")
		owner.get(list + "&from=soon").shows("Checkout is down")
	}
}
