package audit

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/redact"
)

// piece is how many entries are read at once, and grace for how long an account is looked at: nodes of the version that
// stored secrets in clear may run beside this one while a cluster is upgraded.
const (
	piece = 500
	grace = 24 * time.Hour
)

// Masking hides the secrets that an earlier version stored in clear, by the present shapes of the requests. It works in
// pieces, and a stopped process goes on where it was.
type Masking struct {
	DB     *db.DB
	Shapes func() map[string]*redact.Shape // of the requests with secrets, by the names of operations
}

// Job returns the job. It has nothing to do once all accounts are done.
func (m Masking) Job() jobs.Job {
	return jobs.Job{Name: "secrets of the audit log", Interval: 10 * time.Minute, Run: m.run}
}

// masking is how far the log of an account is done.
type masking struct {
	account int64
	done    string
	endsAt  int64
}

func (m Masking) run(ctx context.Context, now time.Time) (again time.Time, err error) {
	var left []masking
	if err := m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		left, err = db.All(tx, func(scan db.Scan) (a masking, err error) { return a, scan(&a.account, &a.done, &a.endsAt) },
			`SELECT account_id, done_id, ends_at FROM audit_masking ORDER BY account_id`)
		return err
	}); err != nil {
		return again, err
	}
	for _, a := range left {
		more, err := m.piece(ctx, a, now)
		if err != nil {
			return again, err
		}
		if more {
			again = now
		}
	}
	return again, nil
}

// logEntry is an entry of which the body may hold a secret, or the empty body of another entry.
type logEntry struct{ id, operation, body string }

// piece does the next entries of an account, and reports whether others are left. The bodies are read and rewritten outside
// of the write transaction, for which others wait.
func (m Masking) piece(ctx context.Context, a masking, now time.Time) (more bool, err error) {
	shapes := m.Shapes()
	names := make([]string, 0, len(shapes))
	for name := range shapes {
		names = append(names, name)
	}
	var entries []logEntry
	if err := m.DB.Read(ctx, func(tx *db.Tx) (err error) {
		entries, err = db.All(tx, func(scan db.Scan) (e logEntry, err error) { return e, scan(&e.id, &e.operation, &e.body) },
			nextEntries, a.account, a.done, db.JSON(names), piece)
		return err
	}); err != nil {
		return false, err
	}
	next := a
	var changed []logEntry
	for _, e := range entries {
		next.done = e.id
		if e.body == "" {
			continue
		}
		if hidden := redact.Again(e.body, shapes[e.operation]); hidden != e.body {
			changed = append(changed, logEntry{id: e.id, body: hidden})
		}
	}
	more = len(entries) == piece
	if !more && a.endsAt == 0 {
		next.endsAt = now.Add(grace).Unix()
	}
	if next == a && (a.endsAt == 0 || now.Unix() < a.endsAt) {
		return false, nil
	}
	return more, m.DB.WriteOf(ctx, a.account, func(tx *db.Tx) error {
		return store(tx, next, changed, !more && a.endsAt != 0 && now.Unix() >= a.endsAt)
	})
}

// nextEntries names every entry, so that a piece is bounded however few of them may hold a secret.
const nextEntries = `SELECT audit_id, operation, CASE WHEN operation IN (SELECT value FROM json_each($3)) THEN body ELSE '' END
	FROM audit_log WHERE account_id = $1 AND audit_id > $2 ORDER BY audit_id LIMIT $4 + 0`

// store stores the changed bodies and how far the account is done; over deletes it from the accounts that are left.
func store(tx *db.Tx, a masking, changed []logEntry, over bool) error {
	for _, e := range changed {
		if err := tx.Do(`UPDATE audit_log SET body = $3 WHERE account_id = $1 AND audit_id = $2`, a.account, e.id, e.body); err != nil {
			return err
		}
	}
	if over {
		return tx.Do(`DELETE FROM audit_masking WHERE account_id = $1`, a.account)
	}
	return tx.Do(`UPDATE audit_masking SET done_id = $2, ends_at = $3 WHERE account_id = $1`, a.account, a.done, a.endsAt)
}
