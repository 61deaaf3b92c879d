package monitor

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
)

// instance is what a rule has found and is open.
type instance struct {
	key         evaluator.Key
	check, hash string // hash is the key of its labels
	severity    string
	since       int64 // Unix milliseconds
	alertKey    string
	channels    []int64 // empty: the route of the integration decides
	epoch       int64
	repeated    int64 // of the last event, Unix milliseconds
	instanceBody
	closeAt int64 // Unix seconds; 0: it is open
	closing string
}

// instanceBody is the part of an instance that no query looks for.
type instanceBody struct {
	Query  string            `json:"query"`
	Rule   string            `json:"rule"`
	Labels map[string]string `json:"labels"`
	Event  map[string]string `json:"event_labels"` // of its events
	Title  string            `json:"title"`
	Value  *float64          `json:"value,omitzero"`
	// Unrouted is set if the rule names channels: without channels the instance has no alert then.
	Unrouted bool `json:"unrouted,omitzero"`
}

const instanceColumns = `account_id, rule_id, datasource_id, check_name, instance_key, severity, since, alert_key, channels, epoch,
	repeated_at, body, close_at, closing`

func scanInstance(scan db.Scan) (i instance, err error) {
	var rule, source int64
	var channels, body string
	err = scan(&i.key.Account, &rule, &source, &i.check, &i.hash, &i.severity, &i.since, &i.alertKey, &channels, &i.epoch,
		&i.repeated, &body, &i.closeAt, &i.closing)
	if err != nil {
		return i, err
	}
	i.key.Rule, i.key.Datasource = uint64(rule), uint64(source)
	_ = json.Unmarshal([]byte(channels), &i.channels) // the channels of a corrupt row are those of the rule's route
	_ = json.Unmarshal([]byte(body), &i.instanceBody) // it can end all the same
	return i, nil
}

func (i *instance) save(tx *db.Tx) error {
	channels, err := json.Marshal(i.channels)
	if err != nil {
		return err
	}
	body, err := json.Marshal(i.instanceBody, json.Deterministic(true))
	if err != nil {
		return err
	}
	return tx.Do(`INSERT INTO rule_instance (`+instanceColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 0, '')
		ON CONFLICT (account_id, rule_id, datasource_id, check_name, instance_key) DO UPDATE SET severity = excluded.severity,
			channels = excluded.channels, epoch = excluded.epoch, repeated_at = excluded.repeated_at,
			body = excluded.body, close_at = 0, closing = ''`,
		i.key.Account, int64(i.key.Rule), int64(i.key.Datasource), i.check, i.hash, i.severity, i.since, i.alertKey, string(channels), i.epoch,
		i.repeated, string(body))
}

func (i *instance) remove(tx *db.Tx) error {
	return tx.Do(`DELETE FROM rule_instance WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3 AND check_name = $4
		AND instance_key = $5`,
		i.key.Account, int64(i.key.Rule), int64(i.key.Datasource), i.check, i.hash)
}

// instancesOf returns the open instances of a watch.
func instancesOf(tx *db.Tx, key evaluator.Key) ([]instance, error) {
	return db.All(tx, scanInstance, `SELECT `+instanceColumns+` FROM rule_instance
		WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3`, key.Account, int64(key.Rule), int64(key.Datasource))
}

// standingOf returns the open instances of a watch without their bodies. A large evaluation is stored in many transactions, each of
// which reads all.
func standingOf(tx *db.Tx, key evaluator.Key) ([]instance, error) {
	return db.All(tx, func(scan db.Scan) (i instance, err error) {
		var channels string
		err = scan(&i.check, &i.hash, &i.severity, &channels, &i.closeAt, &i.closing)
		if err != nil {
			return i, err
		}
		_ = json.Unmarshal([]byte(channels), &i.channels) // as of scanInstance
		return i, nil
	}, `SELECT check_name, instance_key, severity, channels, close_at, closing FROM rule_instance
		WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3`, key.Account, int64(key.Rule), int64(key.Datasource))
}

// openWatches returns the watches of an account with open instances that are not being closed, those that are not known, and
// those with counters.
func openWatches(tx *db.Tx, account int64) ([]evaluator.Key, error) {
	return db.All(tx, func(scan db.Scan) (evaluator.Key, error) {
		var rule, source int64
		err := scan(&rule, &source)
		return evaluator.Key{Account: account, Rule: uint64(rule), Datasource: uint64(source)}, err
	}, `SELECT rule_id, datasource_id FROM rule_instance WHERE account_id = $1 AND (close_at = 0 OR closing LIKE '{"code":"mon_channel_%')
		UNION SELECT rule_id, datasource_id FROM rule_watch WHERE account_id = $1
		UNION SELECT rule_id, datasource_id FROM watch_state WHERE account_id = $1`, account)
}

// State returns the counters and the open instances of watches, for the process that takes them over. It reads them in a write
// transaction of the account: what another process stores under an earlier epoch is stored before, or refused.
func (r *Service) State(ctx context.Context, account int64, keys []evaluator.Key) (map[evaluator.Key]evaluator.Saved, error) {
	wanted := make(map[evaluator.Key]bool, len(keys))
	for _, key := range keys {
		wanted[key] = true
	}
	saved := map[evaluator.Key]evaluator.Saved{}
	err := r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		clear(saved)
		_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
			var rule, source int64
			var text string
			err := scan(&rule, &source, &text)
			if key := (evaluator.Key{Account: account, Rule: uint64(rule), Datasource: uint64(source)}); wanted[key] {
				saved[key] = evaluator.Saved{Key: key, State: evaluate.State(text)}
			}
			return struct{}{}, err
		}, `SELECT rule_id, datasource_id, state FROM watch_state WHERE account_id = $1`, account)
		if err != nil {
			return err
		}
		open, err := db.All(tx, scanInstance, `SELECT `+instanceColumns+` FROM rule_instance WHERE account_id = $1
			AND (close_at = 0 OR closing LIKE '{"code":"mon_channel_%')`, account)
		for _, i := range open {
			if !wanted[i.key] {
				continue
			}
			one := saved[i.key]
			one.Key = i.key // without counters it has no row yet
			one.Open = append(one.Open, i.evaluated())
			saved[i.key] = one
		}
		return err
	})
	return saved, err
}

// evaluated returns the instance as its watch has it.
func (i *instance) evaluated() evaluate.Instance {
	return evaluate.Instance{
		Check: i.check, Query: i.Query, Key: i.hash, Labels: i.Labels, Firing: true, Severity: i.severity, Since: time.UnixMilli(i.since),
		Value: i.Value,
	}
}

// Save stores counters. Those of a slot with another owner are left out.
func (r *Service) Save(ctx context.Context, account int64, states []evaluator.Saved) error {
	return r.keep(ctx, &sender{group: nodes}, account, states)
}

// keep is Save of the server itself, or of an edge.
func (r *Service) keep(ctx context.Context, from *sender, account int64, states []evaluator.Saved) error {
	now := r.Clock.Now().UnixMilli()
	return r.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		type claimed struct{ slot, epoch int64 }
		own := map[claimed]bool{}
		for _, s := range states {
			slot := claimed{s.Slot, s.Epoch}
			if _, read := own[slot]; !read {
				has, err := from.has(tx, s.Slot, s.Epoch)
				if err != nil {
					return err
				}
				own[slot] = has
			}
			if !own[slot] {
				continue
			}
			if from.group != nodes {
				if err := evaluated(tx, s.Key, from.cluster); errors.Is(err, errGone) {
					continue
				} else if err != nil {
					return err
				}
			}
			if err := saveState(tx, s.Key, s.State, now); err != nil {
				return err
			}
		}
		return nil
	})
}

func saveState(tx *db.Tx, key evaluator.Key, state evaluate.State, now int64) error {
	if state == "" {
		return tx.Do(`DELETE FROM watch_state WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3`,
			key.Account, int64(key.Rule), int64(key.Datasource))
	}
	return tx.Do(`INSERT INTO watch_state (account_id, rule_id, datasource_id, saved_at, state) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account_id, rule_id, datasource_id) DO UPDATE SET saved_at = excluded.saved_at, state = excluded.state`,
		key.Account, int64(key.Rule), int64(key.Datasource), now, string(state))
}
