package explain

import (
	"fmt"
	"slices"
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/engine/escalation"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/fault"
)

// Story is the history of an incident.
type Story struct {
	IncidentID string   `json:"incident_id" doc:"The incident."`
	Title      string   `json:"title" doc:"Its present title."`
	Progress   string   `json:"progress" doc:"Its present progress; empty: it was removed."`
	Notices    []Notice `json:"notices" doc:"Its notifications, sent or not."`
	Next       *Next    `json:"next,omitempty" doc:"The next step of its escalation; absent: none is planned."`

	feed     []activity.Entry
	more     int64 // entries of the feed that are not in feed
	progress *escalation.Progress
	incident incident.Incident
}

// Next is the next step of an escalation.
type Next struct {
	At       int64    `json:"at" doc:"When its targets are notified, if nothing happens before, Unix seconds."`
	LayerIdx int64    `json:"layer_idx" doc:"The layer of the rule, from 0."`
	Repeat   int64    `json:"repeat" doc:"How often the layer was notified before."`
	Who      []string `json:"who" doc:"Its targets by name."`
}

// Notice is a notification of the incident, sent or not.
type Notice struct {
	NoticeID   string `json:"notice_id" doc:"The notification."`
	PersonID   int64  `json:"person_id" doc:"The person; 0: a chat or an address."`
	PersonName string `json:"person_name,omitzero" doc:"The person's name."`
	Method     string `json:"way" doc:"The method, such as email."`
	Cause      string `json:"cause" doc:"page, assign, recovery, owner or storm."`
	Reason     string `json:"reason" doc:"Why this target was chosen, in words."`
	Status     string `json:"status" doc:"waiting, sending, sent, failed or cancelled."`
	Attempts   int64  `json:"attempts" doc:"How often it was tried."`
	CreatedAt  int64  `json:"created_at" doc:"When it was stored, Unix milliseconds."`
	DueAt      int64  `json:"due_at" doc:"When it is or was to be sent, Unix milliseconds."`
	SettledAt  int64  `json:"settled_at" doc:"When it was sent, failed or was cancelled; 0: not yet."`
	Outcome    string `json:"outcome" doc:"The answer of the service, why it failed, or why it was cancelled; of one that waits what the last attempt said."`
	Delivery   string `json:"delivery,omitzero" doc:"What the telephone service reported last, such as delivered or no answer; absent: nothing."`
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
		s.Title, s.Progress = i.Title, i.Progress
		if s.progress, err = escalation.ProgressOf(tx, &i, x.c.Unix()); err != nil {
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
	for _, n := range notices {
		shown := Notice{n.ID, n.Person, "", n.Method, n.Cause, n.Reason, n.Status, n.Attempts, n.Created, n.Due, n.Settled, n.Outcome, n.Delivery}
		if n.Person != 0 {
			p, _, err := notify.Find(tx, account, n.Person)
			if err != nil {
				return err
			}
			shown.PersonName = p.Name
		}
		s.Notices = append(s.Notices, shown)
	}
	if p := s.progress; p != nil && p.Next != nil && s.Progress != incident.Closed {
		s.Next = &Next{p.Next.At, int64(p.Next.Number - 1), int64(p.Next.Repeat), p.Next.Who}
	}
	x.Incidents = append(x.Incidents, s)
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
	for _, e := range s.feed {
		if sent, ok := e.Event.(activity.Notified); ok && notices[sent.RID] != nil {
			x.addOf(s, e.CreatedAt, ofFeed, x.describeNotice(notices[sent.RID], ""))
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
			x.addOf(s, e.CreatedAt, ofFeed, text)
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
		x.addOf(s, max(n.CreatedAt, n.SettledAt), ofNotice, x.describeNotice(n, by))
	}
	x.describeNow(s)
	return nil
}

// describeNotice returns the sentences about a notification; by is who caused its end.
func (x *Explanation) describeNotice(n *Notice, by string) string {
	text := fmt.Sprintf("Notification to %s (%s) over %s: ", n.target(), n.Reason, n.Method)
	switch {
	case n.Status == notify.Waiting:
		text += x.waits(n)
	case n.Status == notify.Sent && strings.HasPrefix(n.Outcome, "in a bundle of "):
		shared, _, _ := strings.Cut(n.Outcome, ";")
		text += n.Status + ", " + shared
	case n.Outcome == "" || n.Status == notify.Sent:
		text += n.Status
	default:
		text += n.Status + ", " + n.Outcome
	}
	if n.Delivery != "" && n.Status == notify.Sent {
		text += ". The telephone service reports: " + n.Delivery
	}
	text = ended(text + by)
	if n.SettledAt-n.CreatedAt > 60_000 {
		text += " It was stored at " + x.clock.Minute(n.CreatedAt/1000) + "."
	}
	if n.Attempts > 1 && n.SettledAt != 0 {
		text += fmt.Sprintf(" It took %d attempts.", n.Attempts)
	}
	return text
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
	case n.Attempts == 0 && n.Outcome != "": // it was not tried: it waits for the budget
		return "waiting until " + x.clock.Second(n.DueAt/1000) + ": it " + n.Outcome
	case n.Attempts == 0:
		return "waiting until " + x.clock.Minute(n.DueAt/1000)
	}
	text := fmt.Sprintf("waiting until %s for attempt %d", x.clock.Second(n.DueAt/1000), n.Attempts+1)
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
		return fmt.Sprintf("person %d, who has left", n.PersonID)
	}
	return "a chat or address"
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
	if s.progress.Silenced {
		until += "; until then silences hold its alerts"
	}
	return fmt.Sprintf("Next: %s%s at %s%s.", stepNamed(s.progress.Next.UpcomingStep), again, x.clock.Minute(s.Next.At), until)
}
