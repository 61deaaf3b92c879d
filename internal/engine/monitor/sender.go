package monitor

import (
	"time"

	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// sender is the process that reports what it found: the server itself, or an edge.
type sender struct {
	group
	edge.Member       // of an edge
	seq         int64 // of its message; it grows in a run of its process
}

// late reports whether a later message of the sender about a watch was taken already: a duplicate that arrives late would begin
// what is over. A sender whose process was replaced is refused.
func (f *sender) late(tx *db.Tx, key evaluator.Key) (bool, error) {
	if f.group == nodes {
		return false, nil
	}
	if err := f.present(tx); err != nil {
		return false, err
	}
	seq, _, err := db.One(tx, db.Column[int64], `SELECT seq FROM edge_taken
		WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3 AND run = $4`, f.account, int64(key.Rule), int64(key.Datasource), f.Run)
	return seq > f.seq, err
}

// present reads the member, and returns an error unless the sender's process was the last to join as it.
func (f *sender) present(tx *db.Tx) error {
	m, found, err := edge.Find(tx, f.account, f.cluster, f.ID)
	switch {
	case err != nil:
		return err
	case !found:
		return fault.Missing("edge", f.ID)
	case m.Run != f.Run:
		return fault.New(fault.Replaced, "another process has joined as edge %s: two must not run with one directory", m.Name)
	}
	f.Member = m
	return nil
}

// taken notes the message of which changes of a watch are stored.
func (f *sender) taken(tx *db.Tx, key evaluator.Key, now time.Time) error {
	if f.group == nodes {
		return nil
	}
	return tx.Do(`INSERT INTO edge_taken (account_id, rule_id, datasource_id, run, seq, taken_at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, rule_id, datasource_id) DO UPDATE SET run = excluded.run, seq = excluded.seq, taken_at = excluded.taken_at`,
		f.account, int64(key.Rule), int64(key.Datasource), f.Run, f.seq, now.UnixMilli())
}

// identity identifies a transition in the history of its watch.
type identity struct {
	check, key, to string
	at             int64
}

func (c *change) identity() identity { return identity{c.Check, c.Key, string(c.To), c.At.UnixMilli()} }

// pastOf returns the transitions of a watch that are stored since the first that is history alone: the sender repeats
// them when it has no reply.
func pastOf(tx *db.Tx, changes []change) (map[identity]bool, error) {
	first := time.Time{}
	for _, c := range changes {
		if c.past && (first.IsZero() || c.At.Before(first)) {
			first = c.At
		}
	}
	if first.IsZero() {
		return nil, nil
	}
	stored, key := map[identity]bool{}, changes[0].Watch.Key
	_, err := db.All(tx, func(scan db.Scan) (one identity, err error) {
		err = scan(&one.check, &one.key, &one.to, &one.at)
		stored[one] = true
		return one, err
	}, `SELECT check_name, instance_key, change, at FROM rule_transition
		WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3 AND transition_id >= $4`,
		key.Account, int64(key.Rule), int64(key.Datasource), id.After(first.Add(-time.Second)))
	return stored, err
}
