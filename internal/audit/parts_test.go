package audit

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// inWeeks opens a database with an account, and with an entry in each of ten weeks whose parts are made.
func inWeeks(t *testing.T) (d *db.DB, weeks []time.Time) {
	t.Helper()
	d, err := db.Open(t.Context(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	write(t, d, func(tx *db.Tx) error {
		return tx.Do(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'a', 'UTC', 1, 1)`)
	})
	monday := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 7)
	for monday.Weekday() != time.Monday {
		monday = monday.AddDate(0, 0, 1)
	}
	for n := range 10 {
		week := monday.AddDate(0, 0, 7*n)
		if _, err := d.Ahead(t.Context(), week, nil); err != nil {
			t.Fatal(err)
		}
		weeks = append(weeks, week)
		write(t, d, func(tx *db.Tx) error {
			return Record(tx, api.AuditEntry{At: week.Add(time.Hour), AccountID: 1, PersonID: 7, RequestID: "r", Operation: "o", Write: true,
				Touched: []fault.Ref{{Kind: "k", ID: "1"}, {Kind: "k", ID: "1"}, {Kind: "channel", ID: "3"}}, Channels: []int64{3, 2, 2}})
		})
	}
	return d, weeks
}

func write(t *testing.T, d *db.DB, fn func(*db.Tx) error) {
	t.Helper()
	if err := d.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

// TestSearchesLookIntoTheirWeeks: each kind of search of two weeks reads the parts of these.
func TestSearchesLookIntoTheirWeeks(t *testing.T) {
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	d, weeks := inWeeks(t)
	for name, f := range map[string]filter{
		"all": {}, "person": {person: 7}, "operation": {operations: []string{"o"}}, "request": {requestID: "r"}, "object": {resource: fault.Ref{Kind: "k", ID: "1"}},
	} {
		f.account = 1
		f.from = weeks[4].UnixMilli()
		f.to = weeks[6].Add(-time.Hour).UnixMilli()
		write(t, d, func(tx *db.Tx) error {
			if total, err := f.total(tx); err != nil || total != 2 {
				t.Errorf("%s: %d entries, want 2: %v", name, total, err)
			}
			if page, err := f.page(tx, position{CreatedAt: f.to}, 10); err != nil || len(page) != 2 {
				t.Errorf("%s: %d entries, want 2: %v", name, len(page), err)
			}
			along, args := f.source(f.kinds()[0], position{CreatedAt: f.to})
			for _, query := range []string{along.count, along.page} {
				values := args
				if query == along.page {
					values = append(slices.Clone(args), 10)
				}
				plan, err := db.All(tx, db.Column[string], "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+query, values...)
				if err != nil {
					return err
				}
				read := regexp.MustCompile(`audit_(log|touched)_(\d{8}|before|default)`).FindAllString(executed(plan), -1)
				slices.Sort(read)
				read = slices.Compact(read)
				if wanted := len(regexp.MustCompile("audit_log|audit_touched").FindAllString(strings.Split(query, " WHERE ")[0], -1)); len(read) != 2*wanted {
					t.Errorf("%s looks into %q:\n%s", name, read, strings.Join(plan, "\n"))
				}
			}
			return nil
		})
	}
}

// executed returns the lines of a plan that were run at least once.
func executed(plan []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(plan), func(line string) bool { return strings.Contains(line, "never executed") }), "\n")
}

// TestPruneDeletesAllOfEntry: what it touched and the channels that it was about too, and nothing of a younger one.
func TestPruneDeletesAllOfEntry(t *testing.T) {
	d, weeks := inWeeks(t)
	for left, more := 3, true; more; left = batch {
		write(t, d, func(tx *db.Tx) (err error) {
			more, err = prune(tx, weeks[4], int64(left))
			return err
		})
	}
	write(t, d, func(tx *db.Tx) error {
		for query, want := range map[string]int64{
			`SELECT count(*) FROM audit_log`: 6, `SELECT count(*) FROM audit_touched`: 12, `SELECT count(*) FROM audit_channel`: 12,
			`SELECT count(*) FROM audit_touched WHERE audit_id < $1`: 0, `SELECT count(*) FROM audit_channel WHERE audit_id < $1`: 0,
		} {
			args := []any{id.ULIDFrom(weeks[4])}
			if !strings.Contains(query, "$1") {
				args = nil
			}
			if n, _, err := db.One(tx, db.Column[int64], query, args...); err != nil || n != want {
				t.Errorf("%s: %d, want %d: %v", query, n, want, err)
			}
		}
		return nil
	})
}
