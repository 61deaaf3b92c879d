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
)

// FollowUp is what the responders of an open incident are still to be notified of.
type FollowUp struct {
	Rose     bool  // the severity is higher than the responders know
	Fresh    bool  // alerts have joined since the last message
	Fallback int64 // when the fallback is notified that no person has acknowledged; 0: it is not
	Joined   int64 // when alerts that joined are notified; 0: none joined
	From     int64 // when the incident was acknowledged or its escalation ended, or its last reminder was sent
	Every    int64 // from one reminder to the next; 0: there are none
}

// Next returns the message that is due at now, at most one, and when to call again unless the incident changes before;
// 0: never. It records the message as sent. No message is due before held, when a silence or a snooze ends: what came
// due meanwhile is one message then. Reminders that were missed are one.
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
	switch {
	case f.Rose:
		m, f.Rose, f.Fresh, f.From = Rise, false, false, now
	case f.Fallback != 0 && f.Fallback <= now: // it goes to others, so the responders' messages follow
		f.Fallback = 0
		return Unanswered, f.after(now)
	case f.Every > 0 && f.From+f.Every <= now:
		m, f.Fresh, f.From = Reminder, false, now
	default:
		m, f.Fresh = Joined, false
	}
	if f.Joined <= now {
		f.Joined = 0
	}
	return m, f.after(now)
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
	if f.Rose {
		return now
	}
	for _, next := range []int64{f.Joined, f.Fallback} {
		if next != 0 && (at == 0 || next < at) {
			at = next
		}
	}
	if remind := f.From + f.Every; f.Every > 0 && (at == 0 || remind < at) {
		at = remind
	}
	return at
}
