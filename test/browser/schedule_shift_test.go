package browser

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// Who takes turns takes a shift of another: from the list, with the plan before it holds. No one else's rights are needed.
func TestShiftIsTaken(t *testing.T) {
	w := begin(t)
	p := open(t, w)
	p.SignIn(w.KeyOf(t, "Łukasz Wiśniewski"))
	p.Language("en")
	p.Open(picture(t, w, weekly, "?from=2026-11-23&days=7&tz=Europe/Berlin"))
	p.Lacks("Edit layers")
	p.Lacks("Delete")
	p.Click("Show as list")
	for _, r := range list(p) {
		if r.Who == "Anna Schäfer" && r.From.Equal(berlin(t, "2026-11-23 09:00")) {
			p.Follow(fmt.Sprintf("a[href^='/schedules/%d/shift/take?end=%d']", scheduleOf(t, w, weekly), r.Until.Unix()))
		}
	}
	p.At(picture(t, w, weekly, "/shift/take?"))
	if got := page.Eval[string](p, `document.querySelector('select[name=person]').selectedOptions[0].text`); got != "Anna Schäfer" || value(p, "input[name=start]") != "2026-11-23 09:00" {
		t.Errorf("the form has %s from %s", got, value(p, "input[name=start]"))
	}
	fill(p, "input[name=end]", "2026-11-23T12:00")
	p.Type("Reason", "Anna is on a train")
	p.Follow("Show what changes")
	p.See("Łukasz Wiśniewski")
	p.See("+3 h")
	if got := onCall(t, w, weekly, berlin(t, "2026-11-23 10:00")); got != "Anna Schäfer" {
		t.Errorf("the review put %s on call", got)
	}
	sound(t, p)
	p.Follow("Take the shift")
	p.At(picture(t, w, weekly, ""))
	if got := onCall(t, w, weekly, berlin(t, "2026-11-23 10:00")); got != "Łukasz Wiśniewski" {
		t.Errorf("%s is on call", got)
	}
	p.See("override: Anna is on a train")
}

// Who is on call asks for cover from the first page. Who is asked finds the request on theirs and accepts; until then nothing
// changes.
func TestCoverIsAskedForAndAccepted(t *testing.T) {
	w := begin(t)
	p, other := signedIn(t, w), open(t, w)
	other.SignIn(w.KeyOf(t, "Łukasz Wiśniewski"))
	other.Language("en")
	askForCover(t, w, p)
	moment := berlin(t, "2026-11-24 19:00")
	if got := onCall(t, w, weekly, moment); got != "Anna Schäfer" {
		t.Errorf("the request put %s on call", got)
	}
	other.Open("/")
	other.See("Waits for your answer")
	other.See("Anna Schäfer asks you to be on call in their place: " + weekly)
	other.See("Parents' evening")
	sound(t, other)
	other.Phone()
	sound(t, other)
	other.Follow("Accept")
	other.At("/")
	other.Unseen("Waits for your answer")
	if got := onCall(t, w, weekly, moment); got != "Łukasz Wiśniewski" {
		t.Errorf("%s is on call", got)
	}
	p.Open("/people/" + fmt.Sprint(personOf(t, "Anna Schäfer")) + "/shifts")
	p.Lacks("Take the request back")
}

// askForCover lets the owner ask one person for an evening.
func askForCover(t *testing.T, w *world.World, p *page.Page) {
	t.Helper()
	p.Open("/")
	p.Follow(fmt.Sprintf(".on-call a[href^='/schedules/%d/shift/ask']", scheduleOf(t, w, weekly)))
	fill(p, "input[name=start]", "2026-11-24T18:00")
	fill(p, "input[name=end]", "2026-11-24T22:00")
	p.Click("Łukasz Wiśniewski")
	p.Type("Reason", "Parents' evening")
	sound(t, p)
	p.Follow("Ask them")
	p.At("/people/" + fmt.Sprint(personOf(t, "Anna Schäfer")) + "/shifts")
	p.See("Waits for: Łukasz Wiśniewski · until")
	sound(t, p)
}

// A request is declined by who is asked, or taken back by who asks. Either ends it.
func TestCoverIsDeclinedOrTakenBack(t *testing.T) {
	w := begin(t)
	p, other := signedIn(t, w), open(t, w)
	other.SignIn(w.KeyOf(t, "Łukasz Wiśniewski"))
	other.Language("en")
	askForCover(t, w, p)
	other.Open("/people/" + fmt.Sprint(personOf(t, "Łukasz Wiśniewski")) + "/shifts")
	other.Follow("Decline")
	other.Open("/")
	other.Unseen("Waits for your answer")
	askForCover(t, w, p)
	other.Open("/")
	other.See("Waits for your answer")
	p.Follow("Take the request back")
	p.Unseen("Waits for:")
	other.Follow("Accept")
	other.See("cancelled") // too late
	other.Quiet("400", "409")
	if got := onCall(t, w, weekly, berlin(t, "2026-11-24 19:00")); got != "Anna Schäfer" {
		t.Errorf("%s is on call", got)
	}
}

// A shift is handed over from one's own list: the other is asked, unless one manages schedules.
func TestShiftIsHandedOver(t *testing.T) {
	w := begin(t)
	p := open(t, w)
	p.SignIn(w.KeyOf(t, "Łukasz Wiśniewski"))
	p.Language("en")
	mine := "/people/" + fmt.Sprint(personOf(t, "Łukasz Wiśniewski")) + "/shifts"
	p.Open(mine)
	p.Follow(fmt.Sprintf("a[href^='/schedules/%d/shift/hand-over']", scheduleOf(t, w, weekly)))
	sound(t, p)
	choose(p, "select[name=person]", "Jonas Köhler")
	from := value(p, "input[name=start]")
	p.Follow("Hand the shift over")
	p.At(mine)
	p.See("Waits for: Jonas Köhler")
	at := berlin(t, strings.Replace(from, "T", " ", 1))
	if got := onCall(t, w, weekly, at); got != "Łukasz Wiśniewski" {
		t.Errorf("before the answer %s is on call", got)
	}
	manager := signedIn(t, w)
	manager.Open(picture(t, w, weekly, "?from=2026-11-23&days=7&tz=Europe/Berlin"))
	manager.Click("Show as list")
	manager.Follow("#list a[href*='/shift/hand-over']")
	choose(manager, "select[name=person]", "Jonas Köhler")
	at = berlin(t, strings.Replace(value(manager, "input[name=start]"), "T", " ", 1))
	manager.Follow("Hand the shift over")
	manager.At(picture(t, w, weekly, ""))
	if got := onCall(t, w, weekly, at); got != "Jonas Köhler" {
		t.Errorf("after a manager has handed over, %s is on call", got)
	}
}

// Where a schedule forbids it, its persons are drawn no control, and a form that they open shows whom to ask.
func TestSchedulesPersonsMayBeForbidden(t *testing.T) {
	w := begin(t)
	p := open(t, w)
	p.SignIn(w.KeyOf(t, "Łukasz Wiśniewski"))
	p.Language("en")
	list := picture(t, w, weekly, "?from=2026-11-23&days=14")
	mine := "/people/" + fmt.Sprint(personOf(t, "Łukasz Wiśniewski")) + "/shifts"
	controls := fmt.Sprintf("a[href^='/schedules/%d/shift/']", scheduleOf(t, w, weekly))
	drawn := func() (n int) {
		for _, path := range []string{"/", list, mine} {
			p.Open(path)
			n += page.Eval[int](p, fmt.Sprintf(`document.querySelectorAll(%q).length`, controls))
		}
		return n
	}
	if n := drawn(); n < 6 {
		t.Errorf("%d controls are drawn", n)
	}
	w.Do(t, "/schedule/update", map[string]any{"schedule_id": scheduleOf(t, w, weekly), "self_service": false}, nil)
	if n := drawn(); n != 0 {
		t.Errorf("%d controls are drawn", n)
	}
	p.Open(picture(t, w, weekly, "/shift/ask"))
	p.See("In this schedule only who manages schedules changes shifts.")
	p.Lacks("Ask them")
	sound(t, p)
}
