package explain

import (
	"slices"

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
	At       int64            `json:"at" doc:"When its targets are notified, if nothing happens before, Unix seconds."`
	LayerIdx int64            `json:"layer_idx" doc:"The layer of the rule, from 0."`
	Repeat   int64            `json:"repeat" doc:"How often the layer was notified before."`
	Who      []sentence.Words `json:"who" doc:"Its targets by name."`
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
	notifications, err := notify.OfIncident(tx, account, id)
	if err != nil {
		return err
	}
	s.Notices, err = x.shown(notifications)
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
		who, _ := sentence.Shown(p.Next.Who)
		s.Next = &Next{p.Next.At, int64(p.Next.Number - 1), int64(p.Next.Repeat), who}
	}
	x.Incidents = append(x.Incidents, s)
	return nil
}

// shown returns notifications as an explanation shows them.
func (x *Explanation) shown(notifications []notify.Notification) ([]Notice, error) {
	all := []Notice{}
	for _, n := range notifications {
		one := Notice{
			NoticeID: n.ID, PersonID: n.Person, Method: n.Method, Cause: n.Cause, Status: n.Status, Attempts: n.Attempts,
			Reason: sentence.Words(n.Reason), ReasonData: n.Reason.Data(), Outcome: sentence.Words(n.Outcome), OutcomeData: n.Outcome.Data(),
			CreatedAt: n.Created, DueAt: n.Due, SettledAt: n.Settled, Delivery: n.Delivery, stored: n,
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
		notifications, err := untold.Notified(x.c.Tx, x.c.Who.AccountID, v.source, v.AlertKey)
		if err != nil {
			return err
		}
		x.Fallback, err = x.shown(notifications)
		if err != nil {
			return err
		}
		for i := range x.Fallback {
			n := &x.Fallback[i]
			x.add(max(n.CreatedAt, n.SettledAt), ofNotice, x.describeNotice(&Story{Notices: x.Fallback}, n, "")...)
		}
	}
	return nil
}

// describeStory adds the sentences about an incident. A notification that was sent or failed is described in its place in
// the feed; one that waits or was cancelled has none.
func (x *Explanation) describeStory(s *Story) error {
	notifications := map[string]*Notice{}
	for i := range s.Notices {
		notifications[s.Notices[i].NoticeID] = &s.Notices[i]
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
		if sent, ok := e.Event.(activity.Notified); ok && notifications[sent.RID] != nil {
			x.addOf(s, e.CreatedAt, ofFeed, x.describeNotice(s, notifications[sent.RID], "")...)
			delete(notifications, sent.RID)
			continue
		}
		text, err := x.describeEntry(e, s.IncidentID)
		if err != nil {
			return err
		}
		if n := len(acknowledged); n > 0 && e.ID == acknowledged[n-1].ID {
			cancelled, err := x.cancelledSteps(s, e)
			if err != nil {
				return err
			}
			text = append(text, cancelled)
		}
		x.addOf(s, e.CreatedAt, ofFeed, append(text, x.then(s, e, &before))...)
	}
	if s.more > 0 {
		x.addNow(sentence.New("entries_left_out", s.more, s.Title, incident.Num(s.IncidentID)))
	}
	for i := range s.Notices {
		n := &s.Notices[i]
		if notifications[n.NoticeID] == nil {
			continue
		}
		by, err := x.cancelledBy(n, acknowledged)
		if err != nil {
			return err
		}
		x.addOf(s, max(n.CreatedAt, n.SettledAt), ofNotice, x.describeNotice(s, n, by)...)
	}
	x.describeNow(s)
	return nil
}

// cancelledSteps returns which steps of the escalation an acknowledgement cancelled; empty: none.
func (x *Explanation) cancelledSteps(s *Story, e activity.Entry) (sentence.Value, error) {
	if s.progress == nil || s.progress.Ended != "acknowledged" || len(s.progress.Left) == 0 {
		return "", nil
	}
	var who sentence.Value
	if e.Person != 0 {
		name, err := x.personName(e.Person)
		if err != nil {
			return "", err
		}
		who = name
	}
	left := s.progress.Left
	if len(left) == 1 {
		return by(who, sentence.New("cancelled_step_this", left[0].Number, left[0].Who),
			sentence.New("cancelled_step", left[0].Number, left[0].Who, who)), nil
	}
	steps := []sentence.Value{sentence.New("step_first", left[0].Number, left[0].Who)}
	for _, step := range left[1:] {
		steps = append(steps, sentence.New("step_further", step.Number, step.Who))
	}
	return by(who, sentence.New("cancelled_all_this", steps), sentence.New("cancelled_all", steps, who)), nil
}

// describeNow adds what is so now, and what comes next.
func (x *Explanation) describeNow(s *Story) {
	if s.Progress == incident.Closed || s.Progress == "" {
		return
	}
	if f := s.incident.Flapping; f != nil {
		x.addNowOf(s, sentence.New("now_changes", f.Words()))
	}
	if s.incident.SnoozedBefore > x.c.Unix() {
		x.addNowOf(s, sentence.New("now_snoozed", x.clock.Minute(s.incident.SnoozedBefore)))
	}
	switch p := s.progress; {
	case s.Next != nil:
		x.addNowOf(s, x.next(s))
	case p != nil && p.Ended == escalation.Failing:
		x.addNowOf(s, sentence.New("now_failing"), sentence.New("log_says"))
	case p != nil && (p.Ended == "exhausted" || p.Ended == "unacknowledged") && s.Progress == incident.Triggered:
		x.addNowOf(s, sentence.New("now_no_ack"))
	}
	if text := x.nextMessage(s); text != "" {
		x.addNowOf(s, text)
	}
}

// nextMessage returns the sentence about the next message that is no step of an escalation; empty: none is planned.
func (x *Explanation) nextMessage(s *Story) sentence.Value {
	all := s.Progress == incident.Triggered && s.message.LastStep // it is for everyone of the last step
	at := x.clock.Minute(s.message.At)
	switch s.message.Kind {
	case escalationplan.Withdrawn:
		return sentence.New("next_withdrawn", at)
	case escalationplan.Unreached:
		return sentence.New("next_unreached", at)
	case escalationplan.Woken:
		return sentence.New("next_woken", at)
	case escalationplan.Reminder:
		switch {
		case s.Progress == incident.Processing:
			return sentence.New("next_question", at)
		case all:
			return sentence.New("next_reminder_all", at)
		}
		return sentence.New("next_reminder", at)
	case escalationplan.Unanswered:
		return sentence.New("next_fallback", at)
	case escalationplan.Joined:
		if all {
			return sentence.New("next_joined_all", at)
		}
		return sentence.New("next_joined", at)
	case escalationplan.Rise:
		if all {
			return sentence.New("next_rise_all", at)
		}
		return sentence.New("next_rise", at)
	}
	return ""
}

// next returns the sentence about the next step.
func (x *Explanation) next(s *Story) sentence.Value {
	switch text := x.nextStep(s); {
	case s.progress.Silenced && s.incident.Flapping != nil:
		return sentence.Join(text, sentence.New("until_fires"))
	case s.progress.Silenced:
		return sentence.Join(text, sentence.New("until_silences"))
	default:
		return text
	}
}

// nextStep returns when the next step is taken, and unless what.
func (x *Explanation) nextStep(s *Story) sentence.Value {
	step, at := s.progress.Next, x.clock.Minute(s.Next.At)
	again, although := step.Repeat > 0, s.Progress != incident.Triggered
	switch {
	case again && although:
		return sentence.New("next_again_although", step.Number, step.Who, at)
	case again:
		return sentence.New("next_again", step.Number, step.Who, at)
	case although:
		return sentence.New("next_although", step.Number, step.Who, at)
	}
	return sentence.New("next_step", step.Number, step.Who, at)
}
