package shiftnotice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// Event types of notifications about absences.
const (
	standIn   = "absence_cover"  // shifts of the absent person fall to the person
	dismissed = "absence_return" // shifts of the absent person no longer fall to the person
	recorded  = "absence_set"    // to the absent person, when another person changed the absence
)

// Moved stores the notifications about a change of a person's absences. Targets are the absent person, the schedule's chats,
// and the persons who stand in or no longer do. Each target gets one notification for a schedule, whatever the number of
// shifts. The person who made the change is not notified. A target that cannot be notified prevents neither the change nor
// the other notifications.
func (r *Service) Moved(tx *db.Tx, m absence.Moved, now time.Time) error {
	zone, err := person.Zone(tx, m.Account)
	if err != nil {
		return err
	}
	for _, e := range m.Effects {
		shifts, err := schedule.FindShifts(tx, m.Account, e.ScheduleID, zone)
		if err != nil {
			return err
		}
		if shifts == nil || shifts.Disabled {
			continue
		}
		t := &notifier{service: r, tx: tx, account: m.Account, schedule: e.ScheduleID, shifts: shifts, now: now}
		if err := t.moved(&m, &e); err != nil {
			return err
		}
	}
	return nil
}

// moved stores the notifications about the shifts that a change of absences moves in the schedule.
func (t *notifier) moved(m *absence.Moved, e *absence.Effect) error {
	w, err := t.moveWords(m, e)
	if err != nil {
		return err
	}
	for _, id := range w.persons() {
		if id == m.Actor {
			continue
		}
		if err := t.attempt(id, func() error { return t.move(w, id) }); err != nil {
			return err
		}
	}
	return t.attempt(0, func() error {
		moment := w.span(0).Start
		return t.chats(recorded, moment, fmt.Sprint(m.Revision), func(clock func(int64) string) (string, string) {
			return w.subject(clock, moment), w.forAll(clock)
		})
	})
}

// attempt stores a notification, and logs the error of a notification that cannot be stored. Person 0 is the schedule's
// chats.
func (t *notifier) attempt(person int64, store func() error) error {
	failed, err := t.tx.Try(store)
	if failed != nil {
		t.service.Log.Error("the notification about an absence could not be stored", "account_id", t.account, "schedule_id", t.schedule,
			"person_id", person, "error", failed)
	}
	return err
}

// move stores the notification to one person.
func (t *notifier) move(w *moveWords, id int64) error {
	p, found, err := notify.Find(t.tx, t.account, id)
	if err != nil || !found {
		return err
	}
	by, err := t.by(id)
	if err != nil {
		return err
	}
	what, span := w.event(id), w.span(id)
	n := t.notification(what, span.Start, func(clock func(int64) string) (string, string) {
		return w.subject(clock, span.Start), w.forPerson(clock, id)
	}, t.zone(p))
	n.Key = fmt.Sprintf("shift/%d/%s/%d/p%d", t.schedule, what, w.Revision, id)
	n.Reason, n.Detail.Until = sentence.New("by_absence"), span.End
	return t.service.Notify.PutFor(t.tx, p, by, "Info", n, t.now)
}

// moveWords holds the parts of the messages about a change of absences.
type moveWords struct {
	*absence.Moved
	effect   *absence.Effect
	schedule string
	names    map[int64]string // names of the persons whose shifts move, of the absent person and of the actor
}

func (t *notifier) moveWords(m *absence.Moved, e *absence.Effect) (*moveWords, error) {
	w := &moveWords{Moved: m, effect: e, schedule: t.shifts.Name, names: map[int64]string{}}
	for _, id := range append(w.persons(), m.Person, m.Actor) {
		name, err := t.names([]int64{id})
		if err != nil {
			return nil, err
		}
		w.names[id] = name
	}
	return w, nil
}

// persons returns the persons whose shifts move, each once.
func (w *moveWords) persons() (ids []int64) {
	for _, s := range append(slices.Clone(w.effect.Gained), w.effect.Lost...) {
		if !slices.Contains(ids, s.PersonID) {
			ids = append(ids, s.PersonID)
		}
	}
	return ids
}

// event returns the event type of a message to a person.
func (w *moveWords) event(id int64) string {
	switch {
	case id == w.Person:
		return recorded
	case len(of(w.effect.Gained, id)) > 0:
		return standIn
	}
	return dismissed
}

// span returns the time from the first to the last of the shifts that a person gains, else loses. Person 0 is every person.
func (w *moveWords) span(id int64) absence.Shift {
	list := of(w.effect.Gained, id)
	if len(list) == 0 {
		list = of(w.effect.Lost, id)
	}
	span := list[0]
	for _, s := range list {
		span.Start, span.End = min(span.Start, s.Start), max(span.End, s.End)
	}
	return span
}

// of returns the shifts of a person, in order of time. Person 0 is every person.
func of(list []absence.Shift, id int64) []absence.Shift {
	list = slices.DeleteFunc(slices.Clone(list), func(s absence.Shift) bool { return id != 0 && s.PersonID != id })
	slices.SortStableFunc(list, func(a, b absence.Shift) int { return int(a.Start - b.Start) })
	return list
}

func (w *moveWords) subject(clock func(int64) string, moment int64) string {
	return "Absence in " + w.schedule + " from " + clock(moment)
}

// cause returns the sentence about the change.
func (w *moveWords) cause(clock func(int64) string, reader int64) string {
	who, whose := w.names[w.Person]+" is", "The absence of "+w.names[w.Person]
	if reader == w.Person {
		who, whose = "You are", "Your absence"
	}
	if w.After == nil {
		return fmt.Sprintf("%s from %s until %s was deleted.", whose, clock(w.Before.Start), clock(w.Before.End))
	}
	now := fmt.Sprintf("%s absent from %s until %s", who, clock(w.After.Start), clock(w.After.End))
	if b := w.Before; b != nil && (b.Start != w.After.Start || b.End != w.After.End) {
		now += fmt.Sprintf(", not from %s until %s", clock(b.Start), clock(b.End))
	}
	return now + "."
}

// forPerson returns the body of the message to a person.
func (w *moveWords) forPerson(clock func(int64) string, id int64) string {
	gained, lost := of(w.effect.Gained, id), of(w.effect.Lost, id)
	lines := []string{w.cause(clock, id)}
	place := ""
	if id != w.Person {
		place = " in place of " + w.names[w.Person]
	}
	if len(gained) > 0 {
		lines = append(lines, "You are on call in "+w.schedule+place+" "+times(clock, gained)+".")
	}
	if len(lost) > 0 {
		lines = append(lines, "You are not on call in "+w.schedule+" any more "+times(clock, lost)+".")
	}
	return strings.Join(append(lines, "Changed by "+w.names[w.Actor]+"."), " ")
}

// forAll returns the body of the message to the chats: who is on call instead, and when no one is.
func (w *moveWords) forAll(clock func(int64) string) string {
	lines := []string{w.cause(clock, 0)}
	for _, id := range w.persons() {
		if gained := of(w.effect.Gained, id); len(gained) > 0 {
			lines = append(lines, w.names[id]+" is on call in "+w.schedule+" "+times(clock, gained)+".")
		}
	}
	var gaps []absence.Shift
	for _, g := range w.effect.Gaps {
		gaps = append(gaps, absence.Shift{Start: g.Start, End: g.End})
	}
	if len(gaps) > 0 {
		lines = append(lines, "No one is on call in "+w.schedule+" "+times(clock, gaps)+".")
	}
	return strings.Join(append(lines, "Changed by "+w.names[w.Actor]+"."), " ")
}

// times returns the times of shifts for a sentence, maxSentences at most.
func times(clock func(int64) string, list []absence.Shift) string {
	var words []string
	for _, s := range list[:min(len(list), maxSentences)] {
		words = append(words, "from "+clock(s.Start)+" until "+clock(s.End))
	}
	if more := len(list) - maxSentences; more > 0 {
		words = append(words, fmt.Sprintf("%d more times until %s", more, clock(list[len(list)-1].End)))
	}
	return strings.Join(words, ", ")
}
