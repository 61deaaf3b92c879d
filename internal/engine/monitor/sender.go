package monitor

import (
	"slices"
	"time"

	"tocsin/internal/core/evaluate"
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

// step is a transition of an instance in the history of its watch.
type step struct {
	at       int64  // Unix milliseconds
	from, to string // severities; empty: it is not open
}

// timelines are the steps that are stored of the instances of a watch, by check and key, in the order of their moments.
type timelines map[string][]step

// timelinesOf returns what is stored since the first of changes that is history alone.
func timelinesOf(tx *db.Tx, changes []change) (timelines, error) {
	first := time.Time{}
	for _, c := range changes {
		if c.past && (first.IsZero() || c.At.Before(first)) {
			first = c.At
		}
	}
	if first.IsZero() {
		return nil, nil
	}
	all, key := timelines{}, changes[0].Watch.Key
	_, err := db.All(tx, func(scan db.Scan) (s step, err error) {
		var check, instance string
		var to evaluate.To
		err = scan(&check, &instance, &to, &s.at, &s.from, &s.to)
		if to.Ends() {
			s.to = ""
		}
		all[check+"/"+instance] = append(all[check+"/"+instance], s)
		return s, err
	}, `SELECT check_name, instance_key, change, at, from_severity, severity FROM rule_transition
		WHERE account_id = $1 AND rule_id = $2 AND datasource_id = $3 AND transition_id >= $4 ORDER BY at, transition_id`,
		key.Account, int64(key.Rule), int64(key.Datasource), id.After(first.Add(-time.Second)))
	return all, err
}

// add adds a transition that is history alone. It reports false for one that changed nothing at its moment: it is stored already, or
// its sender has gone on with an older journal and found once more what it had sent. level is the severity of the instance now.
func (all timelines) add(c *change, level string) bool {
	name, one := c.Check+"/"+c.Key, step{at: c.At.UnixMilli(), to: c.Severity}
	if c.To.Ends() {
		one.to = ""
	}
	steps := all[name]
	n := len(steps)
	for n > 0 && steps[n-1].at > one.at {
		n--
	}
	switch {
	case n > 0:
		level = steps[n-1].to
	case len(steps) > 0:
		level = steps[0].from
	}
	if level == one.to || (c.To == evaluate.Begin) != (level == "") {
		return false
	}
	one.from = level
	all[name] = slices.Insert(steps, n, one)
	return true
}
