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
	"tocsin/internal/core/sentence"
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
	Channel int64          // a disabled one; 0: none
	Why     sentence.Value // why no channel takes it
	Choice  sentence.Value // why it is silent by choice; empty: it is not
}

// Strays notes events that no channel takes, in their order. An Ok deletes what is noted of its alert key. Events of one key
// are one row, of which the fallback is notified once for each severity that they rise to, and again when they go on for a
// day.
func (r *Service) Strays(tx *db.Tx, account int64, all []Stray, now time.Time) error {
	if len(all) == 0 {
		return nil
	}
	b, err := readStrays(tx, account, all)
	if err != nil {
		return err
	}
	for n := range all {
		if b.note(&all[n], now) {
			tx.OnCommit(func() { r.Wake.RaiseFor(account) })
		}
	}
	return b.store(tx)
}

// strays are the rows of events that a transaction notes.
type strays struct {
	account int64
	stored  map[string]bool // by ref: the row is in the table
	rows    map[string]*row // by ref: the row as it is to be stored
	keys    int64           // how many rows of events the account has
	changed []string        // refs of rows
	gone    []string        // refs of stored rows that are deleted
}

// ref names the row of the events of an alert key.
func (s *Stray) ref() string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("%d/%d/%s", s.Event.Integration, s.Channel, s.Event.AlertKey)))
	return hex.EncodeToString(sum[:12])
}

// others names the row that alert keys beyond maxKeys share.
func (s *Stray) others() string { return fmt.Sprintf("others/%d/%d", s.Event.Integration, s.Channel) }

// readStrays reads the rows of events.
func readStrays(tx *db.Tx, account int64, all []Stray) (*strays, error) {
	b := &strays{account: account, stored: map[string]bool{}, rows: map[string]*row{}}
	refs := make([]string, 0, 2*len(all))
	for n := range all {
		refs = append(refs, all[n].ref(), all[n].others())
	}
	slices.Sort(refs)
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM untold
		WHERE account_id = $1 AND ref_id IN (SELECT value FROM json_each($2))`, account, db.JSON(slices.Compact(refs)))
	if err != nil {
		return nil, err
	}
	for n := range rows {
		b.stored[rows[n].ref], b.rows[rows[n].ref] = true, &rows[n]
	}
	b.keys, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM (
		SELECT 1 FROM untold WHERE account_id = $1 AND incident_id = '' LIMIT $2 + 0) AS keys`, account, maxKeys+len(all))
	return b, err
}

// note notes an event, and reports whether the fallback is to be notified.
func (b *strays) note(s *Stray, now time.Time) (due bool) {
	e := &s.Event
	if e.Status == event.Ok {
		b.remove(s.ref())
		return false
	}
	w, found := b.row(s, now)
	higher := event.Rank(e.Severity) > event.Rank(w.severity)
	if higher {
		w.severity = e.Severity
	}
	w.event, w.why = e.ID, s.Why
	w.last = now.Unix()
	w.events++
	b.changed = append(b.changed, w.ref)
	switch {
	case s.Choice != "":
		w.state = byChoice
		w.choice = s.Choice
		w.next = 0
		w.key = ""
	case !found || higher || w.state == byChoice || w.state == told && now.Unix()-w.at >= keep:
		w.notifyAgain(now)
		return true
	}
	return false
}

// row returns the row of an event, new if found is false.
func (b *strays) row(s *Stray, now time.Time) (w *row, found bool) {
	w = b.rows[s.ref()]
	if w != nil {
		return w, true
	}
	w = &row{account: b.account, ref: s.ref(), channel: s.Channel, integration: s.Event.Integration,
		title: render.AlertName(s.Event.Title, s.Event.Labels), severity: s.Event.Severity, since: now.Unix()}
	if b.keys >= maxKeys {
		if before := b.rows[s.others()]; before != nil {
			return before, true
		}
		w.ref, w.title = s.others(), "Events with other alert keys"
	}
	b.rows[w.ref] = w
	b.keys++
	return w, false
}

// remove deletes a row.
func (b *strays) remove(ref string) {
	if b.rows[ref] == nil {
		return
	}
	delete(b.rows, ref)
	b.keys--
	if b.stored[ref] {
		delete(b.stored, ref)
		b.gone = append(b.gone, ref)
	}
}

// store stores what has changed.
func (b *strays) store(tx *db.Tx) error {
	if len(b.gone) > 0 {
		if err := tx.Do(`DELETE FROM untold WHERE account_id = $1 AND ref_id IN (SELECT value FROM json_each($2))`,
			b.account, db.JSON(b.gone)); err != nil {
			return err
		}
	}
	fresh := db.Rows{Table: "untold", Columns: saving}
	var before []row
	slices.Sort(b.changed)
	for _, ref := range slices.Compact(b.changed) {
		switch w := b.rows[ref]; {
		case w == nil: // an Ok came after it
		case b.stored[ref]:
			before = append(before, *w)
		default:
			fresh.Values = append(fresh.Values, w.values())
		}
	}
	if err := update(tx, before...); err != nil {
		return err
	}
	return tx.Insert(fresh)
}

// stray notifies the fallback of the events of an account that are due, in one message, or checks the results of earlier
// ones.
func (r *Service) stray(tx *db.Tx, account int64, now time.Time) error {
	rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM untold
		WHERE account_id = $1 AND incident_id = '' AND next_at > 0 AND next_at <= $2`, account, now.Unix())
	if err != nil {
		return err
	}
	results, err := notify.Results(tx, account, keys(rows))
	if err != nil {
		return err
	}
	var fresh, known []row
	for _, w := range rows {
		if w.key == "" {
			fresh = append(fresh, w)
			continue
		}
		if !w.settle(results[w.key], now) {
			w.key, w.attempt = "", w.attempt+1
			if w.attempt == 1 { // now the owner as well
				fresh = append(fresh, w)
				continue
			}
			w.state, w.next = unreached, now.Unix()+wait(w.attempt)
		}
		known = append(known, w)
	}
	if err := update(tx, known...); err != nil {
		return err
	}
	return r.sendStrays(tx, account, fresh, now)
}

// sendStrays notifies the fallback of events in one message. At most one message per minute is sent, however many events
// arrive.
func (r *Service) sendStrays(tx *db.Tx, account int64, rows []row, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	minute := now.Truncate(every)
	key := messageKey(now.Unix())
	if stored, err := notify.Stored(tx, account, key); err != nil {
		return err
	} else if stored {
		for n := range rows {
			rows[n].next = minute.Add(every).Unix()
		}
		return update(tx, rows...)
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
		n.Detail.Subject, n.Detail.Text, err = r.words(tx, rows)
		if err != nil {
			return err
		}
		if err := r.put(tx, to, key, sentence.New("no_channel_takes"), severity, n, now); err != nil {
			return err
		}
	}
	for n := range rows {
		rows[n].sent(to, key, now)
	}
	return update(tx, rows...)
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
			name = i.IntegrationName
			if !found {
				name = fmt.Sprintf("integration %d", w.integration)
			}
			names[w.integration] = name
		}
		times := ""
		if w.events > 1 {
			times = fmt.Sprintf(", %d times", w.events)
		}
		lines = append(lines, fmt.Sprintf("%s: %s, from %s%s (%s)", w.severity, event.Cut(render.OneLine(w.title), maxCut), name, times,
			event.Cut(render.OneLine(w.why.English()), maxCut)))
	}
	lines = append(lines, "Give the integration a channel, or its route a default.")
	return fmt.Sprintf("[%s] %s", rows[0].severity, what), strings.Join(lines, "\n"), nil
}

// Prune deletes events that are listed no longer.
func Prune(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM untold WHERE account_id = $1 AND ref_id IN (
		SELECT ref_id FROM untold WHERE account_id = $1 AND incident_id = '' AND last_at <= $2 LIMIT $3 + 0)`, account, now.Unix()-keep, batch)
	return n == batch, err
}
