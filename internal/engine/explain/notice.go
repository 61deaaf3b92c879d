package explain

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"tocsin/internal/activity"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
)

// Notice is a notification of the incident, sent or not.
type Notice struct {
	NoticeID    string        `json:"notice_id" doc:"The notification."`
	PersonID    int64         `json:"person_id" doc:"The person; 0: a chat or an address."`
	PersonName  string        `json:"person_name,omitzero" doc:"The person's name."`
	Method      string        `json:"way" doc:"The method, such as email."`
	Cause       string        `json:"cause" doc:"page, assign, recovery, acknowledged, fallback, storm, rise, joined, merged or reminder."`
	Reason      string        `json:"reason" doc:"Why this target was chosen, in words."`
	ReasonData  sentence.Data `json:"reason_data,omitzero" doc:"The reason as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Status      string        `json:"status" doc:"waiting, sending, sent, failed or cancelled."`
	Attempts    int64         `json:"attempts" doc:"How often it was tried."`
	CreatedAt   int64         `json:"created_at" doc:"When it was stored, Unix milliseconds."`
	DueAt       int64         `json:"due_at" doc:"When it is or was to be sent, Unix milliseconds."`
	SettledAt   int64         `json:"settled_at" doc:"When it was sent, failed or was cancelled; 0: not yet."`
	Outcome     string        `json:"outcome" doc:"The answer of the service, why it failed, or why it was cancelled; of one that waits what the last attempt said."`
	OutcomeData sentence.Data `json:"outcome_data,omitzero" doc:"The outcome as data, see docs/sentences.md; absent: it is no sentence of the table."`
	Delivery    string        `json:"delivery,omitzero" doc:"What the telephone service reported last, such as delivered or no answer; absent: nothing."`

	stored notify.Notification
}

// nouns name a notification by its cause. One of an escalation that is not repeated, and any other, is a notification.
var nouns = sync.OnceValue(func() map[string]string {
	return map[string]string{
		notify.Recovery: sentence.Of("n_over"),
		notify.Acked:    sentence.Of("n_ack"),
		notify.Storm:    sentence.Of("n_storm"),
		notify.Rise:     sentence.Of("n_rise"),
		notify.Joined:   sentence.Of("n_joined"),
		notify.Merged:   sentence.Of("n_merged"),
		notify.Reminder: "Reminder",
	}
})

// noun names a notification.
func (n *Notice) noun() string {
	switch {
	case n.stored.Event == activity.IncidentFlapping:
		return sentence.Of("n_again")
	case n.stored.Event == activity.IncidentSeverity:
		return nouns()[notify.Rise]
	case n.stored.Event == activity.IncidentMerge:
		return nouns()[notify.Merged]
	case n.stored.Event == activity.IncidentWake && n.Cause == notify.Reminder:
		return sentence.Of("n_woken")
	case nouns()[n.Cause] != "":
		return nouns()[n.Cause]
	case n.stored.Detail.Repeat > 0:
		return sentence.Of("n_repeated")
	}
	return "Notification"
}

// describeNotice returns the sentences about a notification; by is who caused its end.
func (x *Explanation) describeNotice(s *Story, n *Notice, by string) string {
	reason := n.Reason
	if parts := sentence.Split(n.stored.Reason); n.SettledAt != 0 && len(parts) > 0 && parts[len(parts)-1].Is("waits_quiet") {
		parts[len(parts)-1] = sentence.New("waited_quiet")
		reason = sentence.Join(parts...).English()
	}
	text := fmt.Sprintf("%s to %s (%s) over %s: ", n.noun(), n.target(), reason, notify.MethodName(n.Method))
	switch {
	case n.Status == notify.Waiting:
		text += x.waits(n)
	case n.Status == notify.Sent && n.bundle() != "":
		text += n.Status + " " + n.bundle().English()
	case n.Outcome == "" || n.Status == notify.Sent:
		text += n.Status
	default:
		text += n.Status + ", " + n.Outcome
	}
	if n.Delivery != "" && n.Status == notify.Sent {
		text += ". The telephone service reports: " + n.Delivery
	}
	text = ended(text+by) + n.instead(s)
	if n.SettledAt-n.CreatedAt > 60_000 {
		text += " It was stored at " + x.clock.Minute(n.CreatedAt/1000) + "."
	}
	if n.Attempts > 1 && n.SettledAt != 0 {
		text += fmt.Sprintf(" It took %d attempts.", n.Attempts)
	}
	return text
}

// bundle returns in which bundle a notification was sent; empty: in none.
func (n *Notice) bundle() sentence.Value {
	parts := sentence.Split(n.stored.Outcome)
	if len(parts) == 0 || !parts[0].Is("in_bundle") {
		return ""
	}
	return parts[0]
}

// instead returns the sentence about the methods that were tried instead of one that failed.
func (n *Notice) instead(s *Story) string {
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
		return " So it was tried over " + and(methods) + " instead."
	case left:
		return ""
	case n.Cause == notify.Page && n.stored.Detail.Run != 0:
		return fmt.Sprintf(" No other method of %s is left, so %[1]s counts as absent.", n.target())
	}
	return fmt.Sprintf(" No other method of %s is left.", n.target())
}

// cancelledBy returns whose acknowledgement cancelled a notification, as the end of a sentence: it was cancelled in the
// transaction of the acknowledgement.
func (x *Explanation) cancelledBy(n *Notice, acknowledged []activity.Entry) (string, error) {
	for _, e := range acknowledged {
		if n.Status == notify.Cancelled && e.CreatedAt == n.SettledAt && e.Person != 0 {
			name, err := x.personName(e.Person)
			return " by " + name, err
		}
	}
	return "", nil
}

// waits returns until when a notification waits, and why.
func (x *Explanation) waits(n *Notice) string {
	switch {
	case x.held:
		return sentence.Of("st_held")
	case n.Attempts == 0 && n.Outcome != "": // it was not tried: it waits for the budget
		return "waiting until " + x.clock.Second(n.DueAt/1000) + ": it " + n.Outcome
	case n.Attempts == 0:
		return "waiting until " + x.clock.Minute(n.DueAt/1000)
	}
	text := sentence.Of("st_attempt", x.clock.Second(n.DueAt/1000), n.Attempts+1)
	if n.Outcome != "" {
		text += ". The last attempt said: " + n.Outcome
	}
	return text
}

// target names the target of a notification.
func (n *Notice) target() string {
	switch {
	case n.PersonName != "":
		return n.PersonName
	case n.PersonID != 0:
		return sentence.Of("person_left", n.PersonID)
	}
	return sentence.Of("chat_or_address")
}
