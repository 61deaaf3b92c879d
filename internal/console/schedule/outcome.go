package schedule

import (
	"tocsin/internal/console/page"
)

// outcome is what an action on a schedule has made for the page that answers it.
type outcome struct {
	plan     *changePlan     // what a form that was sent for review would change
	effects  []absenceEffect // likewise, of an absence
	reviewed bool            // effects are known
	edited   *edited         // a schedule that is being edited
	stale    bool            // it was changed meanwhile: nothing was saved, and the plan is a new one
	feedURL  string          // of a calendar feed that was made
}

// outcomeOf returns the outcome of a visit, which is empty at first.
func outcomeOf(v *page.Visit) *outcome {
	o, ok := v.Made.(*outcome)
	if !ok {
		o = &outcome{}
		v.Made = o
	}
	return o
}
