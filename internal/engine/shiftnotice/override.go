package shiftnotice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// Event types of notifications about overrides.
const (
	covered   = "override_set" // an override was made or changed
	uncovered = "override_end" // an override was deleted, or changed so that it does not concern the person any more
)

// maxSentences is how many overrides one message describes.
const maxSentences = 5

// about is what one person reads about changes of overrides.
type about struct {
	person    int64
	what      string // covered, if any of the overrides concerns the person from now on
	override  *schedule.Override
	sentences []func(clock func(int64) string) string
	from, to  int64
}

// Overridden stores the notifications about changes of overrides: to the person who takes over and to those who are
// replaced, one each whatever the number of changes. The person who made the changes is not notified. A person who cannot
// be notified keeps neither the change nor the others from it.
func (r *Service) Overridden(tx *db.Tx, changes schedule.OverrideChanges, now time.Time) error {
	zone, err := person.Zone(tx, changes.Account)
	if err != nil {
		return err
	}
	shifts, err := schedule.FindShifts(tx, changes.Account, changes.Schedule, zone)
	if err != nil || shifts == nil || shifts.Disabled {
		return err
	}
	t := &notifier{service: r, tx: tx, account: changes.Account, schedule: changes.Schedule, shifts: shifts, now: now}
	var all []*about
	for _, change := range changes.Changes {
		if err := t.describe(change, &all); err != nil {
			return err
		}
	}
	actor, err := t.names([]int64{changes.Actor})
	if err != nil {
		return err
	}
	for _, a := range all {
		if a.person == changes.Actor {
			continue
		}
		failed, err := tx.Try(func() error { return t.override(a, changes.Revision, actor) })
		if err != nil {
			return err
		}
		if failed != nil {
			r.Log.Error("the notification about an override could not be stored", "account_id", t.account, "schedule_id", t.schedule,
				"person_id", a.person, "error", failed)
		}
	}
	return nil
}

// describe adds what a change means to each person whom it concerns.
func (t *notifier) describe(change schedule.OverrideChange, all *[]*about) error {
	before, after := change.Before, change.After
	if before != nil && after != nil && same(before, after) {
		return nil // only the reason differs
	}
	var told []int64
	if after != nil {
		told = append([]int64{after.By}, change.Replaced...)
		if err := t.set(after, change.Replaced, all); err != nil {
			return err
		}
	}
	if before == nil {
		return nil
	}
	for _, id := range append([]int64{before.By}, change.Replaced...) {
		if slices.Contains(told, id) {
			continue
		}
		told = append(told, id)
		by, err := t.names([]int64{before.By})
		if err != nil {
			return err
		}
		if id == before.By {
			by = "you"
		}
		t.add(all, id, uncovered, before, func(clock func(int64) string) string {
			return fmt.Sprintf("The override in %s that put %s on call from %s until %s does not hold any more.", t.shifts.Name, by,
				clock(before.Start), clock(before.End))
		})
	}
	return nil
}

// set adds what an override that holds from now on means to the person who takes over and to those who are replaced.
func (t *notifier) set(o *schedule.Override, replaced []int64, all *[]*about) error {
	by, err := t.names([]int64{o.By})
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(replaced), func(id int64) bool { return id == o.By })
	whom, err := t.names(others)
	if err != nil {
		return err
	}
	if whom != "" {
		whom = " in place of " + whom
	}
	why := ""
	if o.Reason != "" {
		why = " Reason: " + strings.TrimRight(o.Reason, ".") + "."
	}
	t.add(all, o.By, covered, o, func(clock func(int64) string) string {
		return fmt.Sprintf("You are on call in %s from %s until %s%s.%s", t.shifts.Name, clock(o.Start), clock(o.End), whom, why)
	})
	for _, id := range others {
		t.add(all, id, covered, o, func(clock func(int64) string) string {
			return fmt.Sprintf("%s is on call in %s in place of you from %s until %s.%s", by, t.shifts.Name, clock(o.Start), clock(o.End), why)
		})
	}
	return nil
}

// same reports whether two versions of an override put the same person in the same place at the same time.
func same(a, b *schedule.Override) bool {
	return a.By == b.By && a.PersonID == b.PersonID && *a.RoleID == *b.RoleID && a.Start == b.Start && a.End == b.End
}

// add adds a sentence to what a person reads.
func (t *notifier) add(all *[]*about, person int64, what string, o *schedule.Override, sentence func(func(int64) string) string) {
	i := slices.IndexFunc(*all, func(a *about) bool { return a.person == person })
	if i < 0 {
		i = len(*all)
		*all = append(*all, &about{person: person, what: what, override: o, from: o.Start})
	}
	a := (*all)[i]
	if what == covered {
		a.what, a.override = what, o
	}
	a.sentences = append(a.sentences, sentence)
	a.from, a.to = min(a.from, o.Start), max(a.to, o.End)
}

// override stores the notification to one person.
func (t *notifier) override(a *about, revision int64, actor string) error {
	p, found, err := notify.Find(t.tx, t.account, a.person)
	if err != nil || !found {
		return err
	}
	by, err := t.by(a.person)
	if err != nil {
		return err
	}
	n := t.notification(a.what, a.from, func(clock func(int64) string) (string, string) {
		var lines []string
		for _, tell := range a.sentences[:min(len(a.sentences), maxSentences)] {
			lines = append(lines, tell(clock))
		}
		if more := len(a.sentences) - maxSentences; more > 0 {
			lines = append(lines, fmt.Sprintf("%d more overrides have changed.", more))
		}
		return "Override in " + t.shifts.Name + " from " + clock(a.from), strings.Join(append(lines, "Changed by "+actor+"."), " ")
	}, t.zone(p))
	n.Key = fmt.Sprintf("shift/%d/%s/%d/p%d", t.schedule, a.what, revision, a.person)
	n.Reason, n.Detail.Until = sentence.New("by_override"), a.to
	if a.what == covered {
		n.Detail.Rule = fmt.Sprintf("%d/%d", a.override.OverrideID, a.override.Revision)
	}
	return t.service.Notify.PutFor(t.tx, p, by, "Info", n, t.now)
}

// staleOverride returns why a notification about an override must not be sent any more; empty when it is sent.
func staleOverride(tx *db.Tx, n *notify.Notification) string {
	var id, revision int64
	if _, err := fmt.Sscanf(n.Detail.Rule, "%d/%d", &id, &revision); err != nil {
		return "" // it is about overrides that are gone
	}
	o, found, err := schedule.FindOverride(tx, n.Account, id)
	switch {
	case err != nil:
		return ""
	case !found:
		return "the override was deleted"
	case o.Revision != 0 && o.Revision != revision:
		return "the override was changed since"
	}
	return ""
}
