package escalation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// Questions to the persons who have acknowledged an incident. Each question awaits an answer.
const (
	byReminder = "reminder" // the incident is still open
	bySnooze   = "snooze"   // the snooze is over
)

// await returns the question that awaits an answer.
func (f *followUp) await(tx *db.Tx, i *incident.Incident, ch channel.Channel, now time.Time) (a escalationplan.Await, err error) {
	if f.asked == 0 || i.Progress != incident.Processing {
		return a, nil
	}
	all, err := f.deliveries(tx, i)
	if err != nil {
		return a, err
	}
	wait, withdraws := int64(escalationplan.WokenWait), true
	if f.question == byReminder {
		wait, withdraws = ch.Withdrawal(i.Severity)
	}
	a = escalationplan.Await{Open: true, Withdraws: withdraws}
	a.Until, a.Reached, _ = escalationplan.AnswerBy(f.asked, wait, now.Unix(), all)
	return a, nil
}

// atOnce bounds the delay of a notification that does not wait for the end of quiet hours, in milliseconds.
const atOnce = 2 * 60_000

// deliveries returns the outcomes of the messages of the open question. A message about a Critical incident that waits for
// the end of quiet hours is left out. The incident must not wait with its message.
func (f *followUp) deliveries(tx *db.Tx, i *incident.Incident) (all []escalationplan.Delivery, err error) {
	notifications, err := notify.OfIncident(tx, f.account, f.incident)
	for _, n := range notifications {
		if n.Status == notify.Cancelled || !strings.HasPrefix(n.Key, f.key()+"/") {
			continue
		}
		d := escalationplan.Delivery{Person: n.Person, Sent: n.Status == notify.Sent, Open: n.Settled == 0, At: n.Settled / 1000}
		if d.Open {
			if i.Severity == event.Critical && n.Attempts == 0 && n.Due-n.Created > atOnce {
				continue
			}
			d.At = n.Due / 1000
		}
		all = append(all, d)
	}
	return all, err
}

// key returns the common beginning of the keys of the question's messages.
func (f *followUp) key() string { return fmt.Sprintf("%s/%s/%d", f.incident, f.event(), f.asked) }

// event returns the type of the event of the question.
func (f *followUp) event() string {
	if f.question == bySnooze {
		return activity.IncidentWake
	}
	return activity.IncidentReminder
}

// open notes which question is open once a message is sent.
func (f *followUp) open(m escalationplan.Message, plan *escalationplan.FollowUp, now time.Time) {
	switch {
	case m == escalationplan.Woken:
		f.question, f.asked = bySnooze, now.Unix()
	case m == escalationplan.Reminder && plan.Await.Open:
		f.question, f.asked = byReminder, now.Unix()
	case !plan.Await.Open && !plan.Woke:
		f.close()
	}
}

// close notes that no question is open.
func (f *followUp) close() { f.question, f.asked = "", 0 }

// askAgain makes the question due again, instead of acting on a missing answer. A held copy of the database sends nothing.
// The copy must not count an answer as missing that was given elsewhere.
func (f *followUp) askAgain() {
	f.asked = 0
	if f.question == byReminder {
		f.question, f.reminded = "", 0
	}
}

// held reports whether the server sends nothing.
func (r *Service) held() bool { return r.Notify.Held != nil && r.Notify.Held() != "" }

// ask stores the messages of the open question to the holders of the incident. At the end of a snooze, the person who
// snoozed the incident gets a message, too.
func (r *Service) ask(tx *db.Tx, f *followUp, i *incident.Incident, now time.Time) error {
	to := i.Holders()
	if snoozer := i.Snoozer(); f.question == bySnooze && snoozer != 0 && !slices.Contains(to, snoozer) {
		to = append(to, snoozer)
	}
	methods, err := r.methodsOf(tx, i)
	if err != nil {
		return err
	}
	zone, err := person.Zone(tx, f.account)
	if err != nil {
		return err
	}
	t := draft{cause: notify.Reminder, event: f.event(), late: true, detail: notify.Detail{Question: f.question}}
	for _, id := range to {
		p, found, err := notify.Find(tx, f.account, id)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		t.by = methods[id]
		t.key = fmt.Sprintf("%s/p%d", f.key(), id)
		t.reason = f.words(i, p, zone, now)
		if err := r.person(tx, i, t, id, now); err != nil {
			return err
		}
	}
	return nil
}

// words returns the question to a person, in the person's time zone or else the account's.
func (f *followUp) words(i *incident.Incident, p notify.Person, zone *time.Location, now time.Time) sentence.Value {
	if own, err := time.LoadLocation(p.TimeZone); err == nil && p.TimeZone != "" {
		zone = own
	}
	since := i.HeldSince(p.ID)
	at := time.Unix(since, 0).In(zone)
	switch y := at.YearDay() == now.In(zone).YearDay() && at.Year() == now.In(zone).Year(); {
	case f.question == bySnooze && since == 0:
		return sentence.New("your_snooze_over")
	case f.question == bySnooze && y:
		return sentence.New("held_snooze_over", at.Format("15:04"))
	case f.question == bySnooze:
		return sentence.New("held_snooze_over_day", person.Clock{Zone: zone, Now: now}.Minute(since))
	case y:
		return sentence.New("held_still_open", at.Format("15:04"))
	}
	return sentence.New("held_still_open_day", person.Clock{Zone: zone, Now: now}.Minute(since))
}

// isAct reports whether an event is a person's act on an incident that answers for all who have acknowledged it. An
// acknowledgement is an act, too, but has consequences of its own.
func isAct(e activity.Event) bool {
	switch e := e.(type) {
	case activity.Assigned:
		return e.How != "escalate"
	case activity.Answered, activity.Commented, activity.TextChanged, activity.SeverityChanged, activity.FieldChanged,
		activity.RespondersAdded, activity.Merged, activity.WarRoomOpened, activity.WarRoomClosed, activity.Snoozed, activity.Woken:
		return true
	}
	return false
}

// acted begins the interval of reminders again after a person's act on an acknowledged incident. The person answers for the
// incident, has assigned it to others, or has snoozed it. An open question needs no answer any more.
func (r *Service) acted(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	f, found, err := findFollowUp(tx, item.Account, i.IncidentID)
	if err != nil || !found || i.Progress != incident.Processing {
		return err
	}
	switch e := item.Event.(type) {
	case activity.Assigned:
		f.again = 0 // the assignees may want reminders
	case activity.Snoozed:
	case activity.Answered:
		f.again = map[string]int64{
			incident.Later: item.At.Unix() + incident.AskAgain, incident.Never: escalationplan.Never,
		}[e.Answer]
	default:
		if !i.AnsweredBy(item.Person) {
			return nil
		}
	}
	ch, _, err := channel.Find(tx, item.Account, i.ChannelID)
	if err != nil {
		return err
	}
	f.close()
	f.reminded = item.At.Unix()
	plan := f.plan(i, ch, escalationplan.Await{})
	f.next = plan.Due(item.At.Unix())
	if err := f.save(tx); err != nil {
		return err
	}
	return r.Notify.Cancel(tx, item.Account, []string{i.IncidentID}, sentence.New("was_answered"), item.At, notify.Reminder)
}

// woken acts on the end of a snooze. The persons who have acknowledged the incident, and the person who snoozed it, are
// asked for an answer. No question is needed if one of these persons ended the snooze. The escalation begins again
// immediately if the snooze ran out and no person has acknowledged the incident.
func (r *Service) woken(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.Woken) error {
	switch {
	case e.Restarts && i.Progress == incident.Triggered:
		return r.wokenAlone(tx, i, item)
	case i.Progress == incident.Processing && !i.AnsweredBy(item.Person):
		f, found, err := findFollowUp(tx, item.Account, i.IncidentID)
		if err == nil && !found {
			err = r.follow(tx, i, i.Severity, 0, item.At)
			if err == nil {
				f, _, err = findFollowUp(tx, item.Account, i.IncidentID)
			}
		}
		if err != nil {
			return err
		}
		f.question = bySnooze
		f.asked = 0
		f.next = item.At.Unix()
		if err := f.save(tx); err != nil {
			return err
		}
		r.wakeFor(tx, item.Account)
	}
	return Recheck(tx, item.Account, item.ID, item.At)
}

// wokenAlone begins the escalation again of an unacknowledged incident whose snooze ended, and notifies the person who
// snoozed it. The person need not act, so the methods for Info are used.
func (r *Service) wokenAlone(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	if err := r.beginAgain(tx, i, item, sentence.New("snooze_over_alone")); err != nil {
		return err
	}
	snoozer := i.Snoozer()
	if snoozer == 0 {
		return nil
	}
	t := draft{cause: notify.Reminder, event: activity.IncidentWake, severity: quiet, late: true}
	t.reason = sentence.New("your_snooze_over_alone")
	t.key = fmt.Sprintf("%s/%s/%d/p%d", i.IncidentID, t.event, item.At.Unix(), snoozer)
	return r.person(tx, i, t, snoozer, item.At)
}

// withdraw withdraws every acknowledgement of an incident, because the open question had no answer.
func (r *Service) withdraw(tx *db.Tx, f *followUp, i *incident.Incident, now time.Time) error {
	writer := incident.Writer{Tx: tx, Bus: r.Bus, Account: f.account, Now: now, Batch: batchOf(tx).incidents}
	return writer.Retract(i, f.question)
}

// unanswered begins the escalation again of an incident whose acknowledgement was withdrawn without an answer.
func (r *Service) unanswered(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.Unacknowledged) error {
	if err := r.Notify.Cancel(tx, item.Account, []string{i.IncidentID}, sentence.New("ack_withdrawn"), item.At, notify.Reminder); err != nil {
		return err
	}
	why := sentence.New("no_answer")
	if e.Unanswered == bySnooze {
		why = sentence.New("no_answer_snooze")
	}
	return r.beginAgain(tx, i, item, why)
}

// beginAgain begins the escalation of an incident again at its first step, because no person works on the incident. The
// persons on call at that moment are notified. If the incident was assigned by hand, its assignees are notified as well.
func (r *Service) beginAgain(tx *db.Tx, i *incident.Incident, item activity.Item, why sentence.Value) error {
	if err := untold.Forget(tx, item.Account, item.ID); err != nil {
		return err
	}
	r.wakeFor(tx, item.Account)
	if to := i.AssignedTo; assignedByHand(i) {
		reason := sentence.New("because", sentence.New("assigned"), why)
		if err := r.notifyPersons(tx, i, item, reason, to.PersonIDs); err != nil {
			return err
		}
		t := draft{cause: notify.Assigned, event: item.Event.Type()}
		prefix := fmt.Sprintf("%s/%s/%d", i.IncidentID, t.event, item.At.UnixMilli())
		if err := r.addresses(tx, i, t, to.Emails, prefix, reason, item.At); err != nil {
			return err
		}
	}
	return r.restartRule(tx, i, item, why)
}
