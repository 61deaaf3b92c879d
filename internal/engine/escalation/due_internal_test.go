package escalation

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// Steps of Critical incidents come first, and leave half of a batch to the others. A step that waits for other events of a
// request is not due before two seconds have passed.
func TestStepsOfCriticalIncidentsComeFirst(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	insert := func(n int, severity string, started, request int64) {
		s.Exec(`INSERT INTO incident (account_id, incident_id, title, channel_id, progress) VALUES ($1, $2, '', 0, 'Triggered')`, apitest.AccountA, fmt.Sprint(n))
		s.Exec(`INSERT INTO escalation (account_id, incident_id, run, rule_id, rule_name, rule, timing, started_at, done, next_at, ended, severity, request)
			VALUES ($1, $2, 1, '', '', '', '{}', $3, 0, $3, '', $4, $5)`, apitest.AccountA, fmt.Sprint(n), started, severity, request)
	}
	const now = 1776052800
	for n := range 30 {
		insert(n, "Info", now-10, 0)
	}
	for n := 30; n < 38; n++ {
		insert(n, "Critical", now, 0)
	}
	insert(38, "Critical", now-1, 7)
	insert(39, "Critical", now-2, 7)
	insert(40, "Critical", now-1, -8)
	due := func(n int) (critical, others int) {
		t.Helper()
		s.Read(func(tx *db.Tx) error {
			all, err := dueSteps(tx, apitest.AccountA, now, n)
			for _, p := range all {
				if p.severity == "Critical" {
					critical++
				} else {
					others++
				}
				if p.incident == "38" {
					t.Error("it does not wait for the events of its request")
				}
			}
			return err
		})
		return critical, others
	}
	for n, want := range map[int][2]int{8: {4, 4}, 20: {10, 10}, 24: {10, 14}, 100: {10, 30}} {
		if critical, others := due(n); critical != want[0] || others != want[1] {
			t.Errorf("of %d: %d Critical and %d others, want %v", n, critical, others, want)
		}
	}
	s.Write(func(tx *db.Tx) error { return Gathered(tx, apitest.AccountA, []int64{8}) })
	s.Read(func(tx *db.Tx) error {
		for id, want := range map[string]bool{"38": true, "40": false, "1": false} {
			if partial, err := Partial(tx, apitest.AccountA, id, now); err != nil || partial != want {
				t.Errorf("%s: %v %v", id, partial, err)
			}
		}
		return nil
	})
}
