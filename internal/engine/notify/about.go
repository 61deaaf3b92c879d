package notify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/render"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// about returns the incident as templates read it, for the reader of this notification.
func (r *Service) about(tx *db.Tx, n *Notification, i *incident.Incident, now time.Time) (about render.Incident, err error) {
	about = render.Incident{
		IncidentID: i.IncidentID, Title: i.Title, Description: i.Description, Severity: i.Severity, Progress: i.Progress,
		StartTime: i.StartTime, AckTime: i.AckTime, CloseTime: i.CloseTime, Event: n.Event,
		Labels: i.Labels, AlertCount: i.AlertCnt, Reason: n.Reason.English(), Test: i.Test,
		InChat: n.Person == 0 && isChat(n.Method), Reopened: i.ReopenedAt != 0 && i.Progress != incident.Closed,
	}
	about.Account, about.TimeZone, err = account(tx, n.Account)
	if err != nil {
		return about, err
	}
	ch, _, err := channel.Find(tx, n.Account, i.ChannelID)
	if err != nil {
		return about, err
	}
	about.Channel = ch.ChannelName
	about.Link = r.Links.Open(i.IncidentID)
	if err := addPublic(tx, &about, n, i, &ch, now); err != nil { // before the time zone becomes the reader's
		return about, err
	}
	if err := addPersons(tx, &about, n, i); err != nil {
		return about, err
	}
	about.Partial, err = r.partial(tx, i, now)
	if err != nil {
		return about, err
	}
	r.overviewOf(tx, i, now).describe(&about, i)
	about.Notified, err = notified(tx, n, now)
	if err != nil {
		return about, err
	}
	about.DetailUrl, err = r.detailURL(tx, n, i, ch, now)
	if i.Progress == incident.Triggered {
		about.AckLink = about.DetailUrl
	}
	if n.Detail.Question != "" {
		asked := question(n)
		about.Question, about.AnswerLink = strings.ToUpper(asked[:1])+asked[1:], about.DetailUrl
	}
	if err != nil {
		return about, err
	}
	return about, addMerge(tx, &about, n, i)
}

// partial reports whether the number of an incident's alerts is known to be too small.
func (r *Service) partial(tx *db.Tx, i *incident.Incident, now time.Time) (bool, error) {
	if r.Partial == nil {
		return false, nil
	}
	return r.Partial(tx, i.AccountID, i.IncidentID, now.Unix())
}

// detailURL returns the link to the page that shows an incident to the reader of a notification. A link that would be
// refused is left out.
func (r *Service) detailURL(tx *db.Tx, n *Notification, i *incident.Incident, ch channel.Channel, now time.Time) (string, error) {
	switch {
	case r.Links == nil:
		return "", nil
	case n.Person != 0:
		allowed, err := permitted(tx, n, i, ch)
		if err != nil || !allowed {
			return "", err
		}
		return r.Links.Ack(n.Account, i.IncidentID, n.Person, now), nil
	case isChat(n.Method):
		return r.Links.AckInChat(n.Account, i.IncidentID, now), nil
	}
	return "", nil
}

// addPersons adds the responsible persons, who acknowledged the incident, by whom or by what it ended, and the reader's
// time zone.
func addPersons(tx *db.Tx, about *render.Incident, n *Notification, i *incident.Incident) error {
	for _, id := range i.Responders() {
		p, found, err := Find(tx, n.Account, id)
		if err != nil {
			return err
		}
		if found {
			about.Responders = append(about.Responders, responder(i, p))
		}
	}
	var ackers []string
	for _, a := range i.Assignments {
		if a.RemovedAt != 0 || a.AcknowledgedAt == 0 {
			continue
		}
		p, found, err := Find(tx, n.Account, a.PersonID)
		if err != nil {
			return err
		}
		if found && !slices.Contains(ackers, p.Name) {
			ackers = append(ackers, p.Name)
		}
	}
	about.AckedBy = some(ackers)
	if n.Person != 0 {
		p, found, err := Find(tx, n.Account, n.Person)
		if err != nil {
			return err
		}
		if found && p.TimeZone != "" {
			about.TimeZone = p.TimeZone
		}
	}
	if i.Progress != incident.Closed {
		return nil
	}
	about.Duration = max(0, i.CloseTime-i.StartTime)
	var err error
	about.EndedBy, err = endedBy(tx, i)
	return err
}

// endedBy returns by whom or by what an incident was closed.
func endedBy(tx *db.Tx, i *incident.Incident) (string, error) {
	if i.CloserID != 0 {
		p, found, err := Find(tx, i.AccountID, i.CloserID)
		if err != nil || found {
			return p.Name, err
		}
		return "a person who has left", nil
	}
	entries, _, err := activity.Feed(tx, activity.Query{
		Account: i.AccountID, Ref: i.IncidentID, Types: []string{activity.IncidentResolve}, Limit: 1,
	})
	if err != nil || len(entries) == 0 {
		return "", err
	}
	if e, ok := entries[0].Event.(activity.Resolved); ok && e.From == "timeout" {
		return "its time limit", nil
	}
	return "the end of its alerts", nil
}

// maxNames is how many names a message lists.
const maxNames = 8

// some lists names, the first ones if there are many.
func some(names []string) string {
	if rest := len(names) - maxNames; rest > 0 {
		names = append(slices.Clone(names[:maxNames]), fmt.Sprintf("%d more", rest))
	}
	return strings.Join(names, ", ")
}

// notified returns who else was notified of the incident of a notification, or is being notified now, with the methods.
func notified(tx *db.Tx, n *Notification, now time.Time) (all []string, err error) {
	type row struct {
		person int64
		method string
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) { return w, scan(&w.person, &w.method) },
		`SELECT person_id, way FROM notice
			WHERE account_id = $1 AND incident_id = $2 AND cause <> 'recovery' AND cause <> 'acknowledged'
				AND (status IN ('sent', 'sending') OR status = 'waiting' AND attempts = 0 AND due_at <= $3)
			GROUP BY person_id, way ORDER BY min(created_at), person_id, way`, n.Account, n.Incident, now.UnixMilli())
	if err != nil {
		return nil, err
	}
	var persons []int64
	methods := map[int64][]string{}
	for _, w := range rows {
		if w.person != 0 && w.person == n.Person || w.person == 0 && w.method == n.Method {
			continue
		}
		if methods[w.person] == nil {
			persons = append(persons, w.person)
		}
		methods[w.person] = append(methods[w.person], strings.TrimSuffix(kindOf(w.method), "_app"))
	}
	for _, id := range persons[:min(len(persons), maxNames)] {
		name := "chats and addresses"
		if id != 0 {
			p, found, err := Find(tx, n.Account, id)
			if err != nil {
				return nil, err
			}
			name = p.Name
			if !found {
				name = "a person who has left"
			}
		}
		all = append(all, fmt.Sprintf("%s (%s)", name, strings.Join(slices.Compact(methods[id]), ", ")))
	}
	if rest := len(persons) - maxNames; rest > 0 {
		all = append(all, fmt.Sprintf("%d more", rest))
	}
	return all, nil
}

// next describes who is notified next if no one acknowledges the incident; empty if no one is planned. What fails here is
// logged: it must not keep the message from being sent.
func (r *Service) next(ctx context.Context, about *render.Incident, account int64, now time.Time) string {
	if r.Next == nil || about.Progress != incident.Triggered {
		return ""
	}
	who, at, err := r.Next(ctx, account, about.IncidentID, now)
	if err != nil {
		r.Log.Error("who is notified next", "account_id", account, "incident_id", about.IncidentID, "error", err)
	}
	if err != nil || len(who) == 0 {
		return ""
	}
	zone, err := time.LoadLocation(about.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	moment, form := time.Unix(at, 0).In(zone), "15:04 MST"
	if moment.YearDay() != now.In(zone).YearDay() {
		form = "2006-01-02 15:04 MST"
	}
	return fmt.Sprintf("%s at %s if no one acknowledges", some(who), moment.Format(form))
}

// isChat reports whether messages over a method that go to no person are shown in a chat.
func isChat(method string) bool {
	switch kindOf(method) {
	case "email", "sms", "voice", "push", "webhook":
		return false
	}
	return true
}

// account returns the name and the time zone of an account.
func account(tx *db.Tx, id int64) (name, zone string, err error) {
	a, _, err := person.DumpAccount(tx, id)
	return a.AccountName, a.TimeZone, err
}
