package escalation

import (
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
)

// kind is a kind of work: the steps of escalations, or the messages of follow-ups.
type kind struct {
	due      func(tx *db.Tx, account, now int64, n int) ([]prepared, error) // the first n of the rows that are due
	open     string                                                         // selects which of some rows are still due
	advance  func(r *Service, tx *db.Tx, p *prepared, now time.Time) error
	postpone func(r *Service, tx *db.Tx, p *prepared, failed error, now time.Time) error
}

var (
	steps     = kind{dueSteps, stepsOpen, (*Service).advance, (*Service).postpone}
	followUps = kind{dueFollowUps, followUpsOpen, (*Service).advanceFollowUp, (*Service).postponeFollowUp}
)

// batchSize returns the most rows that one transaction advances.
func (r *Service) batchSize() int { return r.DB.BatchSize(100) }

// work returns the batches of a kind. When one row fails, it changes nothing, does not affect the others, and is retried later.
func (r *Service) work(k kind) *jobs.Batch[prepared] {
	return &jobs.Batch[prepared]{
		DB: r.DB, Steady: true, Prepare: r.prepare, Still: k.stillDue,
		Due: func(tx *db.Tx, t *jobs.Round) ([]prepared, error) { return r.readDue(tx, t, k) },
		Do:  func(tx *db.Tx, t *jobs.Round, due []prepared) error { return r.advanceAll(tx, t, k, due) },
		Postpone: func(tx *db.Tx, t *jobs.Round, p prepared, failed error) error {
			tx.SetValue(batchKey{}, nil) // it has what was not stored
			return k.postpone(r, tx, &p, failed, t.Now)
		},
	}
}

// rowKey identifies a row of an account.
type rowKey struct {
	incident string
	number   int64 // 0: a follow-up
}

func (p *prepared) key() rowKey { return rowKey{p.incident, p.number} }

// stillDue returns those of the rows that are due now: another process may have advanced the others meanwhile, and reading
// all that belongs to them again would take most of the time.
func (k kind) stillDue(tx *db.Tx, t *jobs.Round, due []prepared) (still []prepared, err error) {
	ids := make([]string, len(due))
	for i := range due {
		ids[i] = due[i].incident
	}
	open := map[rowKey]bool{}
	_, err = db.All(tx, func(scan db.Scan) (key rowKey, err error) {
		err = scan(&key.incident, &key.number)
		open[key] = true
		return key, err
	}, k.open, t.Account, t.Now.Unix(), db.JSON(ids))
	if err != nil || len(open) == 0 {
		return nil, err
	}
	revision, err := configstore.Revision(tx, t.Account)
	if err != nil {
		return nil, err
	}
	configstore.Assume(tx, t.Account, revision)
	for _, p := range due {
		if open[p.key()] {
			p.same = p.revision == revision
			still = append(still, p)
		}
	}
	return still, nil
}

const (
	stepsOpen = `SELECT incident_id, run FROM escalation
		WHERE account_id = $1 AND next_at > 0 AND next_at <= $2 AND incident_id IN (SELECT value FROM json_each($3))
			AND (request <= 0 OR started_at <= $2 - 2)`

	followUpsOpen = `SELECT incident_id, 0 FROM follow_up
		WHERE account_id = $1 AND next_at > 0 AND next_at <= $2 AND incident_id IN (SELECT value FROM json_each($3))`
)

// advanceAll advances those of the rows that hold. The others stay due.
func (r *Service) advanceAll(tx *db.Tx, t *jobs.Round, k kind, due []prepared) error {
	ready := slices.DeleteFunc(slices.Clone(due), func(p prepared) bool { return !p.holds(t.Now) })
	if len(ready) == 0 {
		return nil
	}
	if err := beginWrite(tx, ready); err != nil {
		return err
	}
	for i := range ready {
		if err := k.advance(r, tx, &ready[i], t.Now); err != nil {
			return err
		}
	}
	return deleteUnruled(tx, t.Account)
}

// batch holds what a transaction reads at its beginning about all incidents that it works on.
type batch struct {
	incidents *incident.Batch
	alerts    map[string]alert.Count // of those that silence rules may be matched for
	runs      map[string][]stored    // those that go on, and the last one; nil: not read
	followUps map[string]followUp
	unruled   []string // incidents that no rule matches
}

// batchKey is the key of the batch among the values of its transaction.
type batchKey struct{}

// batchOf returns the batch of a transaction; an empty one if it has none.
func batchOf(tx *db.Tx) *batch {
	if b, ok := tx.Value(batchKey{}).(*batch); ok {
		return b
	}
	return &batch{}
}

// beginRead reads the incidents of rows.
func beginRead(tx *db.Tx, due []prepared) (ids []string, err error) {
	tx.SetValue(batchKey{}, nil)
	b, account := &batch{}, due[0].account
	for i := range due {
		ids = append(ids, due[i].incident)
	}
	b.incidents, err = incident.NewBatch(tx, account, ids, nil)
	if err != nil {
		return nil, err
	}
	tx.SetValue(batchKey{}, b)
	return ids, nil
}

// count counts the alerts of the incidents of some rows. There may be thousands of an incident: those that no rule matches,
// as all of a channel without rules, are not counted.
func count(tx *db.Tx, due []prepared, of func(*prepared) bool) (map[string]alert.Count, error) {
	var ids []string
	for i := range due {
		if of(&due[i]) {
			ids = append(ids, due[i].incident)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return alert.CountsOf(tx, due[0].account, ids)
}

// beginWrite reads all that advancing rows reads of each: also their escalations and follow-ups, what was notified, and
// the last entries of their feeds.
func beginWrite(tx *db.Tx, due []prepared) error {
	ids, err := beginRead(tx, due)
	if err != nil {
		return err
	}
	b := batchOf(tx)
	account := due[0].account
	list := db.JSON(ids)
	b.alerts, err = count(tx, due, func(p *prepared) bool { return p.asked })
	if err != nil {
		return err
	}
	all, err := db.All(tx, scanStored, `SELECT `+columns+` FROM escalation
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2)) AND (next_at > 0 OR NOT EXISTS (
			SELECT 1 FROM escalation AS later WHERE later.account_id = escalation.account_id
				AND later.incident_id = escalation.incident_id AND later.run > escalation.run))
		ORDER BY incident_id, run`, account, list)
	if err != nil {
		return err
	}
	follows, err := db.All(tx, scanFollowUp, `SELECT `+followColumns+` FROM follow_up
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2))`, account, list)
	if err != nil {
		return err
	}
	b.runs, b.followUps = map[string][]stored{}, map[string]followUp{}
	for _, id := range ids {
		b.runs[id] = nil
	}
	for _, s := range all {
		b.runs[s.incident] = append(b.runs[s.incident], s)
	}
	for _, f := range follows {
		b.followUps[f.incident] = f
	}
	if err := notify.Begin(tx, account, ids); err != nil {
		return err
	}
	return activity.Begin(tx, account, ids)
}

// deleteUnruled deletes the escalations that wait for a rule and get none. Escalations of unfinished requests end instead.
// The message to the fallback then states that its number of alerts is not the last (see Partial).
func deleteUnruled(tx *db.Tx, account int64) error {
	b := batchOf(tx)
	if len(b.unruled) == 0 {
		return nil
	}
	if err := tx.Do(`UPDATE escalation SET next_at = 0, ended = 'unruled' WHERE account_id = $1 AND next_at > 0 AND request <> 0
		AND incident_id IN (SELECT value FROM json_each($2))`, account, db.JSON(b.unruled)); err != nil {
		return err
	}
	return tx.Do(`DELETE FROM escalation WHERE account_id = $1 AND next_at > 0 AND incident_id IN (SELECT value FROM json_each($2))`,
		account, db.JSON(b.unruled))
}

// find returns an incident, by way of the batch if the transaction has one.
func find(tx *db.Tx, account int64, id string) (i incident.Incident, found bool, err error) {
	i, err = incident.Writer{Tx: tx, Account: account, Batch: batchOf(tx).incidents}.Get(id)
	if fault.KindOf(err) == fault.NotFound {
		return i, false, nil
	}
	return i, err == nil, err
}

// publish publishes an event about an incident.
func (r *Service) publish(tx *db.Tx, i *incident.Incident, now time.Time, e activity.Event) error {
	return r.Bus.Publish(tx, activity.Item{Account: i.AccountID, ID: i.IncidentID, Channel: i.ChannelID, At: now, Event: e, Subject: *i})
}
