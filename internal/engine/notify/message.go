package notify

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
	"tocsin/internal/template"
)

// message builds the message of a notification from the present state of its incident. stale is why the message is not
// needed any more; empty when it is. If the attempt before was lost, it may have ended the process, so that the account's
// template is not used. It renders templates, which takes time, so it must not be called in a transaction.
func (r *Service) message(
	ctx context.Context, n *Notification, lost bool, now time.Time,
) (m sender.Message, stale sentence.Value, err error) {
	var d draft
	err = r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		d, stale, err = r.draft(tx, n, now)
		return err
	})
	switch {
	case err != nil || stale != "":
		return m, stale, err
	case n.Incident == "":
		return d.Message, r.Stale(n, now), nil
	}
	d.about.Next = r.next(ctx, &d.about, n.Account, now)
	text, err := r.text(ctx, n, lost, &d)
	if err != nil {
		return m, "", err
	}
	m = d.Message
	if n.Method == "email" {
		m.HTML, m.Text = text, plain(d.about, render.Plain)
	} else {
		m.Text = text
	}
	return m, "", nil
}

// draft is a message whose text is not rendered yet, with the incident that it is about.
type draft struct {
	sender.Message
	about    render.Incident
	template string // the account's for this method; empty: there is none
}

// draft reads everything that the message of a notification needs.
func (r *Service) draft(tx *db.Tx, n *Notification, now time.Time) (m draft, stale sentence.Value, err error) {
	i, stale, err := presently(tx, n, now)
	if err != nil || stale != "" {
		return m, stale, err
	}
	if n.Incident == "" {
		d := n.Detail
		m.Message = sender.Message{
			Key: n.Key, Subject: d.Subject, Title: d.Subject, Text: target(n).Escape(d.Text), Event: n.Event, Severity: "Info",
		}
		if kind := kindOf(n.Method); n.Cause == Own && (kind == "voice" || kind == "sms") { // they have no line for a subject
			m.Text = target(n).Escape(strings.TrimSuffix(d.Subject, ".") + ". " + d.Text)
		}
		fields := data{Key: n.Key, Event: n.Event, Reason: n.Reason.English(), Subject: d.Subject, Text: d.Text}
		fields.Link = r.coverLink(n)
		if fields.Link != "" {
			m.Text += " " + target(n).Link("Accept or decline:", fields.Link)
		}
		m.Data, err = json.Marshal(fields, json.Deterministic(true))
		return m, "", err
	}
	about, err := r.about(tx, n, &i, now)
	if err != nil {
		return m, "", err
	}
	m.about, m.Message = about, sender.Message{
		Key: n.Key, Thread: i.IncidentID, Subject: about.Subject(), Severity: about.Look(), Event: n.Event, Title: about.Headline,
		Channel: about.Channel, Why: n.Reason.English(), Link: about.Link, Test: about.Test,
		AckLink: cmp.Or(about.AckLink, about.AnswerLink), Asks: about.AnswerLink != "",
	}
	fields := data{Key: n.Key, Event: n.Event, Reason: n.Reason.English(), Incident: &i, Num: about.Num()}
	fields.Headline, fields.Link = about.Headline, about.Link
	m.Data, err = json.Marshal(fields, json.Deterministic(true))
	if err != nil {
		return m, "", err
	}
	if n.Detail.Template != "" {
		if t, err := template.Find(tx, n.Account, n.Detail.Template); err == nil {
			m.template = t.Of(kindOf(n.Method))
		}
	}
	return m, "", nil
}

// presently returns the incident of a notification, if it has one, and why the notification is not needed any more; empty when it is.
func presently(tx *db.Tx, n *Notification, now time.Time) (i incident.Incident, stale sentence.Value, err error) {
	if n.Person != 0 {
		if _, found, err := Find(tx, n.Account, n.Person); err != nil || !found {
			return i, sentence.New("the_person_has_left"), err
		}
	}
	if n.Incident == "" {
		return i, "", nil
	}
	i, found, err := incident.Find(tx, n.Account, n.Incident)
	if err != nil {
		return i, "", err
	}
	return i, staleReason(n, &i, found, now), nil
}

// coverLink returns the link by which the person of a notification answers a request for cover; empty for any other
// notification, and for a call, in which no one can follow a link. It is made when the message is, so that it is not stored.
func (r *Service) coverLink(n *Notification) string {
	if n.Detail.Request == 0 || n.Method == "voice" {
		return ""
	}
	return r.Links.Cover(n.Account, n.Detail.Request, n.Person, n.Detail.Expire)
}

// data is the message for receivers that are programs: the incident, or the text of a message about no incident.
type data struct {
	Key      string             `json:"key"`
	Event    string             `json:"event_type"`
	Reason   string             `json:"reason"`
	Incident *incident.Incident `json:"incident,omitzero"`
	Num      string             `json:"num,omitzero"` // of the incident
	Headline string             `json:"headline,omitzero"`
	Subject  string             `json:"subject,omitzero"`
	Text     string             `json:"text,omitzero"`
	Link     string             `json:"link,omitzero"`
}

// staleReason returns why a notification is not needed any more, because its incident has changed since it was stored;
// empty when it is needed.
func staleReason(n *Notification, i *incident.Incident, found bool, now time.Time) sentence.Value {
	shared := n.Cause == Page || n.Cause == Fallback || n.Cause == Storm // any one responder can answer it
	repeats := n.Cause == Joined || n.Cause == Reminder
	switch {
	case !found:
		return sentence.New("was_removed")
	case i.MergedInto != "" && n.Cause != Merged && n.Cause != Recovery:
		return sentence.New("was_merged")
	case n.Cause == Merged && n.Detail.Merged == "" && i.MergedInto == "":
		return sentence.New("opened_again")
	case (shared || repeats || n.Cause == Assigned || n.Cause == Rise) && i.Progress == incident.Closed:
		return sentence.New("is_over")
	case n.Cause == Acked && i.Progress == incident.Closed:
		return sentence.New("is_over")
	case n.Cause == Acked && i.Progress == incident.Triggered:
		return sentence.New("ack_withdrawn")
	case n.Cause == Recovery && i.Progress != incident.Closed:
		return sentence.New("opened_again")
	case shared && i.Progress == incident.Processing && !n.Detail.Forced:
		return sentence.New("was_acknowledged")
	case n.Detail.Question != "" && i.Progress == incident.Triggered:
		return sentence.New("ack_withdrawn")
	case n.Detail.Question != "" && !i.AnsweredBy(n.Person):
		return sentence.New("handed_over")
	case (shared || repeats) && i.SnoozedBefore > now.Unix():
		return sentence.New("is_snoozed")
	}
	return ""
}

// target returns the kind of text that a notification's receiver shows; its text is escaped for that. A mail about no
// incident is plain text.
func target(n *Notification) *render.Target {
	t, _ := render.For(kindOf(n.Method))
	if t == render.HTML && n.Incident == "" {
		return render.Plain
	}
	return t
}

// plain describes an incident in a few lines without formatting: the text part of a mail, and the last resort when a
// preset fails.
func plain(about render.Incident, to *render.Target) render.Markup {
	if text, ok := rendered(render.Preset["plain"], to, about); ok {
		return text
	}
	return to.Escape(about.Subject())
}
