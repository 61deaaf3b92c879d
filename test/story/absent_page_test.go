package story

import (
	"strings"
	"testing"
	"time"
)

// away records that a person is absent for a day from now on.
func (w *world) away(person int) {
	w.t.Helper()
	w.do("/person/absence/create", `{"person_id": %d, "start": %d, "end": %d}`, person, start.Add(-time.Minute).Unix(), start.Add(24*time.Hour).Unix())
}

// TestAbsentPersonIsLeftToOthers checks that a step pages an absent person only when no other person of the rule can be
// reached. The page has the reason.
func TestAbsentPersonIsLeftToOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, layers string
		away         []int
		want         []string
		although     bool
	}{
		{"others of the step", layer(persons(ann, cid)), []int{ann}, []string{newPage("cid")}, false},
		{"later step", layer(persons(ann)) + "," + layer(persons(cid)), []int{ann}, []string{newPage("cid")}, false},
		{"later schedule", layer(persons(cid)) + "," + layer(onCall(day)), []int{cid}, []string{newPage("ann")}, false},
		{"no one else", layer(persons(cid)), []int{cid}, []string{newPage("cid")}, true},
		{"everyone", layer(persons(ann)) + "," + layer(persons(cid)), []int{ann, cid}, []string{newPage("ann")}, true},
		{"no one", layer(persons(ann, cid)), nil, []string{newPage("ann"), newPage("cid")}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, escalates(c.layers))
			for _, id := range c.away {
				w.away(id)
			}
			w.newPages()
			w.push("cpu", "Critical")
			for _, p := range w.reached() {
				if strings.Contains(p.text, "because no one else can be reached") != c.although {
					t.Errorf("the reason in %q, want one of absence: %v", p.text, c.although)
				}
			}
			w.notified(c.want...)
		})
	}
}

// TestAbsentPersonOfScheduleIsPaged checks that an override puts a person on call despite an absence.
func TestAbsentPersonOfScheduleIsPaged(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(turns)+", "+persons(cid))), taking(`{}`))
	w.away(ann)
	w.covers(instead(bob), ann, start, start.Add(time.Hour))
	w.newPages()
	w.push("cpu", "Critical")
	w.notified(newPage("ann"), newPage("cid"))
}

// TestAssigningAbsentPersonWarns checks that an absent assignee is notified, and that the reply warns of the absence.
func TestAssigningAbsentPersonWarns(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.away(cid)
	w.newPages()
	const warning = "is absent until Sun 22 Nov 10:00 UTC"
	for _, r := range []reply{
		w.do("/incident/create", `{"incident_severity": "Critical", "title": "Smoke", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid),
		w.do("/incident/assign", `{"incident_ids": [%q], "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid),
		w.do("/incident/responder/add", `{"incident_id": %q, "person_ids": [%d, %d]}`, w.incident(), cid, ann),
	} {
		if !strings.Contains(r.String(), warning) {
			t.Errorf("no warning: %s", r)
		}
	}
	for _, p := range w.newPages() {
		if p.to == "cid@example.com" {
			return
		}
	}
	t.Error("the absent person who was assigned was not notified")
}

// TestFallbackPassesOverAbsentPersons checks that the account's fallback notifies the persons who are present.
func TestFallbackPassesOverAbsentPersons(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/account/fallback/update", `{"person_ids": [%d, %d]}`, ann, cid)
	w.away(ann)
	w.newPages()
	w.push("cpu", "Critical")
	w.pass(2 * time.Minute)
	for _, p := range w.newPages() {
		if p.to == "ann@example.com" {
			t.Errorf("the absent person was notified: %s", p)
		}
	}
}
