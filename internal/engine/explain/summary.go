package explain

import (
	"fmt"
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
)

// summarise sets the summary: who was notified, or why no person was.
func (x *Explanation) summarise() {
	if text := x.notified(); text != "" {
		x.Summary = text
		return
	}
	if text := x.unreached(); text != "" {
		x.Summary = text
		return
	}
	for i := range slices.Backward(x.Incidents) {
		if text := x.withoutNotice(&x.Incidents[i]); text != "" {
			x.Summary = text
			return
		}
	}
	if n := len(x.Verdicts); n > 0 && decide.Outcome(x.Verdicts[n-1].Outcome) == decide.Unrouted {
		x.Summary = "No rule notified a person: no channel accepts the event. The account's fallback is notified of it."
		return
	}
	x.Summary = "Nobody was notified" + x.fromVerdict()
}

// stories returns the parts of an explanation with notifications: the incidents, and the events that no channel accepts.
func (x *Explanation) stories() []Story {
	return append(x.Incidents[:len(x.Incidents):len(x.Incidents)], Story{Notices: x.Fallback})
}

// notified returns the sentence about the targets that a notification reached; empty: none did.
func (x *Explanation) notified() string {
	var names []string
	others := 0
	for _, s := range x.stories() {
		for _, n := range s.Notices {
			switch {
			case n.Status != notify.Sent || n.Cause == notify.Recovery || n.Cause == notify.Acked:
			case n.PersonID == 0:
				others++
			case !slices.Contains(names, n.target()):
				names = append(names, n.target())
			}
		}
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], sentence.Of("more_persons", more))
	}
	if others > 0 {
		names = append(names, sentence.Of("chats_or_addresses"))
	}
	if len(names) == 0 {
		return ""
	}
	return "Notified: " + and(names) + "."
}

// unreached returns the sentence about the last notification, of which none was sent; empty: there is none.
func (x *Explanation) unreached() string {
	text := ""
	for _, s := range x.stories() {
		for i := range s.Notices {
			n := &s.Notices[i]
			who := fmt.Sprintf("%s over %s", n.target(), notify.MethodName(n.Method))
			switch {
			case n.Cause == notify.Recovery || n.Cause == notify.Acked:
			case n.Status == notify.Waiting && x.held:
				text = sentence.Of("s_held") + "."
			case n.Status == notify.Waiting && n.Attempts == 0 && n.Outcome != "": // it waits for the budget
				text = fmt.Sprintf("Nobody was reached yet: %s waits until %s. It %s", who, x.clock.Minute(n.DueAt/1000), ended(n.Outcome))
			case n.Status == notify.Waiting && n.Attempts == 0:
				text = fmt.Sprintf("Nobody was reached yet: %s waits until %s (%s).", who, x.clock.Minute(n.DueAt/1000), n.Reason)
			case n.Status == notify.Waiting:
				text = fmt.Sprintf("Nobody was reached yet: %s waits for attempt %d. The last one said: %s", who, n.Attempts+1, ended(n.Outcome))
			case n.Status == notify.Sending:
				text = fmt.Sprintf("Nobody was reached yet: %s is being sent.", who)
			default:
				text = fmt.Sprintf("Nobody was reached: %s was %s. The reason: %s", who, n.Status, ended(n.Outcome))
			}
		}
	}
	return text
}

// withoutNotice returns why an incident has no notification; empty: that is not known.
func (x *Explanation) withoutNotice(s *Story) string {
	reason := ""
	for _, e := range s.feed {
		switch event := e.Event.(type) {
		case activity.Exhausted:
			if !event.Unanswered {
				reason = event.Reason.English()
			}
		case activity.Notified:
			if event.By == "nobody" && event.Reason != "" {
				reason = event.Reason.English()
			}
		case activity.Reopened, activity.Unacknowledged:
			reason = ""
		}
	}
	switch {
	case s.Next != nil && reason != "":
		return "Nobody was notified yet: " + ended(reason) + " " + x.next(s)
	case s.Next != nil:
		return "Nobody was notified yet. " + x.next(s)
	case reason != "":
		return "Nobody was notified: " + ended(reason) + x.fallbackOf(s)
	case s.progress != nil && s.progress.Ended == "acknowledged":
		return "Nobody was notified: the incident was acknowledged before the first step."
	case s.incident.MergedInto != "":
		return "Nobody was notified: the incident was merged into another before the first step."
	case s.Progress == incident.Closed:
		return "Nobody was notified: the incident ended before the first step."
	}
	return ""
}

// fallbackOf returns that the fallback will be notified of an incident that no rule notified a person of.
func (x *Explanation) fallbackOf(s *Story) string {
	if s.Progress != incident.Triggered {
		return ""
	}
	return " The account's fallback is notified with its next message."
}

// fromVerdict returns why no notification followed from the last verdict, as the end of a sentence.
func (x *Explanation) fromVerdict() string {
	switch {
	case x.Waiting:
		return " yet: the event waits for its verdict."
	case x.silent != "":
		return ": " + x.silent + "."
	case len(x.Verdicts) == 0:
		return ", as far as there is a record."
	}
	last := x.Verdicts[len(x.Verdicts)-1]
	switch o := decide.Outcome(last.Outcome); o {
	case decide.Discarded:
		return ": its integration's pipeline dropped the event."
	case decide.Recovered:
		return ": the alert ended."
	case decide.Unmatched:
		return ": there was no open alert to end."
	case decide.Failed:
		return ": the event could not be decided."
	case decide.Repeated:
		if x.mute != "" {
			return ": " + x.mute + "."
		}
		return ": the event changed nothing."
	case decide.Disabled:
		return ": its channel is disabled."
	case decide.Flapping:
		return ": the alert changes too often."
	case decide.Opened, decide.Grouped:
		return " yet."
	default:
		return fmt.Sprintf(": the event was %s.", o)
	}
}
