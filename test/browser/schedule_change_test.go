package browser

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// A gap is named on the first page, in the picture, in its notice and in the list. "Fill the gap" opens an override with the
// times filled in; after that the gap is gone everywhere.
func TestGapIsFilled(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, gaps, ""))
	p.See("No one is on call for 5 h 48 min")
	p.Has(".lane.final .b.gap")
	p.Click("Show as list")
	missing := false
	for _, r := range list(p) {
		missing = missing || r.Who == "" && strings.Contains(r.Links, "Fill the gap")
	}
	if !missing {
		t.Errorf("the list has no gap: %+v", list(p))
	}
	sound(t, p)
	p.Open("/")
	p.See("No one for 5 h 48 min")
	p.Follow("Fill the gap")
	p.At(picture(t, w, gaps, "/override?"))
	if from, until := value(p, "input[name=start]"), value(p, "input[name=end]"); from != "2026-11-23 03:12" || until != "2026-11-23 09:00" {
		t.Errorf("the times are %s and %s", from, until)
	}
	choose(p, "select[name=by]", "Zoë Lefèvre")
	p.Follow("Show what changes")
	p.See("+5 h 48 min")
	sound(t, p)
	p.Follow("Save the override")
	p.At(picture(t, w, gaps, ""))
	if got := onCall(t, w, gaps, w.Clock.Now()); got != "Zoë Lefèvre" {
		t.Errorf("%s is on call", got)
	}
	p.Unseen("No one is on call for 5 h 48 min")
	p.Open("/")
	p.Unseen("No one for 5 h 48 min")
	sound(t, p)
}

// With keys alone: a group moves up, a person is added, the plan shows who gains and who loses and how many hours, the change
// is saved, and the audit log has what it was and what it is.
func TestLayersAreEditedWithKeys(t *testing.T) {
	w := begin(t)
	id := scheduleOf(t, w, monthly)
	var stored struct {
		Layers []map[string]any `json:"layers"`
	}
	w.Do(t, "/schedule/info", map[string]any{"schedule_id": id}, &stored)
	w.Do(t, "/schedule/update", map[string]any{"schedule_id": id, "layers": stored.Layers}, nil) // an earlier change
	w.Clock.Add(time.Minute)
	p := signedIn(t, w)
	p.Open(picture(t, w, monthly, ""))
	tabTo(t, p, "Edit layers")
	p.Enter()
	p.At(picture(t, w, monthly, "/edit"))
	tabTo(t, p, "Group 2 up")
	p.Enter()
	if got := value(p, "input[name='l0.g0.name']"); got != "Zoë" {
		t.Errorf("the first group is %s", got)
	}
	tabTo(t, p, "Person 2 of group 1")
	p.Key("Jon")
	if got := page.Eval[string](p, `document.activeElement.selectedOptions[0].text`); got != "Jonas Köhler" {
		t.Errorf("the added person is %s", got)
	}
	tabTo(t, p, "Review the change")
	before := revision(t, w, monthly)
	p.Enter()
	p.See("Whom it concerns in the next 45 days")
	changes := page.Eval[[]string](p, `[...document.querySelectorAll('[role=status] tbody tr')].map(r => r.innerText.replace(/\s+/g, ' '))`)
	if text := strings.Join(changes, "\n"); !strings.Contains(text, "Jonas Köhler") || !strings.Contains(text, "+") || !strings.Contains(text, "−") || !strings.Contains(text, " h") {
		t.Errorf("the plan says\n%s", text)
	}
	if revision(t, w, monthly) != before {
		t.Error("the review has changed the schedule")
	}
	sound(t, p)
	tabTo(t, p, fmt.Sprintf("Save and tell %d people", len(changes)))
	p.Enter()
	p.At(picture(t, w, monthly, ""))
	if revision(t, w, monthly) != before+1 {
		t.Errorf("the revision is %d, it was %d", revision(t, w, monthly), before)
	}
	p.Open("/audit")
	p.Follow("Schedule: update")
	changed := page.Eval[[]string](p, `[...document.querySelectorAll('tr:not(.same)')].map(r => [...r.querySelectorAll('th code, del, ins')].map(e => e.textContent)).filter(r => r.length === 3 && r[0].startsWith('layers')).flat()`)
	if len(changed) < 3 || changed[1] == changed[2] || !strings.Contains(strings.Join(changed, " "), fmt.Sprint(personOf(t, "Jonas Köhler"))) {
		t.Errorf("the audit log has the difference %q", changed)
	}
	sound(t, p)
}

// A plan that was made for another revision is not saved: the new plan is shown, and saving that one works.
func TestPlanThatIsOutOfDate(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, monthly, "/edit"))
	p.Follow("Group 2 up")
	p.Follow("Review the change")
	p.See("Whom it concerns in the next 45 days")
	w.Do(t, "/schedule/update", map[string]any{"schedule_id": scheduleOf(t, w, monthly), "description": "Changed meanwhile"}, nil)
	before := revision(t, w, monthly)
	p.Follow("Save and tell ")
	p.See(fmt.Sprintf("Nothing was saved; this is the plan against revision %d.", before))
	p.See("Whom it concerns in the next 45 days")
	if revision(t, w, monthly) != before {
		t.Error("it was saved all the same")
	}
	sound(t, p)
	saves(t, w, p, monthly, "Save and tell ")
}

// An override is planned for a revision, too.
func TestOverrideThatIsOutOfDate(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	from := berlin(t, "2026-11-24 20:00").Unix()
	p.Open(picture(t, w, weekly, fmt.Sprintf("/override?start=%d&end=%d&whom=%d&by=%d", from, from+3600, personOf(t, "Anna Schäfer"), personOf(t, "Jonas Köhler"))))
	w.Do(t, "/schedule/update", map[string]any{"schedule_id": scheduleOf(t, w, weekly), "description": "Changed meanwhile"}, nil)
	before := revision(t, w, weekly)
	p.Follow("Save the override")
	p.See(fmt.Sprintf("Nothing was saved; this is the plan against revision %d.", before))
	p.See("+1 h")
	if revision(t, w, weekly) != before {
		t.Error("it was saved all the same")
	}
	sound(t, p)
	p.Follow("Save the override")
	p.At(picture(t, w, weekly, ""))
	if got := onCall(t, w, weekly, time.Unix(from, 0)); got != "Jonas Köhler" {
		t.Errorf("%s is on call", got)
	}
}

// An override that a stronger one hides changes nothing: who presses Save sees that before it is stored.
func TestOverrideWithoutEffect(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	from := berlin(t, "2026-12-02 10:00").Unix() // Łukasz alone is on call by the heaviest override
	p.Open(picture(t, w, weekly, fmt.Sprintf("/override?start=%d&end=%d&whom=%d&by=%d", from, from+3600, personOf(t, "Jonas Köhler"), personOf(t, "Zoë Lefèvre"))))
	before := revision(t, w, weekly)
	p.Follow("Save the override")
	p.See("This changes nothing: no person gains or loses time.")
	if revision(t, w, weekly) != before {
		t.Error("it was stored without a warning")
	}
	sound(t, p)
	saves(t, w, p, weekly, "Save the override")
}

// Overrides, layers, plans and shifts work without scripts.
func TestSchedulesWithoutScripts(t *testing.T) {
	w := begin(t)
	p := open(t, w)
	p.NoScript()
	p.Open(picture(t, w, weekly, ""))
	p.At("/sign-in")
	p.Click("Use an app key")
	p.Type("input[name=app_key]", w.Keys.All)
	p.Enter()
	p.At(picture(t, w, weekly, ""))
	p.Follow("Add override")
	choose(p, "select[name=by]", "Zoë Lefèvre")
	choose(p, "select[name=whom]", "Anna Schäfer")
	fill(p, "input[name=start]", "2026-11-25T20:00")
	fill(p, "input[name=end]", "2026-11-25T22:00")
	p.Follow("Show what changes")
	p.See("+2 h")
	p.Follow("Save the override")
	p.At(picture(t, w, weekly, ""))
	if got := onCall(t, w, weekly, berlin(t, "2026-11-25 21:00")); got != "Zoë Lefèvre" {
		t.Errorf("%s is on call", got)
	}
	p.Open(picture(t, w, monthly, "/edit"))
	p.Follow("Group 2 up")
	p.Follow(".acts button[value=preview]")
	p.See("Preview of the next two weeks")
	p.Follow("Review the change")
	p.See("Whom it concerns in the next 45 days")
	p.Follow("Keep editing")
	if got := value(p, "input[name='l0.g0.name']"); got != "Zoë" {
		t.Errorf("the first group is %s", got)
	}
	p.Follow("Review the change")
	saves(t, w, p, monthly, "Save and tell ")
}
