package explain

import (
	"cmp"
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
)

// summarise returns the summary: who was notified, or why no person was.
func (x *Explanation) summarise() sentence.Value {
	if text := cmp.Or(x.notified(), x.unreached()); text != "" {
		return text
	}
	for i := range slices.Backward(x.Incidents) {
		if text := x.withoutNotice(&x.Incidents[i]); text != "" {
			return text
		}
	}
	return sentence.Paragraph(x.fromVerdict()...)
}

// stories returns the parts of an explanation with notifications: the incidents, and the events that no channel accepts.
func (x *Explanation) stories() []Story {
	return append(x.Incidents[:len(x.Incidents):len(x.Incidents)], Story{Notices: x.Fallback})
}

// notified returns the sentence about the targets that a notification reached; empty: none did.
func (x *Explanation) notified() sentence.Value {
	var names []sentence.Value
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
		names = append(names[:maxNamed], sentence.New("more_persons", more))
	}
	if others > 0 {
		names = append(names, sentence.New("chats_or_addresses"))
	}
	if len(names) == 0 {
		return ""
	}
	return sentence.Paragraph(sentence.New("s_notified", names))
}

// unreached returns the sentences about the last notification, of which none was sent; empty: there is none.
func (x *Explanation) unreached() (text sentence.Value) {
	for _, s := range x.stories() {
		for i := range s.Notices {
			if n := &s.Notices[i]; n.Cause != notify.Recovery && n.Cause != notify.Acked {
				text = sentence.Paragraph(x.whyUnreached(n)...)
			}
		}
	}
	return text
}

// whyUnreached returns the sentences about a notification that was not sent.
func (x *Explanation) whyUnreached(n *Notice) []sentence.Value {
	target, method := n.target(), notify.MethodName(n.Method)
	outcome, until := n.stored.Outcome, x.clock.Minute(n.DueAt/1000)
	switch {
	case n.Status == notify.Waiting && x.held:
		return []sentence.Value{sentence.New("s_held")}
	case n.Status == notify.Waiting && n.Attempts == 0 && outcome.Is("waits_call"):
		return []sentence.Value{sentence.New("s_until_budget", target, method, until), sentence.New("it_waits_call", outcome.Data().Args[0])}
	case n.Status == notify.Waiting && n.Attempts == 0 && outcome.Is("waits_budget"):
		return []sentence.Value{sentence.New("s_until_budget", target, method, until), sentence.New("it_waits_budget", outcome.Data().Args[0])}
	case n.Status == notify.Waiting && n.Attempts == 0:
		return []sentence.Value{sentence.New("s_until", target, method, until, n.stored.Reason)}
	case n.Status == notify.Waiting:
		return []sentence.Value{sentence.New("s_attempt", target, method, n.Attempts+1), sentence.New("s_last_said", outcome)}
	case n.Status == notify.Sending:
		return []sentence.Value{sentence.New("s_sending", target, method)}
	}
	return []sentence.Value{sentence.New("s_unreached", target, method, n.status()), sentence.New("reason", outcome)}
}

// withoutNotice returns why an incident has no notification; empty: that is not known.
func (x *Explanation) withoutNotice(s *Story) sentence.Value {
	var reason sentence.Value
	for _, e := range s.feed {
		switch event := e.Event.(type) {
		case activity.Exhausted:
			if !event.Unanswered {
				reason = event.Reason
			}
		case activity.Notified:
			if event.By == "nobody" && event.Reason != "" {
				reason = event.Reason
			}
		case activity.Reopened, activity.Unacknowledged:
			reason = ""
		}
	}
	switch {
	case s.Next != nil && reason != "":
		return sentence.Paragraph(sentence.New("s_not_yet", reason), x.next(s))
	case s.Next != nil:
		return sentence.Paragraph(sentence.New("s_not_yet_plain"), x.next(s))
	case reason != "" && s.Progress == incident.Triggered:
		return sentence.Paragraph(sentence.New("s_nobody", reason), sentence.New("s_fallback_next"))
	case reason != "":
	case s.progress != nil && s.progress.Ended == "acknowledged":
		reason = sentence.New("acked_before")
	case s.incident.MergedInto != "":
		reason = sentence.New("ended_before_merged")
	case s.Progress == incident.Closed:
		reason = sentence.New("ended_before")
	default:
		return ""
	}
	return sentence.Paragraph(sentence.New("s_nobody", reason))
}

// fromVerdict returns why no notification followed from the last verdict.
func (x *Explanation) fromVerdict() []sentence.Value {
	var last decide.Outcome
	if n := len(x.Verdicts); n > 0 {
		last = decide.Outcome(x.Verdicts[n-1].Outcome)
	}
	switch {
	case last == decide.Unrouted:
		return []sentence.Value{sentence.New("s_no_rule", sentence.New("no_channel")), sentence.New("s_fallback")}
	case x.Waiting:
		return []sentence.Value{sentence.New("s_not_yet", sentence.New("waits_verdict"))}
	case x.silent != "":
		return []sentence.Value{sentence.New("s_nobody", x.silent)}
	case last == "":
		return []sentence.Value{sentence.New("s_no_record")}
	case last == decide.Opened || last == decide.Grouped:
		return []sentence.Value{sentence.New("s_not_yet_plain")}
	}
	return []sentence.Value{sentence.New("s_nobody", x.whyNobody(last))}
}

// whyNobody returns why no person was notified after a verdict with an outcome.
func (x *Explanation) whyNobody(o decide.Outcome) sentence.Value {
	switch o {
	case decide.Discarded:
		return sentence.New("pipeline_dropped")
	case decide.Dropped:
		return sentence.New("event_was_dropped")
	case decide.Recovered:
		return sentence.New("alert_ended")
	case decide.Unmatched:
		return sentence.New("none_to_end")
	case decide.Failed:
		return sentence.New("undecided")
	case decide.Repeated:
		return cmp.Or(x.mute, sentence.New("event_changed_nothing"))
	case decide.Disabled:
		return sentence.New("its_channel_disabled")
	case decide.Flapping:
		return sentence.New("changes_often")
	}
	return sentence.New("event_was", o.Words())
}
