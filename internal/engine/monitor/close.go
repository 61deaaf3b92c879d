package monitor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// First makes the integration of alert rules, before the account's first rule is stored.
func (r *Service) First(tx *db.Tx, account, by int64, now time.Time) error {
	tx.OnCommit(r.evaluator.Changed)
	return integration.EnsureMonitors(tx, r.Keyring, account, by, now)
}

// RuleChanged closes what a rule has open that was disabled or deleted, in the transaction that did it.
func (r *Service) RuleChanged(tx *db.Tx, account int64, rule *alertrule.Rule, action string, by int64, now time.Time) error {
	tx.OnCommit(r.evaluator.Changed)
	if action != "delete" && rule.On() {
		return nil
	}
	who, err := nameOf(tx, account, by)
	if err != nil {
		return err
	}
	why := sentence.New("mon_rule_disabled", who)
	if action == "delete" {
		why = sentence.New("mon_rule_deleted", who)
	}
	if err := tx.Do(`DELETE FROM watch_state WHERE account_id = $1 AND rule_id = $2`, account, int64(rule.ID)); err != nil {
		return err
	}
	if err := r.endUnknown(tx, account, func(key evaluator.Key) bool { return key.Rule == rule.ID }, r.Own.End, now); err != nil {
		return err
	}
	return r.closeWhere(tx, account, int64(rule.ID), 0, why, now)
}

// SourceChanged closes what rules have open on a datasource that was disabled or deleted, in the transaction that did it.
func (r *Service) SourceChanged(tx *db.Tx, account int64, d *datasource.Item, deleted bool, by int64, now time.Time) error {
	tx.OnCommit(r.evaluator.Changed)
	if !deleted && d.Enabled {
		return nil
	}
	who, err := nameOf(tx, account, by)
	if err != nil {
		return err
	}
	why := sentence.New("mon_source_disabled", d.Name, who)
	if deleted {
		why = sentence.New("mon_source_deleted", d.Name, who)
	}
	if err := tx.Do(`DELETE FROM watch_state WHERE account_id = $1 AND datasource_id = $2`, account, int64(d.ID)); err != nil {
		return err
	}
	if err := r.endUnknown(tx, account, func(key evaluator.Key) bool { return key.Datasource == d.ID }, r.Own.End, now); err != nil {
		return err
	}
	return r.closeWhere(tx, account, 0, int64(d.ID), why, now)
}

// nameOf returns the name of a person, for reasons.
func nameOf(tx *db.Tx, account, id int64) (string, error) {
	p, found, err := person.Find(tx, account, id)
	if err != nil || !found {
		return fmt.Sprintf("person %d", id), err
	}
	return p.PersonName, nil
}

// closeWhere marks the open instances of a rule, of a datasource, or of a watch, to be closed; 0: any.
func (r *Service) closeWhere(tx *db.Tx, account, rule, source int64, why sentence.Value, now time.Time) error {
	tx.OnCommit(func() { r.wake.RaiseFor(account) })
	return tx.Do(`UPDATE rule_instance SET close_at = $4, closing = $5
		WHERE account_id = $1 AND ($2 = 0 OR rule_id = $2) AND ($3 = 0 OR datasource_id = $3)
			AND (close_at = 0 OR closing LIKE '{"code":"mon_channel_%')`,
		account, rule, source, now.Unix(), string(why))
}

// closeOrphans closes what is open of watches that are no more, and ends the alerts that they are not known: the rule no longer
// matches the datasource.
func (r *Service) closeOrphans(ctx context.Context, account int64, open []evaluator.Key, watches []evaluator.Watch) error {
	there := make(map[evaluator.Key]bool, len(watches))
	for i := range watches {
		key := watches[i].Key
		there[key] = true
		key.Rule = 0 // the datasource itself
		there[key] = true
	}
	for _, key := range open {
		if there[key] {
			continue
		}
		err := r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
			if key.Rule != 0 {
				if err := evaluated(tx, key, ""); !errors.Is(err, errGone) { // nil: it was enabled meanwhile
					return err
				}
			}
			now := r.Clock.Now()
			if err := r.endUnknown(tx, account, func(one evaluator.Key) bool { return one == key }, r.Own.End, now); err != nil || key.Rule == 0 {
				return err
			}
			if err := saveState(tx, key, "", 0); err != nil {
				return err
			}
			return r.closeWhere(tx, account, int64(key.Rule), int64(key.Datasource), sentence.New("mon_not_matched"), now)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// closing is an instance that is to be closed.
type closing struct {
	instance
	events []event.Event
	bodies []string
	record string // empty: it stays open in other channels
}

// closings returns the work of closing instances.
func (r *Service) closings() *jobs.Batch[closing] {
	return &jobs.Batch[closing]{
		DB: r.DB, Due: dueClosings, Prepare: r.prepareClosings, Still: stillClosing, Do: r.close, Postpone: r.postponeClosing,
	}
}

// closeJob returns the job that closes instances.
func (r *Service) closeJob() jobs.Job {
	run := r.closes.Rounds(r.DB, closingAccounts, r.closings().Round)
	return jobs.Job{Name: "close alerts of rules", Interval: 5 * time.Second, Run: run, Wait: r.closes.Wait, Signal: r.wake}
}

var closingAccounts = db.Ahead(`FROM rule_instance WHERE close_at > 0`) + `
	SELECT account_id, (SELECT coalesce(min(close_at), 0) FROM rule_instance WHERE account_id = ahead.account_id AND close_at > 0)
	FROM ahead WHERE account_id IS NOT NULL`

func dueClosings(tx *db.Tx, t *jobs.Round) (rows []closing, err error) {
	rows, err = db.All(tx, func(scan db.Scan) (c closing, err error) {
		c.instance, err = scanInstance(scan)
		return c, err
	}, `SELECT `+instanceColumns+` FROM rule_instance WHERE account_id = $1 AND close_at > 0 AND close_at <= $2
		ORDER BY close_at LIMIT $3 + 0`, t.Account, t.Now.Unix(), putAtOnce)
	t.More, t.Full = len(rows) == putAtOnce, len(rows) == putAtOnce
	return rows, err
}

func (r *Service) prepareClosings(t *jobs.Round, rows []closing) ([]closing, error) {
	arrived := t.Now.UnixNano()
	err := r.DB.Read(db.For(context.Background(), t.Account), func(tx *db.Tx) error {
		monitors, err := integration.MonitorsOf(tx, t.Account)
		if err != nil {
			return err
		}
		for n := range rows {
			c := &rows[n]
			if err := c.write(tx, monitors, t.Now); err != nil {
				return err
			}
			for i := range c.events {
				c.events[i].Received = arrived
				arrived++
				body, err := c.events[i].AppendJSON(nil)
				if err != nil {
					return err
				}
				c.bodies = append(c.bodies, string(body))
			}
		}
		return nil
	})
	return rows, err
}

// write writes the events and the transition of an instance that is closed, or the events of one whose channels change.
func (c *closing) write(tx *db.Tx, monitors int64, now time.Time) error {
	why := sentence.Value(c.instance.closing)
	if c.marked() {
		return c.move(tx, why, monitors, now)
	}
	one := c.event(now, why.English()+".", monitors)
	one.Status = event.Ok
	one.ByHand = true
	if !c.Unrouted || len(c.channels) > 0 {
		c.events = toChannels(one, c.channels, now)
	}
	stored := record{Labels: c.Labels, Why: []sentence.Value{why}, AsOf: now.UnixMilli(), Value: c.Value}
	text, err := json.Marshal(stored, json.Deterministic(true))
	c.record = string(text)
	return err
}

func stillClosing(tx *db.Tx, t *jobs.Round, rows []closing) (left []closing, err error) {
	for _, c := range rows {
		_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM rule_instance WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3
			AND check_name = $4 AND instance_key = $5 AND close_at > 0 AND close_at <= $6 AND closing = $7`,
			t.Account, int64(c.key.Rule), int64(c.key.Datasource), c.check, c.hash, t.Now.Unix(), c.instance.closing)
		if err != nil {
			return nil, err
		}
		if found {
			left = append(left, c)
		}
	}
	return left, nil
}

func (r *Service) close(tx *db.Tx, t *jobs.Round, rows []closing) error {
	var events []event.Event
	var bodies []string
	stored := db.Rows{Table: "rule_transition", Columns: db.Columns(transitionColumns)}
	for n := range rows {
		c := &rows[n]
		events, bodies = append(events, c.events...), append(bodies, c.bodies...)
		if c.record == "" {
			if err := c.save(tx); err != nil {
				return err
			}
			continue
		}
		first := ""
		if len(c.events) > 0 {
			first = c.events[0].ID
		}
		stored.Values = append(stored.Values, c.transition(t.Now, t.Now, string(evaluate.Closed), c.severity, c.severity, first, c.record))
		if err := c.remove(tx); err != nil {
			return err
		}
	}
	if err := tx.Insert(stored); err != nil {
		return err
	}
	tx.OnCommit(r.Decide.Raise)
	return triage.Accept(tx, t.Account, events, bodies)
}

// retryClosing is how long after a failure an instance is closed again, in seconds.
const retryClosing = 60

func (r *Service) postponeClosing(tx *db.Tx, t *jobs.Round, c closing, cause error) error {
	r.Log.Error("an alert of a rule cannot be closed", "account_id", t.Account, "rule_id", c.key.Rule, "alert_key", c.alertKey, "error", cause)
	return tx.Do(`UPDATE rule_instance SET close_at = $6 WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3
		AND check_name = $4 AND instance_key = $5 AND close_at > 0`,
		t.Account, int64(c.key.Rule), int64(c.key.Datasource), c.check, c.hash, t.Now.Unix()+retryClosing)
}

// Overdue counts the instances that should have been closed.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "close alerts of rules", time.Second,
		`SELECT count(*), coalesce(min(close_at), 0) FROM rule_instance WHERE close_at > 0 AND close_at <= $1`, now.Unix())
}
