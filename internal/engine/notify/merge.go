package notify

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// addMerge adds which incident was merged into which. The incident was merged, or the message is about a merge into the
// incident. The message links to the incident even when nothing waits for an acknowledgement.
func addMerge(tx *db.Tx, about *render.Incident, n *Notification, i *incident.Incident) error {
	person, from := n.Detail.By, n.Detail.Merged
	if i.MergedInto != "" {
		person = i.CloserID
	}
	if i.MergedInto == "" && from == "" {
		return nil
	}
	by, err := byWhom(tx, n.Account, person)
	if err != nil {
		return err
	}
	if about.AckLink == "" {
		about.Link = about.DetailUrl
	}
	about.MergedInto = i.MergedInto
	if i.MergedInto == "" {
		others, err := mergedWith(tx, n)
		if err != nil {
			return err
		}
		about.MergedFrom = from + andOthers(others)
		was := " was"
		if others > 0 {
			was = " were"
		}
		about.Merged = about.MergedFrom + was + " merged into this incident" + by
		return nil
	}
	into := "incident #" + incident.Num(i.MergedInto)
	if target, shown, err := leadsTo(tx, *i, n.Person); err != nil {
		return err
	} else if shown {
		first, err := target.Lead(tx)
		if err != nil {
			return err
		}
		into = fmt.Sprintf("%s (#%s)", problem(&target, first, false), incident.Num(target.IncidentID))
	}
	about.Merged = "Merged into " + into + by
	return nil
}

// andOthers returns the end of a list that names one incident and counts the others.
func andOthers(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " and another incident"
	}
	return fmt.Sprintf(" and %d other incidents", n)
}

// byWhom returns the end of a sentence that names the person who acted.
func byWhom(tx *db.Tx, account, person int64) (string, error) {
	if person == 0 {
		return "", nil
	}
	p, found, err := Find(tx, account, person)
	if err != nil || !found {
		return " by a person who has left", err
	}
	return " by " + p.Name, nil
}

// mergedWith returns how many further incidents were merged by the call that a notification is about.
func mergedWith(tx *db.Tx, n *Notification) (others int, err error) {
	const latest = 100
	entries, _, err := activity.Feed(tx, activity.Query{
		Account: n.Account, Ref: n.Incident, Types: []string{activity.IncidentMerge}, Limit: latest,
	})
	for _, e := range entries {
		if merged, ok := e.Event.(activity.Merged); ok && e.CreatedAt == n.Created {
			return len(merged.SourceIncidentIDs) - 1, err
		}
	}
	return 0, err
}

// leadsTo returns the incident that an incident was merged into. The reader is a person, or (person 0) a chat that was
// notified of the merged incident. shown is false if the incident was not merged, or if the reader may not read the target.
func leadsTo(tx *db.Tx, i incident.Incident, person int64) (target incident.Incident, shown bool, err error) {
	target, err = incident.Current(tx, i)
	if err != nil || target.IncidentID == i.IncidentID {
		return i, false, err
	}
	shown, err = MayRead(tx, &target, i.ChannelID, person)
	return target, shown, err
}

// MayRead reports whether a person may read an incident. Person 0 is a chat or address that is notified of incidents of the
// channel from. No chat of another channel shows the incidents of a private channel.
func MayRead(tx *db.Tx, i *incident.Incident, from, person int64) (bool, error) {
	ch, _, err := channel.Find(tx, i.AccountID, i.ChannelID)
	if err != nil || person == 0 {
		return i.ChannelID == from || !ch.IsPrivate, err
	}
	return permitted(tx, &Notification{Account: i.AccountID, Person: person}, i, ch)
}

// lead returns the ticket of a link for the incident that people work on now. A merged incident leads to its target, if the
// reader may read the target. merged is the title of the incident that the link was made for; empty: the ticket is as
// before.
func lead(tx *db.Tx, t Ticket) (to Ticket, merged string, err error) {
	i, found, err := incident.Find(tx, t.Account, t.Incident)
	if err != nil || !found || i.MergedInto == "" {
		return t, "", err
	}
	target, shown, err := leadsTo(tx, i, t.Person)
	if err != nil || !shown {
		return t, "", err
	}
	to = t
	to.Incident = target.IncidentID
	return to, problem(&i, nil, false), nil // its alerts have moved to the target
}

// led returns the members of a page for the incidents that people work on now.
func led(tx *db.Tx, p *PhonePage) (all []*member, err error) {
	for _, m := range p.members {
		t, _, err := lead(tx, Ticket{Account: m.Account, Incident: m.Incident, Person: m.Person})
		if err != nil {
			return nil, err
		}
		one := *m
		one.Incident = t.Incident
		all = append(all, &one)
	}
	return all, nil
}

// Merge is an incident that was merged into another.
type Merge struct {
	Source *incident.Incident
	Target *incident.Incident
	By     int64 // the person who merged the incidents; 0: none
}

// About returns a notification about a merge. both: the recipient may read both incidents, not only the source. The
// notification is about the target if possible, so that its recipient learns of the target's further fate as well.
func (m Merge) About(n Notification, both bool, why sentence.Value) Notification {
	n.Event = activity.IncidentMerge
	if !both {
		n.Incident, n.Reason = m.Source.IncidentID, sentence.New("merged_away")
		return n
	}
	n.Incident, n.Reason = m.Target.IncidentID, why
	n.Detail.Merged, n.Detail.By = problem(m.Source, nil, false), m.By
	return n
}

// Merged stores notifications about a merge to the addresses and chats of its source that the filter accepts.
func (r *Service) Merged(tx *db.Tx, m Merge, now time.Time, to func(Notification) bool) error {
	both, err := MayRead(tx, m.Target, m.Source.ChannelID, 0)
	if err != nil {
		return err
	}
	nobody := func(n Notification) bool { return n.Person == 0 && to(n) }
	return r.inform(tx, m.Source.AccountID, []string{m.Source.IncidentID}, now, nobody, func(n *Notification) {
		n.Detail = Detail{Template: n.Detail.Template} // the step belonged to the source
		*n = m.About(*n, both, sentence.New("merged_notified"))
		n.Cause, n.Severity = Merged, m.Target.Severity
		n.Detail.Severity = m.Target.Severity
		n.Key = fmt.Sprintf("%s/%s/%d/a%s/%s", n.Incident, activity.IncidentMerge, now.UnixMilli(), digest(n.Address), n.Method)
	})
}

// Informed returns the persons who got a notification of an incident, each once. The notification asked them to act, or was
// about a merge.
func Informed(tx *db.Tx, i *incident.Incident) (persons []int64, err error) {
	all, err := OfIncident(tx, i.AccountID, i.IncidentID)
	for _, n := range all {
		got := n.Status == Sent || n.Status == Sending
		if n.Person != 0 && got && n.Cause != Recovery && n.Cause != Acked && !slices.Contains(persons, n.Person) {
			persons = append(persons, n.Person)
		}
	}
	return persons, err
}
