package untold

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/core/render"
	"tocsin/internal/engine/notify"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

const (
	maxKeys   = 1000        // alert keys of an account that have a row of their own; the others share one for each integration
	keep      = 24 * 3600   // seconds that events are listed after the last one
	every     = time.Minute // from one message about events to the next, at least
	maxListed = 20          // events that a message lists
	maxCut    = 200         // characters of a title or a reason in it
)

// Stray is an event that became no alert, because no channel takes it.
type Stray struct {
	Event   event.Event
	Channel int64  // a disabled one; 0: none
	Why     string // why no channel takes it
	Choice  string // why it is silent by choice; empty: it is not
}

// Stray notes an event that no channel takes. An Ok deletes what is noted of its alert key. Events of one key are one row,
// of which the fallback is notified once for each severity that they rise to, and again when they go on for a day.
func (r *Service) Stray(tx *db.Tx, account int64, s Stray, now time.Time) error {
	w, found, err := r.strayRow(tx, account, &s, now)
	if err != nil || w.ref == "" {
		return err
	}
	higher := event.Rank(s.Event.Severity) > event.Rank(w.severity)
	if higher {
		w.severity = s.Event.Severity
	}
	w.event, w.why, w.last, w.events = s.Event.ID, s.Why, now.Unix(), w.events+1
	switch {
	case s.Choice != "":
		w.state, w.choice, w.next, w.key = byChoice, s.Choice, 0, ""
	case !found || higher || w.state == byChoice || w.state == told && now.Unix()-w.at >= keep:
		w.notifyAgain(now)
		tx.OnCommit(r.Wake.Raise)
	}
	return w.save(tx)
}

// strayRow returns the row of an event, new if found is false. Its ref is empty when there is nothing to note.
func (r *Service) strayRow(tx *db.Tx, account int64, s *Stray, now time.Time) (w row, found bool, err error) {
	e := &s.Event
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d/%d/%s", e.Integration, s.Channel, e.AlertKey)))
	ref := hex.EncodeToString(sum[:12])
	if e.Status == event.Ok {
		return row{}, false, Forget(tx, account, ref)
	}
	if w, found, err = find(tx, account, ref); err != nil || found {
		return w, found, err
	}
	w = row{account: account, ref: ref, channel: s.Channel, integration: e.Integration, title: e.Title, severity: e.Severity,
		since: now.Unix()}
	keys, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM (
		SELECT 1 FROM untold WHERE account_id = $1 AND incident_id = '' LIMIT $2 + 0) AS keys`, account, maxKeys)
	if err != nil || keys < maxKeys {
		return w, false, err
	}
	w.ref, w.title = fmt.Sprintf("others/%d/%d", e.Integration, s.Channel), "Events with other alert keys"
	before, found, err := find(tx, account, w.ref)
	if found {
		w = before
	}
	return w, found, err
}

// stray notifies the fallback of the events of an account that are due, in one message, or checks the results of earlier
// ones.
func (r *Service) stray(tx *db.Tx, account int64, now time.Time) error {
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM untold
		WHERE account_id = $1 AND incident_id = '' AND next_at > 0 AND next_at <= $2`, account, now.Unix())
	if err != nil {
		return err
	}
	var fresh []row
	results := map[string]result{}
	for _, w := range rows {
		if w.key == "" {
			fresh = append(fresh, w)
			continue
		}
		o, known := results[w.key]
		if !known {
			if o.sent, o.open, err = notify.Reached(tx, account, w.key); err != nil {
				return err
			}
			results[w.key] = o
		}
		switch {
		case o.sent:
			w.state, w.next, w.key = told, 0, ""
		case o.open > 0:
			w.next = max(o.open/1000, now.Unix()+settleDelay)
		default:
			if w.key, w.attempt = "", w.attempt+1; w.attempt == 1 { // now the owner as well
				fresh = append(fresh, w)
				continue
			}
			w.state, w.next = unreached, now.Unix()+wait(w.attempt)
		}
		if err := w.save(tx); err != nil {
			return err
		}
	}
	return r.sendStrays(tx, account, fresh, now)
}

// result is what became of a message.
type result struct {
	sent bool
	open int64 // when the next unfinished notification is due, Unix milliseconds; 0: none is left
}

// sendStrays notifies the fallback of events in one message. There is one in a minute at most: a storm is a few messages.
func (r *Service) sendStrays(tx *db.Tx, account int64, rows []row, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	minute := now.Truncate(every)
	key := fmt.Sprintf("untold/%d", minute.Unix())
	if stored, err := notify.Stored(tx, account, key); err != nil {
		return err
	} else if stored {
		for n := range rows {
			rows[n].next = minute.Add(every).Unix()
			if err := rows[n].save(tx); err != nil {
				return err
			}
		}
		return nil
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(event.Rank(b.severity)-event.Rank(a.severity), cmp.Compare(a.since, b.since))
	})
	attempt, first := int64(0), false
	for _, w := range rows {
		attempt, first = max(attempt, w.attempt), first || w.state != unreached
	}
	severity := rows[0].severity
	to, err := r.Recipients(tx, account, 0, severity, attempt > 0, now)
	if err != nil {
		return err
	}
	if to.Works || first {
		n := notify.Notification{Account: account, Event: "untold", Cause: notify.Fallback, Late: severity != event.Critical}
		if n.Detail.Subject, n.Detail.Text, err = r.words(tx, rows); err != nil {
			return err
		}
		if err := r.put(tx, to, key, "no channel takes these events", severity, n, now); err != nil {
			return err
		}
	}
	for n := range rows {
		rows[n].sent(to, key, now)
		if err := rows[n].save(tx); err != nil {
			return err
		}
	}
	return nil
}

// words returns the subject and the text of a message about events, the most severe first.
func (r *Service) words(tx *db.Tx, rows []row) (subject, text string, err error) {
	names := map[int64]string{}
	what := fmt.Sprintf("%d events reached no channel", len(rows))
	if len(rows) == 1 {
		what = "An event reached no channel: " + event.Cut(render.OneLine(rows[0].title), maxCut)
	}
	lines := []string{"No channel takes these events, so they became no incident and no rule notified anyone:"}
	for n, w := range rows {
		if n == maxListed {
			lines = append(lines, fmt.Sprintf("and %d more, see /incident/untold/list", len(rows)-n))
			break
		}
		name, known := names[w.integration]
		if !known {
			i, found, err := integration.Kind.Find(tx, w.account, strconv.FormatInt(w.integration, 10))
			if err != nil {
				return "", "", err
			}
			if name = i.IntegrationName; !found {
				name = fmt.Sprintf("integration %d", w.integration)
			}
			names[w.integration] = name
		}
		times := ""
		if w.events > 1 {
			times = fmt.Sprintf(", %d times", w.events)
		}
		lines = append(lines, fmt.Sprintf("%s: %s, from %s%s (%s)", w.severity, event.Cut(render.OneLine(w.title), maxCut), name, times,
			event.Cut(render.OneLine(w.why), maxCut)))
	}
	lines = append(lines, "Give the integration a channel, or its route a default.")
	return fmt.Sprintf("[%s] %s", rows[0].severity, what), strings.Join(lines, "\n"), nil
}

// Prune deletes events that are listed no longer.
func Prune(tx *db.Tx, now time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM untold WHERE (account_id, ref_id) IN (
		SELECT account_id, ref_id FROM untold WHERE incident_id = '' AND last_at <= $1 LIMIT $2 + 0)`, now.Unix()-keep, batch)
	return n == batch, err
}
