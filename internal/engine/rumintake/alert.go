package rumintake

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/rum"
)

// repeatGap is the time after which an issue that goes on is an event again.
const repeatGap = 24 * time.Hour

// open is an issue whose alert is open.
type open struct {
	issue, application string
	channels           []int64
	severity           string
	opened, alerted    int64 // Unix milliseconds
}

const columns = `issue_id, application_id, channels, severity, opened_at, alerted_at`

func scanOpen(scan db.Scan) (o open, err error) {
	var channels string
	if err := scan(&o.issue, &o.application, &channels, &o.severity, &o.opened, &o.alerted); err != nil {
		return o, err
	}
	_ = json.Unmarshal([]byte(channels), &o.channels) // the channels of a corrupt row are those that get the next event
	return o, nil
}

func findOpen(tx *db.Tx, account int64, issue string) (open, bool, error) {
	return db.One(tx, scanOpen, `SELECT `+columns+` FROM rum_alert WHERE account_id = $1 AND issue_id = $2`, account, issue)
}

// higher returns the higher one of two severities.
func higher(a, b string) string {
	if event.Rank(b) > event.Rank(a) {
		return b
	}
	return a
}

// alert raises the alert of an open issue if it is news: it is new or has come back, its severity has risen, or the last
// event was a day ago. However many errors come, they are one alert.
func (w *writer) alert(a *rum.Application, issue *rum.Issue, e *rumerror.Error, now time.Time) error {
	if !a.Alerting.Enabled || !issue.Open() {
		return nil
	}
	o, found, err := findOpen(w.tx, w.account, issue.IssueID)
	if err != nil {
		return err
	}
	rises := event.Rank(issue.Severity) > event.Rank(o.severity)
	if found && !rises && now.UnixMilli()-o.alerted < repeatGap.Milliseconds() {
		return nil
	}
	if !found {
		o = open{issue: issue.IssueID, application: a.ApplicationID, opened: now.UnixMilli()}
		if full, err := w.tooManyAlerts(a, issue, now); full || err != nil {
			return err
		}
	}
	channels, err := enabled(w.tx, w.account, a.Alerting.ChannelIDs)
	if err != nil {
		return err
	}
	if len(channels) == 0 {
		return w.raiseUnrouted(a, issue, now)
	}
	o.severity, o.alerted = higher(o.severity, issue.Severity), now.UnixMilli()
	for _, ch := range channels {
		if !slices.Contains(o.channels, ch) {
			o.channels = append(o.channels, ch)
		}
	}
	if err := o.save(w.tx, w.account); err != nil {
		return err
	}
	return w.publish(w.tx, w.account, channels, w.event(issue, e, o.severity, now), now)
}

// enabled returns the channels that take alerts.
func enabled(tx *db.Tx, account int64, ids []int64) (list []int64, err error) {
	for _, id := range ids {
		ch, found, err := channel.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if found && ch.Status == "enabled" {
			list = append(list, id)
		}
	}
	return list, nil
}

func (o *open) save(tx *db.Tx, account int64) error {
	channels, err := json.Marshal(o.channels)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO rum_alert (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (account_id, issue_id) DO UPDATE SET channels = excluded.channels, severity = excluded.severity,
			alerted_at = excluded.alerted_at`,
		account, o.issue, o.application, string(channels), o.severity, o.opened, o.alerted)
}

// event returns the event of an issue. Its texts come from a browser.
func (r *Service) event(issue *rum.Issue, e *rumerror.Error, severity string, now time.Time) event.Event {
	page, _, _ := strings.Cut(e.URL, "?") // what follows may hold secrets, and alerts go to chats
	page, _, _ = strings.Cut(page, "#")
	title := event.Cut(fmt.Sprintf("%s: %s", issue.ApplicationName, e.Title()), event.MaxTitle)
	labels := map[string]string{
		"source": "rum", "application": issue.ApplicationName, "application_id": issue.ApplicationID, "issue_id": issue.IssueID,
		"service": issue.Service, "env": e.Env, "version": e.Version, "error_type": issue.Error.Type, "view_url": page,
		"browser_name": e.Browser.Name, "suspected_cause": issue.SuspectedCause.Value,
	}
	text := []string{fmt.Sprintf("%d errors in %d sessions.", issue.ErrorCount, issue.SessionCount)}
	if issue.Regression != nil {
		labels["regression"] = "true"
		text = append(text, "It was resolved and has come back.")
	}
	if page != "" {
		text = append(text, "Page: "+page)
	}
	if r.PublicURL != "" {
		text = append(text, strings.TrimSuffix(r.PublicURL, "/")+"/rum/issues/"+issue.IssueID)
	}
	for name, value := range labels {
		if value == "" {
			delete(labels, name)
		}
	}
	return event.Event{
		AlertKey: issue.IssueID, TitleRule: title, Title: title, Description: event.Cut(strings.Join(text, "\n"), event.MaxDescription),
		Status: severity, Severity: severity, Labels: labels, Time: now.Unix(),
		GroupKey: event.Cut("rum/"+issue.ApplicationID, event.MaxGroupKey),
	}
}

// publish stores an event for each channel.
func (r *Service) publish(tx *db.Tx, account int64, channels []int64, e event.Event, now time.Time) error {
	var events []event.Event
	var bodies []string
	for i, ch := range channels {
		one := e
		one.ID, one.OwnChannel, one.Received = id.Object(now), ch, now.UnixNano()+int64(i)
		body, err := json.Marshal(one, json.Deterministic(true))
		if err != nil {
			return err
		}
		events, bodies = append(events, one), append(bodies, string(body))
	}
	tx.OnCommit(r.Decide.Raise)
	return triage.Accept(tx, account, events, bodies)
}

// close ends the alert of an issue, if it is open, in all channels that were alerted.
func (r *Service) close(tx *db.Tx, account int64, issue, why string, now time.Time) error {
	o, found, err := findOpen(tx, account, issue)
	if err != nil || !found {
		return err
	}
	if err := tx.Do(`DELETE FROM rum_alert WHERE account_id = $1 AND issue_id = $2`, account, issue); err != nil {
		return err
	}
	e := event.Event{
		AlertKey: issue, TitleRule: why, Title: why, Description: why, Status: event.Ok, Severity: o.severity, Time: now.Unix(),
		Labels: map[string]string{"source": "rum", "issue_id": issue}, ByHand: true,
	}
	return r.publish(tx, account, o.channels, e, now)
}

// Changed ends the alert of an issue that a person has resolved or ignores.
func (r *Service) Changed(tx *db.Tx, account int64, issue *rum.Issue, now time.Time) error {
	if issue.Open() {
		return nil
	}
	return r.close(tx, account, issue.IssueID, "The issue is "+issue.Status+".", now)
}

// tooManyAlerts reports whether so many alerts of an application began within an hour that this one is not raised by
// itself: then one alert stands for all of them. The issue is alerted with its next error after that hour.
func (w *writer) tooManyAlerts(a *rum.Application, issue *rum.Issue, now time.Time) (full bool, err error) {
	n, _, err := db.One(w.tx, db.Column[int64],
		`SELECT count(*) FROM rum_alert WHERE account_id = $1 AND application_id = $2 AND opened_at > $3`,
		w.account, a.ApplicationID, now.Add(-hour).UnixMilli())
	if err != nil || n < maxAlerts {
		return false, err
	}
	return true, w.Own.Raise(w.tx, selfalert.Alert{
		Account: w.account, Key: "rum/alerts/" + a.ApplicationID, Channel: first(a), Severity: issue.Severity, Lasts: hour,
		Title:  fmt.Sprintf("The application %s has more than %d issues that began within an hour", a.ApplicationName, maxAlerts),
		Text:   "The others have no alert of their own. The page of the application lists them.",
		Labels: map[string]string{"application_id": a.ApplicationID},
	}, now)
}

// raiseTooMany raises the alert that errors of further kinds are not stored.
func (w *writer) raiseTooMany(a *rum.Application, now time.Time) error {
	return w.Own.Raise(w.tx, selfalert.Alert{
		Account: w.account, Key: "rum/issues/" + a.ApplicationID, Channel: first(a), Severity: event.Warning, Lasts: hour,
		Title: fmt.Sprintf("The application %s has more than %d new issues within an hour", a.ApplicationName, maxNewIssues),
		Text: "Errors of further kinds are not stored until then. If the messages differ by what they quote, the page can set a " +
			"fingerprint; if its client token is misused, a new application has another one.",
		Labels: map[string]string{"application_id": a.ApplicationID},
	}, now)
}

// raiseUnrouted raises the alert that none of the application's channels takes alerts: the account's owner is notified.
func (w *writer) raiseUnrouted(a *rum.Application, issue *rum.Issue, now time.Time) error {
	return w.Own.Raise(w.tx, selfalert.Alert{
		Account: w.account, Key: "rum/channels/" + a.ApplicationID, Severity: issue.Severity, Lasts: repeatGap,
		Title: fmt.Sprintf("The application %s has an issue, and no channel that takes its alerts", a.ApplicationName),
		Text:  "Set alerting.channel_ids of the application to a channel that is enabled, or disable its alerting.",
	}, now)
}

// first returns the first channel of an application; 0: it has none.
func first(a *rum.Application) int64 {
	if !a.Alerting.Enabled || len(a.Alerting.ChannelIDs) == 0 {
		return 0
	}
	return a.Alerting.ChannelIDs[0]
}
