package browser

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// An empty account leads to its first schedule: name, team, zone, who takes turns, a preview that follows what is entered,
// and the plan before anything is stored.
func TestFirstSchedule(t *testing.T) {
	w := ended(t, world.BeginEmpty(t, t.TempDir()))
	p := signedIn(t, w)
	p.Open("/schedules")
	p.See("There are no schedules yet.")
	sound(t, p)
	p.Follow("Make the first schedule")
	p.At("/schedules/new")
	p.Type("Name", "Night watch")
	me := page.Eval[string](p, `document.querySelector("select[name='l0.g0.p0']").options[1].text`)
	choose(p, "select[name='l0.g0.p0']", me)
	p.Has("#preview .lane.final .b")
	if got := page.Eval[string](p, `document.querySelector('#preview .lane.final .b').textContent`); !strings.Contains(got, me) {
		t.Errorf("the preview shows %s", got)
	}
	sound(t, p)
	p.Follow("Review the change")
	p.See("Whom it concerns in the next 45 days")
	p.See(me)
	p.See("+1080 h")
	if schedules(t, w) != 0 {
		t.Error("the review has made a schedule")
	}
	sound(t, p)
	p.Follow("Create the schedule")
	p.See("Not used: no escalation rule pages from it.")
	if schedules(t, w) != 1 {
		t.Error("no schedule was made")
	}
	sound(t, p)
	p.Phone()
	p.Open("/schedules/new")
	sound(t, p)
}

// schedules returns how many schedules there are.
func schedules(t *testing.T, w *world.World) (n int) {
	t.Helper()
	var reply struct{ Total int }
	w.Do(t, "/schedule/list", map[string]any{}, &reply)
	return reply.Total
}

// A new schedule without scripts; what is wrong is shown with what was entered.
func TestNewScheduleWithoutScripts(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.NoScript()
	before := schedules(t, w)
	p.Open("/schedules")
	p.Follow("New schedule")
	p.Type("Name", "Night watch")
	choose(p, "select[name=team]", "Storefront")
	p.Follow("Review the change")
	p.See("layers[0].groups")
	if got := value(p, "input[name=name]"); got != "Night watch" {
		t.Errorf("the name is %q", got)
	}
	choose(p, "select[name='l0.g0.p0']", "Maya Thompson")
	fill(p, "input[name='l0.hours_from']", "20:00")
	fill(p, "input[name='l0.hours_until']", "08:00")
	p.Follow(".acts button[value=preview]")
	p.Has("#preview .lane.final .b.gap")
	p.Follow("Review the change")
	p.See("Leaves 45 gaps")
	p.Follow("Keep editing")
	if got := value(p, "input[name='l0.hours_from']"); got != "20:00" {
		t.Errorf("the hours are from %q", got)
	}
	p.Follow("Review the change")
	p.Follow("Create the schedule")
	p.Quiet("400") // the answer to what was wrong
	if schedules(t, w) != before+1 {
		t.Error("no schedule was made")
	}
	var made struct {
		Team int64 `json:"team_id"`
	}
	w.Do(t, "/schedule/info", map[string]any{"schedule_id": scheduleOf(t, w, "Night watch")}, &made)
	if made.Team == 0 {
		t.Error("the team was not stored")
	}
}

// What uses a schedule is named before it is deleted, and keeps it from being so. One that nothing uses is deleted.
func TestScheduleIsDeleted(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, weekly, ""))
	p.Follow("Delete")
	p.See("It cannot be deleted: this uses it")
	p.See("Plattform")
	p.Lacks(".danger")
	sound(t, p)
	p.Open(picture(t, w, unstaffed, "/delete"))
	p.See("Nothing uses it")
	sound(t, p)
	before := schedules(t, w)
	p.Follow(".danger")
	p.At("/schedules")
	if schedules(t, w) != before-1 {
		t.Errorf("%d schedules of %d are left", schedules(t, w), before)
	}
}

// A schedule is disabled after a question that names whom it concerns, and enabled again.
func TestScheduleIsDisabled(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, weekly, ""))
	p.Click("Disable")
	p.See("The 2 escalation rules that use it find no one there.")
	sound(t, p)
	p.Follow("Disable the schedule")
	p.See("Disabled: no person is paged from it.")
	p.Lacks(fmt.Sprintf("a[href^='/schedules/%d/shift/']", scheduleOf(t, w, weekly)))
	sound(t, p)
	p.Follow("Enable the schedule")
	p.Unseen("Disabled: no person is paged from it.")
}
