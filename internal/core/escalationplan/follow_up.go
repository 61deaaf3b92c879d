package escalationplan

// Message is what the responders of an incident are notified of beside the steps of a plan.
type Message string

// The messages. A rise and a reminder show all alerts of the incident, so alerts that joined need no message of their own.
const (
	None       Message = ""
	Rise       Message = "rise"       // the severity is higher than the responders know
	Unanswered Message = "unanswered" // to the fallback: no person has acknowledged the incident
	Joined     Message = "joined"     // alerts have joined since the last message
	Reminder   Message = "reminder"   // the incident is still open
	Woken      Message = "woken"      // the snooze is over
	Withdrawn  Message = "withdrawn"  // no answer came: the acknowledgement is withdrawn
	Unreached  Message = "unreached"  // to the fallback: the question reached no person who has acknowledged the incident
)

// Never is the value of Again when no reminder is wanted any more.
const Never = -1

// WokenWait is for how long the message about the end of a snooze awaits an answer.
const WokenWait = 10 * 60

// FollowUp is what the responders of an open incident are still to be notified of.
type FollowUp struct {
	Rose     bool  // the severity is higher than the responders know
	Fresh    bool  // alerts have joined since the last message
	Fallback int64 // when the fallback is notified that no person has acknowledged; 0: it is not
	Joined   int64 // when alerts that joined are notified; 0: none joined
	From     int64 // when the incident was acknowledged or its escalation ended, or its last reminder was sent
	Every    int64 // from one reminder to the next; 0: there are none
	Again    int64 // no reminder before this time, because a responder asked for that; Never: none at all
	Woke     bool  // a snooze has ended, and its message is still to be sent
	Asks     int64 // for how long a reminder awaits an answer; 0: reminders ask nothing
	Await    Await // the question that awaits an answer
}

// Await is a question that awaits an answer. Reminders and the message about the end of a snooze ask a question.
type Await struct {
	Open      bool
	Until     int64 // when the wait ends, as far as it is known
	Withdraws bool  // without an answer the acknowledgement is withdrawn
	Reached   bool  // the question reached a person
}

// Next returns the message that is due at now, at most one. next is when to call again unless the incident changes before;
// 0: never. Next records the message as sent, and a question as open. No message is due before held, when a silence or a
// snooze ends. Messages that came due meanwhile are one message then. Missed reminders are one reminder, and an open
// question holds back reminders.
func (f *FollowUp) Next(held, now int64) (m Message, next int64) {
	if f.Joined != 0 && f.Joined <= now && !f.Fresh {
		f.Joined = 0
	}
	if due := f.Due(now); due == 0 || max(due, held) > now {
		if due != 0 {
			due = max(due, held)
		}
		return None, due
	}
	over := f.Await.Open && f.Await.Until <= now
	remind := f.reminder()
	switch {
	case f.Rose:
		m = Rise
		f.Rose = false
		f.shown(now)
	case over && f.Await.Withdraws:
		f.Await = Await{}
		return Withdrawn, 0
	case over:
		reached := f.Await.Reached
		f.Await = Await{}
		if !reached { // this message goes to the fallback, so the responders' messages follow
			return Unreached, f.after(now)
		}
		return f.Next(held, now)
	case f.Fallback != 0 && f.Fallback <= now: // this message goes to the fallback, too
		f.Fallback = 0
		return Unanswered, f.after(now)
	case f.Woke:
		m = Woken
		f.Woke = false
		f.Await = Await{Open: true, Until: now + WokenWait}
		f.shown(now)
	case remind != 0 && remind <= now:
		m = Reminder
		f.Await = Await{Open: f.Asks > 0, Until: now + f.Asks}
		f.shown(now)
	default:
		m = Joined
		f.Fresh = false
	}
	if f.Joined <= now {
		f.Joined = 0
	}
	return m, f.after(now)
}

// shown notes that a message at now shows all alerts, and that the interval of reminders begins again.
func (f *FollowUp) shown(now int64) {
	f.Fresh = false
	f.From = now
}

// after returns when to call again after a message at now; 0: never. Only one message is sent in a second.
func (f *FollowUp) after(now int64) int64 {
	if due := f.Due(now); due != 0 {
		return max(due, now+1)
	}
	return 0
}

// Due returns when the first message is due; 0: none is.
func (f *FollowUp) Due(now int64) (at int64) {
	if f.Rose || f.Woke {
		return now
	}
	all := []int64{f.Joined, f.Fallback, f.reminder()}
	if f.Await.Open {
		all = append(all, f.Await.Until)
	}
	for _, next := range all {
		if next != 0 && (at == 0 || next < at) {
			at = next
		}
	}
	return at
}

// reminder returns when the next reminder is due; 0: no reminder.
func (f *FollowUp) reminder() int64 {
	if f.Every == 0 || f.Again == Never || f.Await.Open {
		return 0
	}
	return max(f.From+f.Every, f.Again)
}

// Delivery is the outcome of one message of a question.
type Delivery struct {
	Person int64
	Sent   bool  // the person was reached
	Open   bool  // the message is still to be sent
	At     int64 // when the message was sent or failed for good; of an open message, when it is due
}

// AnswerBy returns until when the answer to a question is awaited that was asked at a moment. The answer has wait seconds
// after the question reached the last of its persons. If no person was reached, the wait begins with the last attempt;
// without any attempt, with asked. While a person may still be reached first, ended is false, and until is when to check
// again.
func AnswerBy(asked, wait, now int64, all []Delivery) (until int64, reached, ended bool) {
	first := map[int64]int64{}
	last := asked
	open := int64(0)
	for _, d := range all {
		switch {
		case d.Open:
			if open == 0 || d.At < open {
				open = d.At
			}
		case d.Sent:
			if at, known := first[d.Person]; !known || d.At < at {
				first[d.Person] = d.At
			}
		default:
			last = max(last, d.At)
		}
	}
	if len(first) > 0 {
		until = asked
		for _, at := range first {
			until = max(until, at)
		}
		return until + wait, true, true
	}
	if open > 0 {
		return max(open, now+recheck), false, false
	}
	return last + wait, false, true
}

// recheck is after how many seconds an open question is checked again while its messages are still to be sent. The interval
// is shorter than any wait, so that no end of a wait is missed.
const recheck = 30
