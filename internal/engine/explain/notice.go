package explain

import (
	"slices"
	"strings"
	"sync"

	"tocsin/internal/activity"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
)

// Notice is a notification of the incident, sent or not.
type Notice struct {
	NoticeID    string         `json:"notice_id" doc:"The notification."`
	PersonID    int64          `json:"person_id" doc:"The person; 0: a chat or an address."`
	PersonName  string         `json:"person_name,omitzero" doc:"The person's name."`
	Method      string         `json:"way" doc:"The method, such as email."`
	Cause       string         `json:"cause" doc:"page, assign, recovery, acknowledged, fallback, storm, rise, joined, merged or reminder."`
	Reason      sentence.Words `json:"reason" doc:"Why this target was chosen, in words."`
	ReasonData  sentence.Data  `json:"reason_data,omitzero" doc:"The reason as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Status      string         `json:"status" doc:"waiting, sending, sent, failed or cancelled."`
	Attempts    int64          `json:"attempts" doc:"How often it was tried."`
	CreatedAt   int64          `json:"created_at" doc:"When it was stored, Unix milliseconds."`
	DueAt       int64          `json:"due_at" doc:"When it is or was to be sent, Unix milliseconds."`
	SettledAt   int64          `json:"settled_at" doc:"When it was sent, failed or was cancelled; 0: not yet."`
	Outcome     sentence.Words `json:"outcome" doc:"The answer of the service, why it failed, or why it was cancelled; of one that waits what the last attempt said."`
	OutcomeData sentence.Data  `json:"outcome_data,omitzero" doc:"The outcome as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Delivery    string         `json:"delivery,omitzero" doc:"What the telephone service reported last, such as delivered or no answer; absent: nothing."`

	stored notify.Notification
}

// nouns name a notification by its cause. One of an escalation that is not repeated, and any other, is a notification.
var nouns = sync.OnceValue(func() map[string]sentence.Value {
	return map[string]sentence.Value{
		notify.Recovery: sentence.New("n_over"),
		notify.Acked:    sentence.New("n_ack"),
		notify.Storm:    sentence.New("n_storm"),
		notify.Rise:     sentence.New("n_rise"),
		notify.Joined:   sentence.New("n_joined"),
		notify.Merged:   sentence.New("n_merged"),
		notify.Reminder: sentence.New("n_reminder"),
	}
})

// noun names a notification.
func (n *Notice) noun() sentence.Value {
	switch {
	case n.stored.Event == activity.IncidentFlapping:
		return sentence.New("n_again")
	case n.stored.Event == activity.IncidentSeverity:
		return nouns()[notify.Rise]
	case n.stored.Event == activity.IncidentMerge:
		return nouns()[notify.Merged]
	case n.stored.Event == activity.IncidentWake && n.Cause == notify.Reminder:
		return sentence.New("n_woken")
	case nouns()[n.Cause] != "":
		return nouns()[n.Cause]
	case n.stored.Detail.Repeat > 0:
		return sentence.New("n_repeated")
	}
	return sentence.New("n_plain")
}

// describeNotice returns the sentences about a notification; who caused its end.
func (x *Explanation) describeNotice(s *Story, n *Notice, who sentence.Value) []sentence.Value {
	reason := n.stored.Reason
	if parts := sentence.Split(reason); n.SettledAt != 0 && len(parts) > 0 && parts[len(parts)-1].Is("waits_quiet") {
		parts[len(parts)-1] = sentence.New("waited_quiet")
		reason = sentence.Join(parts...)
	}
	text := []sentence.Value{sentence.New("n_message", n.noun(), n.target(), reason, notify.MethodName(n.Method), x.stands(n, who))}
	if n.Status == notify.Waiting && n.Attempts > 0 && n.stored.Outcome != "" && !x.held {
		text = append(text, sentence.New("said", n.stored.Outcome))
	}
	if n.Delivery != "" && n.Status == notify.Sent {
		text = append(text, sentence.New("telephone", n.Delivery))
	}
	text = append(text, n.instead(s))
	if n.SettledAt-n.CreatedAt > 60_000 {
		text = append(text, sentence.New("stored_at", x.clock.Minute(n.CreatedAt/1000)))
	}
	if n.Attempts > 1 && n.SettledAt != 0 {
		text = append(text, sentence.New("attempts", n.Attempts))
	}
	return text
}

// stands returns how a notification stands; who caused its end.
func (x *Explanation) stands(n *Notice, who sentence.Value) sentence.Value {
	outcome := n.stored.Outcome
	if who != "" && outcome.Is("was_acknowledged") {
		outcome = sentence.New("was_acknowledged_by", who)
	}
	switch {
	case n.Status == notify.Waiting:
		return x.waits(n)
	case n.Status == notify.Sent && n.bundle() != "":
		return sentence.New("st_sent_bundle", n.bundle())
	case outcome == "" || n.Status == notify.Sent:
		return n.status()
	case n.Status == notify.Failed:
		return sentence.New("st_failed_why", outcome)
	case n.Status == notify.Cancelled:
		return sentence.New("st_cancelled_why", outcome)
	}
	return sentence.New("st_sending_why", outcome)
}

// status names the status of a notification.
func (n *Notice) status() sentence.Value {
	switch n.Status {
	case notify.Sent:
		return sentence.New("st_sent")
	case notify.Sending:
		return sentence.New("st_sending")
	case notify.Failed:
		return sentence.New("st_failed")
	case notify.Cancelled:
		return sentence.New("st_cancelled")
	}
	return sentence.New("st_waiting")
}

// bundle returns in which bundle a notification was sent; empty: in none.
func (n *Notice) bundle() sentence.Value {
	parts := sentence.Split(n.stored.Outcome)
	if len(parts) == 0 || !parts[0].Is("in_bundle") {
		return ""
	}
	return parts[0]
}

// instead returns the sentence about the methods that were tried instead of one that failed; empty: none.
func (n *Notice) instead(s *Story) sentence.Value {
	prefix, named := strings.CutSuffix(n.stored.Key, "/"+n.Method)
	if n.Status != notify.Failed || n.PersonID == 0 || !named || n.Method == "none" {
		return ""
	}
	refused := notify.RefusedReason(n.stored.Reason, n.Method)
	var methods []string
	left := false // another method may reach the person, or did
	for i := range s.Notices {
		other := &s.Notices[i]
		if other.stored.Key != prefix+"/"+other.Method {
			continue
		}
		left = left || other.Status != notify.Failed
		if other.stored.Reason == refused || other.stored.Reason == sentence.Join(refused, sentence.New("waits_quiet")) {
			methods = append(methods, notify.MethodName(other.Method))
		}
	}
	slices.Sort(methods)
	methods = slices.Compact(methods)
	switch {
	case len(methods) > 0:
		return sentence.New("instead", methods)
	case left:
		return ""
	case n.Cause == notify.Page && n.stored.Detail.Run != 0:
		return sentence.New("none_left_absent", n.target(), n.target())
	}
	return sentence.New("none_left", n.target())
}

// cancelledBy returns whose acknowledgement cancelled a notification, in whose transaction it was; empty: no person's.
func (x *Explanation) cancelledBy(n *Notice, acknowledged []activity.Entry) (sentence.Value, error) {
	for _, e := range acknowledged {
		if n.Status == notify.Cancelled && e.CreatedAt == n.SettledAt && e.Person != 0 {
			return x.personName(e.Person)
		}
	}
	return "", nil
}

// waits returns until when a notification waits, and why.
func (x *Explanation) waits(n *Notice) sentence.Value {
	switch {
	case x.held:
		return sentence.New("st_held")
	case n.Attempts == 0 && n.stored.Outcome != "": // it was not tried: it waits for the budget
		return sentence.New("st_until_budget", x.clock.Second(n.DueAt/1000), n.stored.Outcome)
	case n.Attempts == 0:
		return sentence.New("st_until", x.clock.Minute(n.DueAt/1000))
	}
	return sentence.New("st_attempt", x.clock.Second(n.DueAt/1000), n.Attempts+1)
}

// target names the target of a notification.
func (n *Notice) target() sentence.Value {
	switch {
	case n.PersonName != "":
		return sentence.Raw(n.PersonName)
	case n.PersonID != 0:
		return sentence.New("person_left", n.PersonID)
	}
	return sentence.New("chat_or_address")
}
