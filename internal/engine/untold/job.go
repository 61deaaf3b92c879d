package untold

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

const (
	batch       = 300 // rows that one transaction processes
	settleDelay = 5   // seconds until unfinished notifications are checked again
	retryDelay  = 60  // seconds after a failure until a row is processed again
)

// maxWait is the longest time until persons who could not be reached are notified again, in seconds.
const maxWait = 4 * 3600

// wait returns for how many seconds no message follows after two or more that failed. It doubles each time.
func wait(attempt int64) int64 { return min(int64(digest)<<min(attempt-2, 5), maxWait) }

// Job returns the background job.
func (r *Service) Job() jobs.Job {
	work := jobs.Batch[hold]{DB: r.DB, Due: r.next, Prepare: r.prepare, Still: stillDue, Do: r.do, Postpone: r.postpone}
	run := r.accounts.Rounds(r.DB, open, work.Round)
	return jobs.Job{Name: "untold", Interval: time.Second, Run: run, Wait: r.accounts.Wait, Signal: r.Wake}
}

// open finds every account with rows that go on, and when its first is due.
var open = db.Ahead(`FROM untold WHERE next_at > 0`) + `
	SELECT account_id, (SELECT coalesce(min(next_at), 0) FROM untold WHERE account_id = ahead.account_id AND next_at > 0)
	FROM ahead WHERE account_id IS NOT NULL`

// expensive is how many filter steps of silences make a batch an expensive one (see filter.Meter). The account then waits
// longer for its next batch, so that others are not delayed.
const expensive = 1_000_000

// hold is an incident that is due; empty: the events that are. It is silent by choice until a moment, and why.
type hold struct {
	incident string
	channel  int64
	until    int64
	why      sentence.Value
}

// next reads the incidents of an account that are due, and whether events are, at most batch. Critical ones without a message
// come first, because thousands of other rows are due in the second of a digest. A row whose result is awaited waits its turn.
func (r *Service) next(tx *db.Tx, t *jobs.Round) (due []hold, err error) {
	due, err = db.All(tx, func(scan db.Scan) (h hold, err error) { return h, scan(&h.incident, &h.channel) },
		`SELECT incident_id, channel_id FROM untold
		WHERE account_id = $1 AND next_at > 0 AND next_at <= $2
		ORDER BY CASE WHEN severity = 'Critical' AND told_key = '' THEN 0 ELSE 1 END, next_at LIMIT $3 + 0`, t.Account, t.Now.Unix(), batch)
	t.More = len(due) > 0 // more than a batch
	return due, err
}

// prepare finds which of the incidents are silent by choice. It ends early, with those that it has asked about, when that takes
// long. The events come last, all in one.
func (r *Service) prepare(t *jobs.Round, due []hold) (asked []hold, _ error) {
	silenced := func(int64, string) (until int64, why sentence.Value, steps int64, err error) { return 0, "", 0, nil }
	if r.Silences != nil {
		silenced = r.Silences(t.Ctx, t.Account, t.Now)
	}
	incidents := slices.DeleteFunc(slices.Clone(due), func(h hold) bool { return h.incident == "" })
	total := int64(0)
	for n := range incidents {
		h := &incidents[n]
		var steps int64
		var err error
		h.until, h.why, steps, err = silenced(h.channel, h.incident)
		if err != nil { // it then counts as not silenced
			r.Log.Error("whether an incident is silenced is not known", "incident_id", h.incident, "account_id", t.Account, "error", err)
		}
		asked = append(asked, *h)
		if total += steps; total >= expensive {
			t.Expensive = true
			break
		}
	}
	if len(incidents) < len(due) {
		asked = append(asked, hold{})
	}
	return asked, nil
}

// stillDue returns those of the incidents that are due now: another process may have processed the others meanwhile. The events
// are read when they are processed.
func stillDue(tx *db.Tx, t *jobs.Round, due []hold) ([]hold, error) {
	ids := idsOf(due)
	if len(ids) == 0 {
		return due, nil
	}
	still, err := db.All(tx, db.Column[string], `SELECT ref_id FROM untold WHERE account_id = $1 AND next_at > 0 AND next_at <= $2
		AND ref_id IN (SELECT value FROM json_each($3))`, t.Account, t.Now.Unix(), db.JSON(ids))
	open := map[string]bool{"": true}
	for _, id := range still {
		open[id] = true
	}
	return slices.DeleteFunc(slices.Clone(due), func(h hold) bool { return !open[h.incident] }), err
}

// idsOf returns the ids of incidents.
func idsOf(due []hold) (ids []string) {
	for _, h := range due {
		if h.incident != "" {
			ids = append(ids, h.incident)
		}
	}
	return ids
}

// do processes incidents, then the events.
func (r *Service) do(tx *db.Tx, t *jobs.Round, due []hold) error {
	if err := r.process(tx, t, due); err != nil || due[len(due)-1].incident != "" {
		return err
	}
	return r.stray(tx, t.Account, t.Now)
}

// postpone leaves an incident, or the events, for later.
func (r *Service) postpone(tx *db.Tx, t *jobs.Round, h hold, cause error) error {
	r.Log.Error("the fallback cannot be notified", "incident_id", h.incident, "account_id", t.Account, "error", cause)
	if h.incident == "" {
		return tx.Do(`UPDATE untold SET next_at = $3 WHERE account_id = $1 AND incident_id = '' AND next_at > 0 AND next_at <= $2`,
			t.Account, t.Now.Unix(), t.Now.Unix()+retryDelay)
	}
	return tx.Do(`UPDATE untold SET next_at = $4 WHERE account_id = $1 AND ref_id = $2 AND next_at > 0 AND next_at <= $3`,
		t.Account, h.incident, t.Now.Unix(), t.Now.Unix()+retryDelay)
}

// process notifies the fallback of incidents, or checks the results. It reads for all of them at its beginning: another
// process may have processed some of them meanwhile.
func (r *Service) process(tx *db.Tx, t *jobs.Round, due []hold) error {
	ids, account := idsOf(due), t.Account
	if len(ids) == 0 {
		return nil
	}
	holds := map[string]hold{}
	for _, h := range due {
		holds[h.incident] = h
	}
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM untold WHERE account_id = $1 AND next_at > 0 AND next_at <= $2
		AND ref_id IN (SELECT value FROM json_each($3)) ORDER BY next_at, ref_id`, account, t.Now.Unix(), db.JSON(ids))
	if err != nil {
		return err
	}
	incidents, err := incident.NewBatch(tx, account, ids, nil)
	if err != nil {
		return err
	}
	results, err := notify.Results(tx, account, keys(rows))
	if err != nil {
		return err
	}
	if err := activity.Begin(tx, account, ids); err != nil {
		return err
	}
	var changed []row
	var over []string
	var feed []activity.Item
	for n := range rows {
		w := &rows[n]
		i, found := incidents.Incident(w.incident)
		if !found || i.Progress != incident.Triggered {
			over = append(over, w.incident)
			continue
		}
		items, err := r.processOne(tx, w, &i, results[w.key], holds[w.incident], t.Now)
		if err != nil {
			return err
		}
		changed, feed = append(changed, *w), append(feed, items...)
	}
	if err := Forget(tx, account, over...); err != nil {
		return err
	}
	if err := update(tx, changed...); err != nil {
		return err
	}
	return r.Bus.Publish(tx, feed...)
}

// keys returns what the keys of the last notifications of rows begin with, each once.
func keys(rows []row) (all []string) {
	for _, w := range rows {
		if w.key != "" {
			all = append(all, w.key)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// processOne notifies the fallback of an incident, or checks the result. The row changes; feed is to be published.
func (r *Service) processOne(
	tx *db.Tx, w *row, i *incident.Incident, result notify.Result, h hold, now time.Time,
) (feed []activity.Item, err error) {
	failed := w.key != ""
	if failed && w.settle(result, now) {
		return nil, nil
	}
	if failed {
		w.key, w.attempt = "", w.attempt+1
	}
	if i.SnoozedBefore > h.until {
		h.until, h.why = i.SnoozedBefore, sentence.New("is_snoozed")
	}
	switch {
	case h.until > now.Unix():
		w.state = byChoice
		w.choice = h.why
		w.next = h.until
		return nil, nil
	case failed && w.attempt > 1: // the owner was among those who were not reached
		w.state, w.next = unreached, now.Unix()+wait(w.attempt)
		return nil, nil
	}
	return r.send(tx, w, i, now)
}

// settle notes the result of a row's last message, unless that reached no one. It reports whether it did.
func (w *row) settle(result notify.Result, now time.Time) bool {
	switch {
	case result.Sent:
		w.state = told
		w.next = 0
		w.key = ""
	case result.Open > 0:
		w.next = max(result.Open/1000, now.Unix()+settleDelay)
	default:
		return false
	}
	return true
}

// send notifies the fallback of an incident. Once a message has failed, the owner is notified as well. feed records who was
// notified instead of others, or that no one could be.
func (r *Service) send(tx *db.Tx, w *row, i *incident.Incident, now time.Time) (feed []activity.Item, err error) {
	to, err := r.Recipients(tx, w.account, w.channel, i.Severity, w.attempt > 0, now)
	if err != nil {
		return nil, err
	}
	n := notify.Notification{
		Account: w.account, Incident: w.incident, Event: activity.IncidentNew, Cause: notify.Fallback, Late: i.Severity != event.Critical,
	}
	if w.at > 0 && w.state == waiting && w.attempt == 0 {
		n.Event = activity.IncidentSeverity
	}
	if to.Works || w.state != unreached { // that no one can be reached is recorded once
		if err := r.put(tx, to, w.keyOf(), w.why, i.Severity, n, now); err != nil {
			return nil, err
		}
		feed = []activity.Item{{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now,
			Event: activity.Exhausted{Reason: sentence.Join(w.why, to.problem()), To: to.ids()}}}
	}
	w.severity, w.title = i.Severity, i.Title
	w.sent(to, w.keyOf(), now)
	return feed, nil
}

// sent notes that a message was stored, or that no person could get one.
func (w *row) sent(to Recipients, key string, now time.Time) {
	w.choice, w.at = "", now.Unix()
	if to.Owner {
		w.attempt = max(w.attempt, 1)
	}
	if to.Works {
		w.key, w.next = key, now.Unix()+settleDelay
		if w.state != unreached {
			w.state = waiting
		}
		return
	}
	w.attempt++
	w.state = unreached
	w.key = ""
	w.next = now.Unix() + wait(w.attempt)
}

// put stores the notifications of one message.
func (r *Service) put(
	tx *db.Tx, to Recipients, key string, why sentence.Value, severity string, n notify.Notification, now time.Time,
) error {
	for _, p := range to.List {
		n.Key = fmt.Sprintf("%s/p%d", key, p.ID)
		n.Severity = severity
		n.Reason = sentence.New("because", p.Why, why)
		if err := r.Notify.PutReached(tx, p.Person, p.reaches, p.lacks, n, now); err != nil {
			return err
		}
	}
	return nil
}
