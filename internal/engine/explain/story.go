package explain

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/fault"
)

// Story is the history of an incident.
type Story struct {
	IncidentID string   `json:"incident_id" doc:"The incident."`
	Title      string   `json:"title" doc:"What messages call it now."`
	Progress   string   `json:"progress" doc:"Its present progress; empty: it was removed."`
	Notices    []Notice `json:"notices" doc:"Its notifications, sent or not."`
	Next       *Next    `json:"next,omitempty" doc:"The next step of its escalation; absent: none is planned."`

	feed     []activity.Entry
	more     int64 // entries of the feed that are not in feed
	progress *escalation.Progress
	message  escalation.Message // the next message that is no step; zero: none is planned
	incident incident.Incident
}

// Next is the next step of an escalation.
type Next struct {
	At       int64    `json:"at" doc:"When its targets are notified, if nothing happens before, Unix seconds."`
	LayerIdx int64    `json:"layer_idx" doc:"The layer of the rule, from 0."`
	Repeat   int64    `json:"repeat" doc:"How often the layer was notified before."`
	Who      []string `json:"who" doc:"Its targets by name."`
}

// maxFeed is how many entries of a feed are explained.
const maxFeed = 500

// story adds an incident with its feed, its notifications and its next step, if the caller may read it.
func (x *Explanation) story(id string) error {
	if id == "" || slices.ContainsFunc(x.Incidents, func(s Story) bool { return s.IncidentID == id }) {
		return nil
	}
	tx, account := x.c.Tx, x.c.Who.AccountID
	i, found, err := incident.Find(tx, account, id)
	if err != nil {
		return err
	}
	s := Story{IncidentID: id, Notices: []Notice{}, incident: i}
	if found {
		switch err := readable(x.c, i.ChannelID, 0); {
		case fault.KindOf(err) == fault.AccessDenied: // its alert was merged into one of a private channel
			return nil
		case err != nil:
			return err
		}
		s.Title, err = i.NameNow(tx)
		if err != nil {
			return err
		}
		s.Progress = i.Progress
		s.progress, err = escalation.ProgressOf(tx, &i, x.c.Unix())
		if err != nil {
			return err
		}
	}
	var total int64
	s.feed, total, err = activity.Feed(tx, activity.Query{Account: account, Ref: id, OldestFirst: true, Limit: maxFeed})
	if err != nil {
		return err
	}
	s.more = total - int64(len(s.feed))
	notices, err := notify.OfIncident(tx, account, id)
	if err != nil {
		return err
	}
	s.Notices, err = x.shown(notices)
	if err != nil {
		return err
	}
	if found {
		s.message, err = escalation.NextMessage(tx, &i, x.c.Unix())
		if err != nil {
			return err
		}
	}
	if p := s.progress; p != nil && p.Next != nil && s.Progress != incident.Closed {
		s.Next = &Next{p.Next.At, int64(p.Next.Number - 1), int64(p.Next.Repeat), p.Next.Who}
	}
	x.Incidents = append(x.Incidents, s)
	return nil
}

// shown returns notifications as an explanation shows them.
func (x *Explanation) shown(notices []notify.Notification) ([]Notice, error) {
	all := []Notice{}
	for _, n := range notices {
		one := Notice{
			NoticeID: n.ID, PersonID: n.Person, Method: n.Method, Cause: n.Cause, Reason: n.Reason.English(), ReasonData: n.Reason.Data(), Status: n.Status, Attempts: n.Attempts,
			CreatedAt: n.Created, DueAt: n.Due, SettledAt: n.Settled, Outcome: n.Outcome.English(), OutcomeData: n.Outcome.Data(), Delivery: n.Delivery, stored: n,
		}
		if n.Person != 0 {
			p, _, err := notify.Find(x.c.Tx, x.c.Who.AccountID, n.Person)
			if err != nil {
				return nil, err
			}
			one.PersonName = p.Name
		}
		all = append(all, one)
	}
	return all, nil
}

// fallback adds the notifications to the account's fallback about an event that no channel accepts.
func (x *Explanation) fallback() error {
	for _, v := range x.Verdicts {
		if decide.Outcome(v.Outcome) != decide.Unrouted {
			continue
		}
		notices, err := untold.Notified(x.c.Tx, x.c.Who.AccountID, v.source, v.AlertKey)
		if err != nil {
			return err
		}
		x.Fallback, err = x.shown(notices)
		if err != nil {
			return err
		}
		for i := range x.Fallback {
			n := &x.Fallback[i]
			x.add(max(n.CreatedAt, n.SettledAt), ofNotice, x.describeNotice(&Story{Notices: x.Fallback}, n, ""))
		}
	}
	return nil
}

// named names an incident: its title before its number.
func (s *Story) named() string {
	return fmt.Sprintf("%.100q (%s)", s.Title, incident.Num(s.IncidentID))
}

// describeStory adds the sentences about an incident. A notification that was sent or failed is described in its place in
// the feed; one that waits or was cancelled has none.
func (x *Explanation) describeStory(s *Story) error {
	notices := map[string]*Notice{}
	for i := range s.Notices {
		notices[s.Notices[i].NoticeID] = &s.Notices[i]
	}
	var acknowledged []activity.Entry
	for _, e := range s.feed {
		if _, ok := e.Event.(activity.Acknowledged); ok {
			acknowledged = append(acknowledged, e)
		}
	}
	st := state{}
	for _, e := range s.feed {
		before := st
		st.apply(e)
		if sent, ok := e.Event.(activity.Notified); ok && notices[sent.RID] != nil {
			x.addOf(s, e.CreatedAt, ofFeed, x.describeNotice(s, notices[sent.RID], ""))
			delete(notices, sent.RID)
			continue
		}
		text, err := x.sentence(e, s.IncidentID)
		if err != nil {
			return err
		}
		if n := len(acknowledged); n > 0 && e.ID == acknowledged[n-1].ID {
			if err := x.cancelledSteps(&text, s, e); err != nil {
				return err
			}
		}
		if text != "" {
			x.addOf(s, e.CreatedAt, ofFeed, text+x.follows(s, e, &before))
		}
	}
	if s.more > 0 {
		x.nowf("%d later entries of the feed of incident %s are left out.", s.more, s.named())
	}
	for i := range s.Notices {
		n := &s.Notices[i]
		if notices[n.NoticeID] == nil {
			continue
		}
		by, err := x.cancelledBy(n, acknowledged)
		if err != nil {
			return err
		}
		x.addOf(s, max(n.CreatedAt, n.SettledAt), ofNotice, x.describeNotice(s, n, by))
	}
	x.describeNow(s)
	return nil
}

// cancelledSteps adds which steps of the escalation an acknowledgement cancelled.
func (x *Explanation) cancelledSteps(text *string, s *Story, e activity.Entry) error {
	if s.progress == nil || s.progress.Ended != "acknowledged" || len(s.progress.Left) == 0 {
		return nil
	}
	by := "this acknowledgement"
	if e.Person != 0 {
		name, err := x.personName(e.Person)
		if err != nil {
			return err
		}
		by = name + "'s acknowledgement"
	}
	var steps []string
	for _, step := range s.progress.Left {
		steps = append(steps, stepNamed(step))
	}
	verb := "was"
	if len(steps) > 1 {
		verb = "were"
	}
	steps[0] = strings.ToUpper(steps[0][:1]) + steps[0][1:]
	*text += fmt.Sprintf(" %s %s cancelled by %s.", and(steps), verb, by)
	return nil
}

// stepNamed names a step with its targets.
func stepNamed(s escalation.UpcomingStep) string {
	return fmt.Sprintf("step %d (%s)", s.Number, strings.Join(s.Who, ", "))
}

// describeNow adds what is so now, and what comes next.
func (x *Explanation) describeNow(s *Story) {
	if s.Progress == incident.Closed || s.Progress == "" {
		return
	}
	prefix := ""
	if len(x.Incidents) > 1 {
		prefix = "Incident " + s.named() + ": "
	}
	if f := s.incident.Flapping; f != nil {
		x.now = append(x.now, prefix+sentence.Of("now_changes", f.Words())+".")
	}
	if s.incident.SnoozedBefore > x.c.Unix() {
		x.nowf("%sNow: it is snoozed until %s.", prefix, x.clock.Minute(s.incident.SnoozedBefore))
	}
	switch p := s.progress; {
	case s.Next != nil:
		x.now = append(x.now, prefix+x.next(s))
	case p != nil && p.Ended == escalation.Failing:
		x.nowf("%sNow: the escalation cannot go on. The server's log says why, and it is tried again.", prefix)
	case p != nil && (p.Ended == "exhausted" || p.Ended == "unacknowledged") && s.Progress == incident.Triggered:
		x.nowf("%sNow: every step was taken, and nobody has acknowledged.", prefix)
	}
	if text := x.nextMessage(s); text != "" {
		x.now = append(x.now, prefix+text)
	}
}

// nextMessage returns the sentence about the next message that is no step of an escalation; empty: none is planned.
func (x *Explanation) nextMessage(s *Story) string {
	to, unless := "its responders", "if it is still open then"
	if s.Progress == incident.Triggered && s.message.LastStep {
		to, unless = "everyone of its last step", "if nobody acknowledges before"
	}
	at := x.clock.Minute(s.message.At)
	switch s.message.Kind {
	case escalationplan.Withdrawn:
		return sentence.Of("next_withdrawn", at) + "."
	case escalationplan.Unreached:
		return sentence.Of("next_unreached", at) + "."
	case escalationplan.Woken:
		return sentence.Of("next_woken", at) + "."
	case escalationplan.Reminder:
		if s.Progress == incident.Processing {
			return sentence.Of("next_question", at) + "."
		}
		return fmt.Sprintf("Next: a reminder to %s at %s, %s.", to, at, unless)
	case escalationplan.Unanswered:
		return fmt.Sprintf("Next: the account's fallback at %s, if nobody acknowledges before.", at)
	case escalationplan.Joined:
		return fmt.Sprintf("Next: one message to %s about the alerts that joined, at %s.", to, at)
	case escalationplan.Rise:
		return fmt.Sprintf("Next: a message to %s about its severity, at %s.", to, at)
	}
	return ""
}

// next returns the sentence about the next step.
func (x *Explanation) next(s *Story) string {
	again := ""
	if s.Next.Repeat > 0 {
		again = " again"
	}
	until := ", if nobody acknowledges before"
	if s.Progress != incident.Triggered {
		until = ", although it is acknowledged"
	}
	switch {
	case s.progress.Silenced && s.incident.Flapping != nil:
		until += "; " + sentence.Of("until_fires")
	case s.progress.Silenced:
		until += "; until then silences hold its alerts"
	}
	return fmt.Sprintf("Next: %s%s at %s%s.", stepNamed(s.progress.Next.UpcomingStep), again, x.clock.Minute(s.Next.At), until)
}
