package selfalert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/triage"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

// Alert is an alert of Tocsin's own.
type Alert struct {
	Account  int64             `json:"-"`
	Key      string            `json:"-"`               // alerts of the same key are the same alert, such as target/p12/email
	Channel  int64             `json:"-"`               // where it is opened; 0: the account's owner is notified
	Title    string            `json:"title"`           // it must hold no secret, as the next
	Text     string            `json:"text,omitzero"`   // what happened and how to mend it
	Severity string            `json:"severity"`        // Critical, Warning or Info
	Labels   map[string]string `json:"labels,omitzero"` // besides own=true
	Lasts    time.Duration     `json:"-"`               // it ends when it has not been raised again for so long
	Repeat   int64             `json:"repeat,omitzero"` // how often it was sent before; raised with a larger number it is sent again
}

// Service raises and ends alerts. It holds the dependencies.
type Service struct {
	DB     *db.DB
	Notify *notify.Service
	Decide *jobs.Signal // raised when events were committed
}

// row is an open alert.
type row struct {
	Alert
	opened, ends int64
}

const columns = `account_id, alert_key, channel_id, opened_at, ends_at, alert`

// scanRow reads a row. A corrupt one counts as an alert of no severity, which is raised again and ends as any other.
func scanRow(scan db.Scan) (w row, err error) {
	var text string
	if err := scan(&w.Account, &w.Key, &w.Channel, &w.opened, &w.ends, &text); err != nil {
		return w, err
	}
	var a Alert
	if json.Unmarshal([]byte(text), &a) != nil {
		a = Alert{Title: "Alert " + w.Key + " of Tocsin's own"}
	}
	a.Account = w.Account
	a.Key = w.Key
	a.Channel = w.Channel
	w.Alert = a
	return w, nil
}

// Raise opens an alert, or keeps it open when it is. An alert whose severity has risen is opened again.
func (r *Service) Raise(tx *db.Tx, a Alert, now time.Time) error {
	before, open, err := find(tx, a.Account, a.Key)
	if err != nil {
		return err
	}
	w := row{Alert: a, opened: now.UnixMilli(), ends: now.Add(a.Lasts).Unix()}
	if open {
		w.Channel, w.opened = before.Channel, before.opened
		a.Repeat = max(a.Repeat, before.Repeat)
		w.Alert.Repeat = a.Repeat
	} else {
		w.Channel, err = takes(tx, a.Account, a.Channel)
		if err != nil {
			return err
		}
	}
	news := !open || event.Rank(a.Severity) > event.Rank(before.Severity) || a.Repeat > before.Repeat
	text, err := json.Marshal(a, json.Deterministic(true))
	if err != nil {
		return err
	}
	if err := tx.Do(`INSERT INTO own_alert (`+columns+`) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, alert_key) DO UPDATE SET opened_at = excluded.opened_at, ends_at = excluded.ends_at, alert = excluded.alert`,
		w.Account, w.Key, w.Channel, w.opened, w.ends, string(text)); err != nil || !news {
		return err
	}
	return r.publish(tx, w, a.Severity, now)
}

// End ends an alert that is open.
func (r *Service) End(tx *db.Tx, account int64, key string, now time.Time) error {
	return r.end(tx, account, key, false, now)
}

// Hide ends an alert whose cause has an alert of its own now. The owner is not notified of it: what it reports is not over.
func (r *Service) Hide(tx *db.Tx, account int64, key string, now time.Time) error {
	return r.end(tx, account, key, true, now)
}

func (r *Service) end(tx *db.Tx, account int64, key string, hidden bool, now time.Time) error {
	w, open, err := find(tx, account, key)
	if err != nil || !open {
		return err
	}
	if err := tx.Do(`DELETE FROM own_alert WHERE account_id = $1 AND alert_key = $2`, account, key); err != nil || hidden && w.Channel == 0 {
		return err
	}
	return r.publish(tx, w, event.Ok, now)
}

func find(tx *db.Tx, account int64, key string) (row, bool, error) {
	return db.One(tx, scanRow, `SELECT `+columns+` FROM own_alert WHERE account_id = $1 AND alert_key = $2`, account, key)
}

// takes returns the channel if it takes alerts, else 0.
func takes(tx *db.Tx, account, id int64) (int64, error) {
	if id == 0 {
		return 0, nil
	}
	ch, found, err := channel.Find(tx, account, id)
	if err != nil || !found || ch.Status != "enabled" {
		return 0, err
	}
	return id, nil
}

// publish stores the event that an alert is open or has ended, or notifies the owner of it.
func (r *Service) publish(tx *db.Tx, w row, status string, now time.Time) error {
	if w.Channel == 0 {
		return r.notifyOwner(tx, w, status, now)
	}
	labels := map[string]string{"own": "true"}
	for name, value := range w.Labels {
		labels[name] = value
	}
	title := event.Cut(w.Title, event.MaxTitle)
	e := event.Event{
		ID:          id.Object(now),
		OwnChannel:  w.Channel,
		AlertKey:    event.Cut("tocsin/"+w.Key, event.MaxAlertKey),
		TitleRule:   title,
		Title:       title,
		Description: event.Cut(w.Text, event.MaxDescription),
		Status:      status,
		Severity:    w.Severity,
		Labels:      labels,
		Time:        now.Unix(),
		Received:    now.UnixNano(),
	}
	body, err := e.AppendJSON(nil)
	if err != nil {
		return err
	}
	tx.OnCommit(r.Decide.Raise)
	return triage.Accept(tx, w.Account, []event.Event{e}, []string{string(body)})
}

// notifyOwner notifies the account's owner that an alert is open or has ended.
func (r *Service) notifyOwner(tx *db.Tx, w row, status string, now time.Time) error {
	owner, err := auth.OwnerOf(tx, w.Account)
	if err != nil {
		return err
	}
	p, found, err := notify.Find(tx, w.Account, owner)
	if err != nil || !found {
		return err
	}
	n := notify.Notification{
		Account: w.Account,
		Key:     fmt.Sprintf("own/%s/%d/%s", w.Key, w.opened, status),
		Event:   "own_alert",
		Cause:   notify.Own,
		Reason:  sentence.New("owner"),
		Detail:  notify.Detail{Subject: w.Title, Text: w.Text},
	}
	if w.Repeat > 0 {
		n.Key += fmt.Sprintf("/%d", w.Repeat)
	}
	if status != event.Ok {
		return r.Notify.PutFor(tx, p, nil, w.Severity, n, now)
	}
	zone, err := person.Zone(tx, w.Account)
	if err == nil && p.TimeZone != "" {
		zone, err = time.LoadLocation(p.TimeZone)
	}
	if err != nil {
		return err
	}
	n.Event = "own_alert_over"
	n.Detail = notify.Detail{
		Subject: "Over: " + w.Title,
		Text: fmt.Sprintf("%s. It began %s and is over: it has not happened again.", strings.TrimSuffix(w.Title, "."),
			time.UnixMilli(w.opened).In(zone).Format("Mon 2 Jan 15:04 MST")),
	}
	return r.notifyQuietly(tx, p, w.Severity, n, now)
}

// notifyQuietly notifies a person by the methods for a severity, but by no call and no text message: no person has to act.
// A person with no other method gets a mail.
func (r *Service) notifyQuietly(tx *db.Tx, p notify.Person, severity string, n notify.Notification, now time.Time) error {
	reaches, _, err := r.Notify.Reaches(tx, n.Account, p, nil, severity, now)
	if err != nil {
		return err
	}
	reaches = slices.DeleteFunc(reaches, func(one notify.Reach) bool { return one.Method == "voice" || one.Method == "sms" })
	if len(reaches) == 0 {
		mail := []string{"email"}
		return r.Notify.PutFor(tx, p, &channel.By{Critical: mail, Warning: mail, Info: mail}, severity, n, now)
	}
	n.Severity = severity
	return r.Notify.PutReached(tx, p, reaches, "", n, now)
}

// Job returns the background job that ends alerts.
func (r *Service) Job() jobs.Job {
	return jobs.Job{Name: "own alerts", Interval: time.Second, Run: func(ctx context.Context, now time.Time) (again time.Time, err error) {
		type due struct {
			account int64
			key     string
		}
		var over []due
		err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
			over, err = db.All(tx, func(scan db.Scan) (d due, err error) { return d, scan(&d.account, &d.key) },
				`SELECT account_id, alert_key FROM own_alert WHERE ends_at <= $1`, now.Unix())
			return err
		})
		for _, d := range over { // one that fails must not keep the others from ending
			err = errors.Join(err, r.DB.WriteOf(ctx, d.account, func(tx *db.Tx) error { return r.endDue(tx, d.account, d.key, now) }))
		}
		return again, err
	}}
}

// endDue ends an alert, unless it has been raised again since it was found to be due.
func (r *Service) endDue(tx *db.Tx, account int64, key string, now time.Time) error {
	w, open, err := find(tx, account, key)
	if err != nil || !open || w.ends > now.Unix() {
		return err
	}
	return r.End(tx, account, key, now)
}
