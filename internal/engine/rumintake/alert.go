package rumintake

import (
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/rumerror"
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
	key                string // key of the alert that the issue shares with others; empty: its own alert
	joined             bool   // the alert joined the incident of another issue
	channels           []int64
	severity           string
	opened, alerted    int64 // Unix milliseconds
}

const columns = `issue_id, application_id, alert_key, joined, channels, severity, opened_at, alerted_at`

func scanOpen(scan db.Scan) (o open, err error) {
	var channels string
	if err := scan(&o.issue, &o.application, &o.key, &o.joined, &channels, &o.severity, &o.opened, &o.alerted); err != nil {
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

// news is an error of an open issue that alerts, in channels that take alerts.
type news struct {
	*group
	issue    *rum.Issue
	title    string // of the issue, without what is private
	channels []channel.Channel
}

// alert raises the alert of an open issue if it is news: it is new or has come back, its severity has risen, or the last
// event was a day ago. However many errors come, they are one alert.
func (w *writer) alert(issue *rum.Issue, g *group) error {
	a, now := &g.application, g.now
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
	channels, err := enabled(w.tx, w.account, a.Alerting.ChannelIDs)
	if err != nil {
		return err
	}
	if len(channels) == 0 {
		return w.raiseUnrouted(a, issue, now)
	}
	n := &news{g, issue, rumerror.Scrub(g.alerted.Title()), channels}
	if g.other {
		n.title = rumerror.OtherMessage
	}
	var with *alertGroup
	if found {
		with, err = w.groupOf(&o)
	} else {
		o = open{issue: issue.IssueID, application: a.ApplicationID, opened: now.UnixMilli()}
		with, err = w.begin(n, &o)
	}
	if err != nil {
		return err
	}
	o.severity, o.alerted = higher(o.severity, issue.Severity), now.UnixMilli()
	o.channels = n.adds(o.channels)
	if err := o.save(w.tx, w.account); err != nil {
		return err
	}
	one := w.event(n, o.severity)
	one.GroupKey = o.groupKey()
	if with != nil {
		with.channels = n.adds(with.channels)
		with.put(listedIssue{issue.IssueID, o.severity, n.title})
		if err := with.save(w.tx, w.account); err != nil {
			return err
		}
		one.GroupKey = with.key
		if with.issues > 1 || o.key != "" {
			one.GroupTitle, one.GroupText = with.title(issue.ApplicationName, now), with.text(w.PublicURL)
		}
	}
	if o.key != "" {
		one = shared(one, with)
	}
	return w.publish(w.tx, w.account, n.adds(nil), one, now)
}

// begin returns the group of an alert that begins; nil: the alert is alone and no other may join it. The issues that are new
// in one version are a group. Beyond the bounds, the issues of an hour are a group. The issue of other errors is alone: it must
// be no further one of what other senders send.
func (w *writer) begin(n *news, o *open) (*alertGroup, error) {
	if n.other {
		return nil, nil
	}
	version := n.issue.FirstSeen.Version
	isNew := n.issue.Regression == nil && n.now.UnixMilli()-n.issue.CreatedAt < deployWindow.Milliseconds()
	var g *alertGroup
	if version != "" && isNew {
		deploy, found, err := newestGroup(w.tx, w.account, o.application, version, n.now.Add(-deployWindow))
		if err != nil {
			return nil, err
		}
		g = &deploy
		switch {
		case !found:
			g = &alertGroup{key: o.groupKey(), application: o.application, version: version, opened: o.opened}
			g.sender = firstSender(n.senders, g.key)
		case !deploy.takes(n.senders):
			g = &alertGroup{key: o.groupKey(), application: o.application, version: version, opened: o.opened}
			found = false
		}
		g.issues++
		o.joined = found && n.joins()
		if o.joined {
			return g, nil
		}
	}
	full, err := w.tooManyAlerts(o.application, n.now)
	if err != nil {
		return nil, err
	}
	if full || !w.mayOpen(n.group) {
		further, found, err := newestGroup(w.tx, w.account, o.application, "", n.now.Add(-hour))
		if err != nil {
			return nil, err
		}
		g = &further
		if !found {
			g = &alertGroup{key: fmt.Sprintf("rum/%s/further/%d", o.application, o.opened), application: o.application, opened: o.opened}
		}
		g.issues++
		o.key, o.joined = g.key, true
	}
	if g != nil && g.issues == 1 {
		err = pruneGroups(w.tx, w.account, n.now)
	}
	return g, err
}

// joins reports whether all channels make one incident of the issues of a group. Otherwise each issue counts towards the
// bound.
func (n *news) joins() bool {
	return !slices.ContainsFunc(n.channels, func(ch channel.Channel) bool { return !ch.GroupsBySource() })
}

// adds returns a list of channels with the channels of the news.
func (n *news) adds(to []int64) []int64 {
	for _, ch := range n.channels {
		if !slices.Contains(to, ch.ChannelID) {
			to = append(to, ch.ChannelID)
		}
	}
	return to
}

// groupOf returns the group of the alert that an issue shares; nil: the issue has its own alert.
func (w *writer) groupOf(o *open) (*alertGroup, error) {
	if o.key == "" {
		return nil, nil
	}
	g, found, err := sharedGroup(w.tx, w.account, o.key)
	if err != nil || found {
		return &g, err
	}
	o.key = "" // the row is gone
	return nil, nil
}

// groupKey returns the key of the incident that the alert of an issue opens. Each beginning of the issue has another key. An
// issue that comes back must not join its first incident, because no person would be notified.
func (o *open) groupKey() string {
	return event.Cut(fmt.Sprintf("rum/%s/%d", o.issue, o.opened), event.MaxGroupKey)
}

// enabled returns the channels that take alerts.
func enabled(tx *db.Tx, account int64, ids []int64) (list []channel.Channel, err error) {
	for _, id := range ids {
		ch, found, err := channel.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if found && ch.Status == "enabled" {
			list = append(list, ch)
		}
	}
	return list, nil
}

func (o *open) save(tx *db.Tx, account int64) error {
	channels, err := json.Marshal(o.channels)
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO rum_alert (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (account_id, issue_id) DO UPDATE SET alert_key = excluded.alert_key, joined = excluded.joined,
			channels = excluded.channels, severity = excluded.severity, alerted_at = excluded.alerted_at`,
		account, o.issue, o.application, o.key, o.joined, string(channels), o.severity, o.opened, o.alerted)
}

// publish stores an event for each channel.
func (r *Service) publish(tx *db.Tx, account int64, channels []int64, e event.Event, now time.Time) error {
	var events []event.Event
	var bodies []string
	for i, ch := range channels {
		one := e
		one.ID = id.Object(now)
		one.OwnChannel = ch
		one.Received = now.UnixNano() + int64(i)
		body, err := json.Marshal(one, json.Deterministic(true))
		if err != nil {
			return err
		}
		events, bodies = append(events, one), append(bodies, string(body))
	}
	tx.OnCommit(r.Decide.Raise)
	return triage.Accept(tx, account, events, bodies)
}

// close ends the alert of an issue, if it is open, in all channels that were alerted. A shared alert ends with the last of
// its issues.
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
	if o.key == "" {
		return r.publish(tx, account, o.channels, e, now)
	}
	left, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM rum_alert WHERE account_id = $1 AND alert_key = $2`, account, o.key)
	if err != nil || left > 0 {
		return err
	}
	g, found, err := sharedGroup(tx, account, o.key)
	if err != nil {
		return err
	}
	if !found {
		g = alertGroup{channels: o.channels, severity: o.severity}
	}
	e.AlertKey = o.key
	e.Severity = g.severity
	e.Labels = map[string]string{"source": "rum"}
	return r.publish(tx, account, g.channels, e, now)
}

// Changed ends the alert of an issue that a person has resolved or ignores.
func (r *Service) Changed(tx *db.Tx, account int64, issue *rum.Issue, now time.Time) error {
	if issue.Open() {
		return nil
	}
	return r.close(tx, account, issue.IssueID, "The issue is "+issue.Status+".", now)
}

// tooManyAlerts reports whether issues of an application opened too many incidents within an hour. Further issues then share
// one alert.
func (w *writer) tooManyAlerts(application string, now time.Time) (bool, error) {
	n, _, err := db.One(w.tx, db.Column[int64],
		`SELECT count(*) FROM rum_alert WHERE account_id = $1 AND application_id = $2 AND opened_at > $3 AND NOT joined`,
		w.account, application, now.Add(-hour).UnixMilli())
	return n >= maxAlerts, err
}
